#include "core/dtype.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/check.h"

namespace wgrad {
namespace {

struct Layout {  // how a dtype's bits are laid out
  int fraction_bits;
  int exponent_bits;
  int width() const { return 1 + exponent_bits + fraction_bits; }
  std::uint64_t fraction_mask() const { return (std::uint64_t{1} << fraction_bits) - 1; }
  std::uint64_t exponent_max() const { return (std::uint64_t{1} << exponent_bits) - 1; }
  std::uint64_t sign_mask() const { return std::uint64_t{1} << (width() - 1); }
  std::uint64_t exponent_of(std::uint64_t bits) const { return (bits >> fraction_bits) & exponent_max(); }
};

constexpr Layout kLayouts[] = {{10, 5}, {7, 8}, {23, 8}, {52, 11}};

const Layout& LayoutOf(DType dtype) { return kLayouts[static_cast<int>(dtype)]; }

// Rounds |value| (finite, positive) to an integer multiple of 2^exponent, ties to even.
// The result has at most 53 bits, since the callers' formats have no more than double's precision.
std::uint64_t RoundToMultiple(double value, int exponent) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const int biased = static_cast<int>(bits >> 52);
  std::uint64_t significand = bits & ((std::uint64_t{1} << 52) - 1);
  if (biased != 0) significand |= std::uint64_t{1} << 52;
  const int shift = exponent - ((biased == 0 ? 1 : biased) - 1075);
  if (shift <= 0) return significand << -shift;
  if (shift > 54) return 0;
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

}  // namespace

const FloatFormat& FormatOf(DType dtype) {
  static constexpr FloatFormat kFormats[] = {kHalfFormat, kBFloat16Format, kFloat32Format, kFloat64Format};
  return kFormats[static_cast<int>(dtype)];
}

std::size_t SizeOf(DType dtype) { return static_cast<std::size_t>(LayoutOf(dtype).width()) / 8; }

std::string_view NameOf(DType dtype) {
  static constexpr std::string_view kNames[] = {"f16", "bf16", "f32", "f64"};
  return kNames[static_cast<int>(dtype)];
}

std::optional<DType> DTypeFromName(std::string_view name) {
  if (name == "f16" || name == "half" || name == "float16") return DType::kFloat16;
  if (name == "bf16" || name == "bfloat16") return DType::kBFloat16;
  if (name == "f32" || name == "float" || name == "float32") return DType::kFloat32;
  if (name == "f64" || name == "double" || name == "float64") return DType::kFloat64;
  return std::nullopt;
}

double DecodeBits(DType dtype, std::uint64_t bits) {
  if (dtype == DType::kFloat64) {
    const double value = std::bit_cast<double>(bits);
    return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
  }
  const Layout& layout = LayoutOf(dtype);
  const FloatFormat& format = FormatOf(dtype);
  const std::uint64_t exponent = layout.exponent_of(bits);
  const std::uint64_t fraction = bits & layout.fraction_mask();
  const double sign = (bits & layout.sign_mask()) != 0 ? -1.0 : 1.0;
  if (exponent == layout.exponent_max()) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  }
  const std::uint64_t significand = exponent == 0 ? fraction : fraction | (layout.fraction_mask() + 1);
  const int scale = format.lowest_exponent() + (exponent == 0 ? 0 : static_cast<int>(exponent) - 1);
  return sign * std::ldexp(static_cast<double>(significand), scale);
}

std::uint64_t EncodeNearest(DType dtype, double value) {
  const Layout& layout = LayoutOf(dtype);
  const FloatFormat& format = FormatOf(dtype);
  const std::uint64_t sign = std::signbit(value) ? layout.sign_mask() : 0;
  if (std::isnan(value)) return InfinityBits(dtype, false) | (std::uint64_t{1} << (layout.fraction_bits - 1));
  if (std::isinf(value)) return InfinityBits(dtype, sign != 0);
  if (dtype == DType::kFloat64) return std::bit_cast<std::uint64_t>(value);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const int exponent = std::max(std::ilogb(magnitude), format.min_exponent);
  const std::uint64_t multiple = RoundToMultiple(magnitude, exponent - format.precision + 1);
  // Adding the rounded significand to the exponent field lets a carry step into the next binade,
  // out of the subnormals, and at the top into infinity's pattern.
  const std::uint64_t field = static_cast<std::uint64_t>(exponent - format.min_exponent);
  const std::uint64_t encoded = (field << layout.fraction_bits) + multiple;
  const std::uint64_t infinity = InfinityBits(dtype, false);
  return sign | (encoded >= infinity ? infinity : encoded);
}

float ToFloat(Float16 value) { return static_cast<float>(DecodeBits(DType::kFloat16, value.bits)); }

float ToFloat(BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }

Float16 ToFloat16(float value) {
  return {static_cast<std::uint16_t>(EncodeNearest(DType::kFloat16, static_cast<double>(value)))};
}

BFloat16 ToBFloat16(float value) {
  if (std::isnan(value)) return {0x7fc0};
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  return {static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16)};
}

bool IsNaN(DType dtype, std::uint64_t bits) {
  const Layout& layout = LayoutOf(dtype);
  return layout.exponent_of(bits) == layout.exponent_max() && (bits & layout.fraction_mask()) != 0;
}

bool IsInf(DType dtype, std::uint64_t bits) {
  const Layout& layout = LayoutOf(dtype);
  return layout.exponent_of(bits) == layout.exponent_max() && (bits & layout.fraction_mask()) == 0;
}

bool IsZero(DType dtype, std::uint64_t bits) { return (bits & ~LayoutOf(dtype).sign_mask()) == 0; }

bool IsNegative(DType dtype, std::uint64_t bits) { return (bits & LayoutOf(dtype).sign_mask()) != 0; }

bool IsSubnormal(DType dtype, std::uint64_t bits) {
  const Layout& layout = LayoutOf(dtype);
  return layout.exponent_of(bits) == 0 && (bits & layout.fraction_mask()) != 0;
}

std::uint64_t InfinityBits(DType dtype, bool negative) {
  const Layout& layout = LayoutOf(dtype);
  return (layout.exponent_max() << layout.fraction_bits) | (negative ? layout.sign_mask() : 0);
}

std::uint64_t LargestFiniteBits(DType dtype, bool negative) { return InfinityBits(dtype, negative) - 1; }

std::uint64_t PoisonBits(DType dtype) {
  static constexpr std::uint64_t kPoison[] = {0x7d5a, 0x7fa5, 0x7fa5a5a5, 0x7ff5a5a5a5a5a5a5};
  return kPoison[static_cast<int>(dtype)];
}

}  // namespace wgrad
