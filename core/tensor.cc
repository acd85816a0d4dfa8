#include "core/tensor.h"

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "core/check.h"

namespace wgrad {
namespace {

constexpr std::align_val_t kAlignment{64};

std::byte* AllocateZeroed(std::size_t bytes) {
  auto* pointer = static_cast<std::byte*>(::operator new(bytes == 0 ? 1 : bytes, kAlignment));
  std::memset(pointer, 0, bytes);
  return pointer;
}

// The value of every bit pattern of half or bfloat16: half a megabyte each, made on first use.
const std::vector<double>& SixteenBitValues(DType dtype) {
  const auto make = [](DType of) {
    std::vector<double> values(65536);
    for (std::size_t bits = 0; bits < values.size(); ++bits) values[bits] = DecodeBits(of, bits);
    return values;
  };
  if (dtype == DType::kFloat16) {
    static const std::vector<double> half = make(DType::kFloat16);
    return half;
  }
  static const std::vector<double> bfloat16 = make(DType::kBFloat16);
  return bfloat16;
}

}  // namespace

std::optional<std::int64_t> CheckedElementCount(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return std::nullopt;
  }
  if (count > std::numeric_limits<std::int64_t>::max() / 8) return std::nullopt;
  return count;
}

void Tensor::Free::operator()(std::byte* pointer) const { ::operator delete(pointer, kAlignment); }

Tensor::Tensor(DType dtype, std::vector<std::int64_t> shape) : dtype_(dtype), shape_(std::move(shape)) {
  const auto count = CheckedElementCount(shape_);
  WGRAD_CHECK(count.has_value(), "tensor shape must have extents >= 0 and a 63-bit size");
  count_ = *count;
  data_.reset(AllocateZeroed(byte_count()));
}

Tensor::Tensor(const Tensor& other) : dtype_(other.dtype_), shape_(other.shape_), count_(other.count_) {
  if (other.data_ == nullptr) return;
  data_.reset(AllocateZeroed(byte_count()));
  std::memcpy(data_.get(), other.data_.get(), byte_count());
}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this != &other) *this = Tensor(other);
  return *this;
}

void Tensor::CheckElementSize(std::size_t size) const {
  WGRAD_CHECK(size == SizeOf(dtype_), "values<T>() with a T of another size than the dtype");
}

std::uint64_t Tensor::bits(std::int64_t index) const {
  WGRAD_CHECK(index >= 0 && index < count_, "tensor index out of range");
  std::uint64_t bits = 0;
  const std::size_t size = SizeOf(dtype_);
  std::memcpy(&bits, data_.get() + static_cast<std::size_t>(index) * size, size);
  return bits;
}

void Tensor::set_bits(std::int64_t index, std::uint64_t bits) {
  WGRAD_CHECK(index >= 0 && index < count_, "tensor index out of range");
  const std::size_t size = SizeOf(dtype_);
  std::memcpy(data_.get() + static_cast<std::size_t>(index) * size, &bits, size);
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  std::vector<double> doubles(static_cast<std::size_t>(tensor.element_count()));
  if (tensor.dtype() == DType::kFloat32) {
    const auto values = tensor.values<float>();
    for (std::size_t i = 0; i < doubles.size(); ++i) doubles[i] = static_cast<double>(values[i]);
  } else if (tensor.dtype() == DType::kFloat64) {
    const auto values = tensor.values<double>();
    for (std::size_t i = 0; i < doubles.size(); ++i) doubles[i] = values[i];
  } else {
    const std::vector<double>& table = SixteenBitValues(tensor.dtype());
    const auto bits = tensor.values<std::uint16_t>();
    for (std::size_t i = 0; i < doubles.size(); ++i) doubles[i] = table[bits[i]];
  }
  return doubles;
}

}  // namespace wgrad
