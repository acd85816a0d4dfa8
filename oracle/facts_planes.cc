#include "oracle/facts_planes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "oracle/facts_kernels.h"
#include "oracle/superaccumulator.h"

namespace wgrad::oracle {
namespace {

double Widen(DType, double value) { return value; }
double Widen(DType, float value) { return static_cast<double>(value); }

double Widen(DType dtype, std::uint16_t bits) {
  if (dtype == DType::kBFloat16) {
    return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16));
  }
  if ((bits & 0x7c00) == 0x7c00) return DecodeBits(dtype, bits);
  // The fields of a half in those of a double: the value times 2^-1008, subnormals included.
  const std::uint64_t fields = (std::uint64_t{bits & 0x8000u} << 48) | (std::uint64_t{bits & 0x7fffu} << 42);
  return std::bit_cast<double>(fields) * 0x1p1008;
}

// One image, `pixels` x `channels` (NHWC), into rows `stride` apart. In tiles, so that neither side misses the cache.
struct Transposition {
  DType dtype;
  std::int64_t pixels, channels, stride;

  template <typename T>
  void operator()(const T* image, double* rows) const {
    constexpr std::int64_t kTile = 16;
    for (std::int64_t first = 0; first < pixels; first += kTile) {
      const std::int64_t last = std::min(pixels, first + kTile);
      for (std::int64_t c = 0; c < channels; ++c) {
        for (std::int64_t pixel = first; pixel < last; ++pixel) {
          rows[c * stride + pixel] = Widen(dtype, image[pixel * channels + c]);
        }
      }
    }
  }
};

}  // namespace

RowScan ScanRow(std::span<const double> values) {
  constexpr std::uint64_t kMagnitude = ~(std::uint64_t{1} << 63);
  std::uint64_t largest = 0;
  std::uint64_t smallest = kMagnitude;
  RowScan scan;
  int lowest_bit = 1 << 20;
  for (const double& value : values) {
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value) & kMagnitude;
    if (bits == 0) continue;
    if (scan.nonzeros == 0) scan.first_nonzero = &value - values.data();
    largest = std::max(largest, bits);
    smallest = std::min(smallest, bits);
    ++scan.nonzeros;
    const Significand parts = Decompose(value);
    const int trailing = std::countr_zero(parts.significand);
    lowest_bit = std::min(lowest_bit, parts.exponent + trailing);
    scan.significant_bits = std::max(scan.significant_bits, 64 - std::countl_zero(parts.significand) - trailing);
  }
  if (scan.nonzeros == 0) return scan;
  scan.max_abs = std::bit_cast<double>(largest);
  scan.min_abs = std::bit_cast<double>(smallest);
  scan.top = std::ilogb(scan.max_abs) + 1;
  scan.lowest_bit = lowest_bit;
  return scan;
}

Planes::Planes(const Layout& layout)
    : dtype_(layout.dtype),
      channels_(layout.channels),
      length_(layout.batch * layout.pixels),
      stride_(PaddedLength(length_)),
      rows_(static_cast<std::size_t>(channels_ * stride_)),
      scans_(static_cast<std::size_t>(channels_)),
      shifts_(static_cast<std::size_t>(channels_)),
      nonfinite_(static_cast<std::size_t>(channels_)) {}

Planes Planes::OfInput(const Problem& problem, const Tensor& input) {
  return Make({problem.dtype(), problem.data_format(), problem.batch(), problem.rows().input * problem.columns().input,
               problem.input_depth()},
              input);
}

Planes Planes::OfOutBackprop(const Problem& problem, const Tensor& out_backprop) {
  return Make({problem.dtype(), problem.data_format(), problem.batch(),
               problem.rows().output * problem.columns().output, problem.out_depth()},
              out_backprop);
}

Planes Planes::OfTensor(const Tensor& tensor) {
  return Make({tensor.dtype(), DataFormat::kNchw, 1, tensor.element_count(), 1}, tensor);
}

Planes Planes::Make(const Layout& layout, const Tensor& tensor) {
  Planes planes(layout);
  const auto copy = [&](const auto* values) {
    for (std::int64_t n = 0; n < layout.batch; ++n) {
      const auto* image = values + n * layout.pixels * layout.channels;
      double* rows = planes.rows_.data() + n * layout.pixels;
      if (layout.format == DataFormat::kNhwc) {
        Transposition{layout.dtype, layout.pixels, layout.channels, planes.stride_}(image, rows);
        continue;
      }
      for (std::int64_t c = 0; c < layout.channels; ++c) {
        for (std::int64_t pixel = 0; pixel < layout.pixels; ++pixel) {
          rows[c * planes.stride_ + pixel] = Widen(layout.dtype, image[c * layout.pixels + pixel]);
        }
      }
    }
  };
  if (layout.dtype == DType::kFloat64) {
    copy(tensor.values<double>().data());
  } else if (layout.dtype == DType::kFloat32) {
    copy(tensor.values<float>().data());
  } else {
    copy(tensor.values<std::uint16_t>().data());
  }
  for (std::int64_t c = 0; c < planes.channels_; ++c) {
    planes.SetRowsAside(c);
    planes.ScanAndShift(c);
  }
  return planes;
}

// Takes the non-finite values of a row out of it.
void Planes::SetRowsAside(std::int64_t c) {
  double* values = mutable_row(c);
  for (std::int64_t i = 0; i < length_; ++i) {
    if (std::isfinite(values[i])) continue;
    const int negative = std::signbit(values[i]) ? kKindNegative : 0;
    const int kind = std::isnan(values[i]) ? kKindNaN : kKindInfinity | negative;
    nonfinite_[static_cast<std::size_t>(c)].push_back({i, static_cast<std::uint8_t>(kind)});
    tensor_scan_.has_nonfinite = true;
    values[i] = 0;
  }
}

// Only float64 has exponents whose products leave double's range. Rows there are moved to the middle of it, where
// they are narrow enough to stay exact.
void Planes::ScanAndShift(std::int64_t c) {
  constexpr int kMiddle = 400;
  constexpr int kWidest = 900;
  double* values = mutable_row(c);
  const std::span<double> row(values, static_cast<std::size_t>(length_));
  RowScan scan = ScanRow(row);
  AddToTensorScan(c, scan);
  const bool extreme = scan.nonzeros > 0 && (scan.top > kMiddle || scan.lowest_bit < -kMiddle);
  if (extreme && scan.top - scan.lowest_bit <= kWidest) {
    shifts_[static_cast<std::size_t>(c)] = scan.top;
    for (double& value : row) value = std::ldexp(value, -scan.top);
    scan = ScanRow(row);
  }
  scans_[static_cast<std::size_t>(c)] = scan;
}

void Planes::AddToTensorScan(std::int64_t c, const RowScan& scan) {
  TensorScan& all = tensor_scan_;
  all.has_zero = all.has_zero || scan.nonzeros + std::ssize(nonfinite(c)) < length_;
  if (scan.nonzeros == 0) return;
  const bool first = all.max_abs == 0;
  all.max_abs = std::max(all.max_abs, scan.max_abs);
  all.min_abs = first ? scan.min_abs : std::min(all.min_abs, scan.min_abs);
  all.lowest_bit = first ? scan.lowest_bit : std::min(all.lowest_bit, scan.lowest_bit);
  all.max_significant_bits = std::max(all.max_significant_bits, scan.significant_bits);
  all.has_subnormal = all.has_subnormal || scan.min_abs < SmallestNormal();
}

double Planes::SmallestNormal() const { return std::ldexp(1.0, FormatOf(dtype_).min_exponent); }

Planes Planes::Filtered(bool keep_subnormals) const {
  Planes kept = *this;
  kept.tensor_scan_ = {};
  for (std::int64_t c = 0; c < channels_; ++c) {
    const std::span<double> row(kept.mutable_row(c), static_cast<std::size_t>(length_));
    const int shift = shifts_[static_cast<std::size_t>(c)];
    for (double& value : row) {
      value = std::ldexp(value, shift);
      if ((std::fabs(value) < SmallestNormal()) != keep_subnormals) value = 0;
    }
    kept.shifts_[static_cast<std::size_t>(c)] = 0;
    kept.ScanAndShift(c);
  }
  return kept;
}

void Planes::KeepKinds() {
  kinds_.resize(static_cast<std::size_t>(channels_ * length_));
  for (std::int64_t c = 0; c < channels_; ++c) {
    std::uint8_t* kinds = kinds_.data() + c * length_;
    const double smallest_normal = std::ldexp(SmallestNormal(), -shift(c));
    for (std::int64_t i = 0; i < length_; ++i) {
      const double value = row(c)[i];
      const int size = value == 0 ? kKindZero : std::fabs(value) < smallest_normal ? kKindSubnormal : 0;
      kinds[i] = static_cast<std::uint8_t>(size | (std::signbit(value) ? kKindNegative : 0));
    }
    for (const NonFinite& special : nonfinite(c)) kinds[special.position] = special.kind;
  }
}

}  // namespace wgrad::oracle
