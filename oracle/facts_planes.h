// Planes: one tensor as a contiguous row of doubles per channel, with what exact summation needs to know of each row.
// Every value of every dtype is a double; non-finite values become 0 and are remembered apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/problem.h"
#include "core/tensor.h"
#include "oracle/facts.h"

namespace wgrad::oracle {

/// Bits that classify a stored value; 0 is a positive finite normal number.
enum ValueKind : std::uint8_t {
  kKindZero = 1,
  kKindSubnormal = 2,  // in the tensor's own dtype
  kKindInfinity = 4,
  kKindNaN = 8,
  kKindNegative = 16,
};

/// Range of the non-zero values of a row; all 0 where there are none.
struct RowScan {
  double max_abs = 0;
  double min_abs = 0;
  int top = 0;         // every |value| < 2^top
  int lowest_bit = 0;  // every value is a multiple of 2^lowest_bit
  int significant_bits = 0;
  std::int64_t nonzeros = 0;
  std::int64_t first_nonzero = 0;  // its position
};
/// Requires finite values.
RowScan ScanRow(std::span<const double> values);

class Planes {
 public:
  struct NonFinite {
    std::int64_t position;
    std::uint8_t kind;
  };

  static Planes OfInput(const Problem& problem, const Tensor& input);
  static Planes OfOutBackprop(const Problem& problem, const Tensor& out_backprop);
  static Planes OfTensor(const Tensor& tensor);  // one channel of all elements

  /// Those values of `planes` that are subnormal in the dtype, or those that are not; zeros instead of the others.
  static Planes Subnormals(const Planes& planes) { return planes.Filtered(true); }
  static Planes WithoutSubnormals(const Planes& planes) { return planes.Filtered(false); }

  std::int64_t channels() const { return channels_; }
  std::int64_t length() const { return length_; }  // of a row: n, then rows, then columns

  /// `length` values of channel c divided by 2^shift(c), then zeros up to PaddedLength.
  const double* row(std::int64_t c) const { return rows_.data() + c * stride_; }
  /// Of the shifted row.
  const RowScan& scan(std::int64_t c) const { return scans_[static_cast<std::size_t>(c)]; }
  int shift(std::int64_t c) const { return shifts_[static_cast<std::size_t>(c)]; }
  bool has_zeros(std::int64_t c) const { return scan(c).nonzeros < length_; }

  /// Of the whole tensor, not shifted.
  const TensorScan& tensor_scan() const { return tensor_scan_; }
  const std::vector<NonFinite>& nonfinite(std::int64_t c) const { return nonfinite_[static_cast<std::size_t>(c)]; }

  /// ValueKind bits of every value; requires a call of KeepKinds before.
  void KeepKinds();
  const std::uint8_t* kinds(std::int64_t c) const { return kinds_.data() + c * length_; }

 private:
  struct Layout {
    DType dtype;
    DataFormat format;
    std::int64_t batch, pixels, channels;
  };
  explicit Planes(const Layout& layout);
  static Planes Make(const Layout& layout, const Tensor& tensor);
  Planes Filtered(bool keep_subnormals) const;
  void SetRowsAside(std::int64_t c);
  void ScanAndShift(std::int64_t c);
  void AddToTensorScan(std::int64_t c, const RowScan& scan);
  double SmallestNormal() const;
  double* mutable_row(std::int64_t c) { return rows_.data() + c * stride_; }

  DType dtype_ = DType::kFloat32;
  std::int64_t channels_ = 0;
  std::int64_t length_ = 0;
  std::int64_t stride_ = 0;
  std::vector<double> rows_;
  std::vector<RowScan> scans_;
  std::vector<int> shifts_;
  std::vector<std::vector<NonFinite>> nonfinite_;
  std::vector<std::uint8_t> kinds_;
  TensorScan tensor_scan_;
};

}  // namespace wgrad::oracle
