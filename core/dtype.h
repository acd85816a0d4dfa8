// The four element types, and binary floating-point formats as numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace wgrad {

enum class DType : std::uint8_t { kFloat16, kBFloat16, kFloat32, kFloat64 };
inline constexpr DType kAllDTypes[] = {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64};

/// A binary format: precision p (significand bits, hidden one included) and the exponents of its
/// smallest normal number 2^min_exponent and of its largest binade 2^max_exponent.
struct FloatFormat {
  int precision;
  int min_exponent;
  int max_exponent;

  /// Exponent of the smallest subnormal number (and of the lowest bit of every value).
  constexpr int lowest_exponent() const { return min_exponent - precision + 1; }
  friend bool operator==(const FloatFormat&, const FloatFormat&) = default;
};

inline constexpr FloatFormat kHalfFormat{11, -14, 15};
inline constexpr FloatFormat kBFloat16Format{8, -126, 127};
inline constexpr FloatFormat kFloat32Format{24, -126, 127};
inline constexpr FloatFormat kFloat64Format{53, -1022, 1023};
inline constexpr FloatFormat kTf32Format{11, -126, 127};  // an input format only

const FloatFormat& FormatOf(DType dtype);
std::size_t SizeOf(DType dtype);       // bytes of one element
std::string_view NameOf(DType dtype);  // f16 bf16 f32 f64
std::optional<DType> DTypeFromName(
    std::string_view name);  // also half, float16, bfloat16, float, float32, double, float64

/// A half (IEEE binary16) as its bits; conversions are the explicit functions below.
struct Float16 {
  std::uint16_t bits = 0;
};
/// A bfloat16 as its bits.
struct BFloat16 {
  std::uint16_t bits = 0;
};

/// The value of `bits` in `dtype`. Exact: every value of every dtype is a double. NaN gives a quiet NaN.
double DecodeBits(DType dtype, std::uint64_t bits);

/// The bits of the value of `dtype` nearest to `value`, ties to even; overflow gives an infinity,
/// NaN the canonical quiet NaN. One rounding, also from double to half.
std::uint64_t EncodeNearest(DType dtype, double value);

float ToFloat(Float16 value);      // exact
float ToFloat(BFloat16 value);     // exact
Float16 ToFloat16(float value);    // nearest, ties to even
BFloat16 ToBFloat16(float value);  // nearest, ties to even

bool IsNaN(DType dtype, std::uint64_t bits);
bool IsInf(DType dtype, std::uint64_t bits);
bool IsZero(DType dtype, std::uint64_t bits);      // either sign
bool IsNegative(DType dtype, std::uint64_t bits);  // the sign bit, also of zeros and NaN
bool IsSubnormal(DType dtype, std::uint64_t bits);
std::uint64_t InfinityBits(DType dtype, bool negative);
std::uint64_t LargestFiniteBits(DType dtype, bool negative);

/// A signaling NaN that no arithmetic produces: it marks memory that a kernel never wrote.
std::uint64_t PoisonBits(DType dtype);

}  // namespace wgrad
