// Dyadic: an exact number mantissa * 2^exponent. All exact arithmetic of a verdict is on these.
// May include: core. Boost.Multiprecision supplies the integers.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <string>

#include "core/dtype.h"

namespace wgrad {

enum class Rounding : std::uint8_t { kNearest, kDown, kUp };  // ties to even; towards -inf; towards +inf

/// high + low with |high + low - exact| <= 2^-100 |exact|. `high` is NaN where the exact value is zero-free
/// but outside [2^-900, 2^1000], so that double arithmetic on it would not be safe.
struct DoubleDouble {
  double high = 0;
  double low = 0;
};

class Dyadic {
 public:
  using Integer = boost::multiprecision::cpp_int;

  Dyadic() = default;  // zero
  Dyadic(Integer mantissa, int exponent) : mantissa_(std::move(mantissa)), exponent_(exponent) {}
  static Dyadic FromDouble(double finite);  // exact; requires a finite value
  static Dyadic PowerOfTwo(int exponent);

  const Integer& mantissa() const { return mantissa_; }
  int exponent() const { return exponent_; }
  int sign() const { return mantissa_.sign(); }
  bool is_zero() const { return mantissa_.is_zero(); }

  friend Dyadic operator+(const Dyadic& a, const Dyadic& b);
  friend Dyadic operator-(const Dyadic& a, const Dyadic& b);
  friend Dyadic operator*(const Dyadic& a, const Dyadic& b);
  Dyadic operator-() const { return {-mantissa_, exponent_}; }
  friend int Compare(const Dyadic& a, const Dyadic& b);  // -1, 0, 1
  friend bool operator==(const Dyadic& a, const Dyadic& b) { return Compare(a, b) == 0; }

  /// The bits of this value rounded to `dtype`, subnormals and overflow included: kNearest gives an infinity
  /// from the overflow threshold on, kDown and kUp give the largest finite value or an infinity by direction.
  /// Zero gives +0.
  std::uint64_t RoundTo(DType dtype, Rounding rounding = Rounding::kNearest) const;
  /// floor(log2 |value|). Requires a non-zero value.
  int Log2() const;
  DoubleDouble ToDoubleDouble() const;
  /// Nearest double; infinities and zero where it leaves double's range.
  double ToDouble() const;
  /// Decimal scientific text, e.g. "-1.25e-3", with `digits` significant digits at most, rounded as told; exact
  /// values come out short ("3", "0.5"). kUp and kDown are directed, so that a printed bound is never too small.
  std::string ToDecimal(int digits, Rounding rounding = Rounding::kNearest) const;
  /// Exact text "-0x1f3p-12" (hexadecimal integer times a power of two).
  std::string ToHex() const;

 private:
  Integer mantissa_;
  int exponent_ = 0;
};

Dyadic Abs(const Dyadic& value);

}  // namespace wgrad
