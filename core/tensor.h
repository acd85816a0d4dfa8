// A dense row-major tensor with a dtype known at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/dtype.h"

namespace wgrad {

/// Product of `shape`, or nothing where an extent is negative or the product, taken from left to right, reaches 2^60
/// (its size in bytes would leave 63 bits).
std::optional<std::int64_t> CheckedElementCount(std::span<const std::int64_t> shape);

/// Owning, deep copy, cheap move. Data are 64-byte aligned.
class Tensor {
 public:
  Tensor() = default;
  /// All elements +0. Requires extents >= 0 whose CheckedElementCount exists.
  Tensor(DType dtype, std::vector<std::int64_t> shape);
  Tensor(const Tensor& other);
  Tensor& operator=(const Tensor& other);
  Tensor(Tensor&&) noexcept = default;
  Tensor& operator=(Tensor&&) noexcept = default;

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }
  std::int64_t element_count() const { return count_; }
  std::size_t byte_count() const { return static_cast<std::size_t>(count_) * SizeOf(dtype_); }

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  std::span<std::byte> bytes() { return {data_.get(), byte_count()}; }
  std::span<const std::byte> bytes() const { return {data_.get(), byte_count()}; }

  /// The elements as T, which must have the dtype's size: float, double, Float16, BFloat16, or uint16/32/64.
  template <typename T>
  std::span<T> values() {
    CheckElementSize(sizeof(T));
    return {reinterpret_cast<T*>(data_.get()), static_cast<std::size_t>(count_)};
  }
  template <typename T>
  std::span<const T> values() const {
    CheckElementSize(sizeof(T));
    return {reinterpret_cast<const T*>(data_.get()), static_cast<std::size_t>(count_)};
  }

  std::uint64_t bits(std::int64_t index) const;
  void set_bits(std::int64_t index, std::uint64_t bits);
  double value(std::int64_t index) const { return DecodeBits(dtype_, bits(index)); }
  /// Stores the nearest value of the dtype.
  void set_value(std::int64_t index, double value) { set_bits(index, EncodeNearest(dtype_, value)); }

 private:
  struct Free {
    void operator()(std::byte* pointer) const;
  };
  void CheckElementSize(std::size_t size) const;

  DType dtype_ = DType::kFloat32;
  std::vector<std::int64_t> shape_;
  std::int64_t count_ = 0;
  std::unique_ptr<std::byte[], Free> data_;
};

/// All elements of `tensor` as doubles (exact).
std::vector<double> ToDoubles(const Tensor& tensor);

}  // namespace wgrad
