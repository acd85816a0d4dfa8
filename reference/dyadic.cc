#include "reference/dyadic.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "core/check.h"

namespace wgrad {
namespace {

using Integer = Dyadic::Integer;

// How a part that was cut off compares with half a unit of what was kept.
enum class Rest { kNone, kBelowHalf, kHalf, kAboveHalf };

struct Quotient {
  Integer floor;
  Rest rest = Rest::kNone;
};

// magnitude / 2^shift for magnitude > 0; a negative shift multiplies.
Quotient ShiftRight(const Integer& magnitude, int shift) {
  if (shift <= 0) return {magnitude << -shift, Rest::kNone};
  const auto half_bit = static_cast<unsigned>(shift - 1);
  const auto lowest_bit = boost::multiprecision::lsb(magnitude);
  Rest rest = Rest::kNone;
  if (lowest_bit <= half_bit) {
    const bool half = boost::multiprecision::bit_test(magnitude, half_bit);
    rest = !half ? Rest::kBelowHalf : lowest_bit == half_bit ? Rest::kHalf : Rest::kAboveHalf;
  }
  return {magnitude >> shift, rest};
}

// numerator / denominator for numerator >= 0 and denominator > 0.
Quotient Divide(const Integer& numerator, const Integer& denominator) {
  Quotient quotient;
  Integer remainder;
  boost::multiprecision::divide_qr(numerator, denominator, quotient.floor, remainder);
  if (remainder.is_zero()) return quotient;
  const int order = Integer(remainder << 1).compare(denominator);
  quotient.rest = order < 0 ? Rest::kBelowHalf : order == 0 ? Rest::kHalf : Rest::kAboveHalf;
  return quotient;
}

// Whether a magnitude of the given sign is rounded up to the next multiple after `quotient`.
bool RoundsAway(Rounding rounding, bool negative, const Quotient& quotient) {
  switch (rounding) {
    case Rounding::kNearest:
      return quotient.rest == Rest::kAboveHalf ||
             (quotient.rest == Rest::kHalf && boost::multiprecision::bit_test(quotient.floor, 0));
    case Rounding::kDown:
      return quotient.rest != Rest::kNone && negative;
    case Rounding::kUp:
      return quotient.rest != Rest::kNone && !negative;
  }
  return false;
}

// Common exponent of a and b, and their mantissas in its units.
struct Aligned {
  Integer a;
  Integer b;
  int exponent;
};

Aligned Align(const Dyadic& a, const Dyadic& b) {
  if (a.is_zero()) return {0, b.mantissa(), b.exponent()};
  if (b.is_zero()) return {a.mantissa(), 0, a.exponent()};
  const int exponent = std::min(a.exponent(), b.exponent());
  return {a.mantissa() << (a.exponent() - exponent), b.mantissa() << (b.exponent() - exponent), exponent};
}

Integer PowerOfTen(int exponent) { return boost::multiprecision::pow(Integer(10), static_cast<unsigned>(exponent)); }

// magnitude * 2^exponent * 10^scale
Quotient ScaleByPowerOfTen(const Integer& magnitude, int exponent, int scale) {
  Integer numerator = magnitude;
  Integer denominator = 1;
  (exponent >= 0 ? numerator : denominator) <<= std::abs(exponent);
  (scale >= 0 ? numerator : denominator) *= PowerOfTen(std::abs(scale));
  return Divide(numerator, denominator);
}

// d.dd * 10^exponent out of its digits "ddd". Plain where that needs neither more than two zeros after the point nor
// digits that are not known, scientific otherwise.
std::string DecimalText(std::string digits, int exponent) {
  constexpr int kLowestPlainExponent = -2;
  const int known = static_cast<int>(digits.size());
  digits.erase(digits.find_last_not_of('0') + 1);
  const int count = static_cast<int>(digits.size());
  if (exponent >= known || exponent < kLowestPlainExponent) {
    if (count > 1) digits.insert(1, ".");
    return digits + "e" + std::to_string(exponent);
  }
  if (exponent < 0) return "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (count > exponent + 1) return digits.insert(whole, ".");
  return digits.append(whole - digits.size(), '0');
}

}  // namespace

Dyadic Dyadic::FromDouble(double finite) {
  WGRAD_CHECK(std::isfinite(finite), "a Dyadic is finite");
  if (finite == 0) return {};
  int exponent = 0;
  const double fraction = std::frexp(finite, &exponent);
  return {Integer(static_cast<std::int64_t>(std::ldexp(fraction, 53))), exponent - 53};
}

Dyadic Dyadic::PowerOfTwo(int exponent) { return {Integer(1), exponent}; }

Dyadic operator+(const Dyadic& a, const Dyadic& b) {
  const Aligned aligned = Align(a, b);
  return {aligned.a + aligned.b, aligned.exponent};
}

Dyadic operator-(const Dyadic& a, const Dyadic& b) {
  const Aligned aligned = Align(a, b);
  return {aligned.a - aligned.b, aligned.exponent};
}

Dyadic operator*(const Dyadic& a, const Dyadic& b) { return {a.mantissa_ * b.mantissa_, a.exponent_ + b.exponent_}; }

int Compare(const Dyadic& a, const Dyadic& b) {
  if (a.sign() != b.sign()) return a.sign() < b.sign() ? -1 : 1;
  const Aligned aligned = Align(a, b);
  const int order = aligned.a.compare(aligned.b);
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

Dyadic Abs(const Dyadic& value) { return value.sign() < 0 ? -value : value; }

int Dyadic::Log2() const {
  WGRAD_CHECK(!is_zero(), "zero has no logarithm");
  return static_cast<int>(boost::multiprecision::msb(boost::multiprecision::abs(mantissa_))) + exponent_;
}

std::uint64_t Dyadic::RoundTo(DType dtype, Rounding rounding) const {
  if (is_zero()) return 0;
  const FloatFormat& format = FormatOf(dtype);
  const bool negative = sign() < 0;
  const int exponent = std::max(Log2(), format.min_exponent);
  if (exponent > format.max_exponent) {
    const bool towards_zero = rounding == (negative ? Rounding::kUp : Rounding::kDown);
    return towards_zero ? LargestFiniteBits(dtype, negative) : InfinityBits(dtype, negative);
  }
  const int unit = exponent - format.precision + 1;
  const Quotient quotient = ShiftRight(boost::multiprecision::abs(mantissa_), unit - exponent_);
  const std::uint64_t multiple =
      static_cast<std::uint64_t>(quotient.floor) + (RoundsAway(rounding, negative, quotient) ? 1 : 0);
  // The hidden bit of `multiple` adds one to the exponent field, a carry out of the significand one more: into the
  // next binade, out of the subnormals, and at the top into infinity's pattern.
  const std::uint64_t field = static_cast<std::uint64_t>(exponent - format.min_exponent) << (format.precision - 1);
  const std::uint64_t sign_bit = InfinityBits(dtype, negative) ^ InfinityBits(dtype, false);
  return sign_bit | (field + multiple);
}

DoubleDouble Dyadic::ToDoubleDouble() const {
  if (is_zero()) return {};
  const Dyadic magnitude = Abs(*this);
  if (Compare(magnitude, PowerOfTwo(-900)) < 0 || Compare(magnitude, PowerOfTwo(1000)) > 0) {
    return {std::numeric_limits<double>::quiet_NaN(), 0};
  }
  const double high = ToDouble();
  return {high, (*this - FromDouble(high)).ToDouble()};
}

double Dyadic::ToDouble() const { return DecodeBits(DType::kFloat64, RoundTo(DType::kFloat64)); }

std::string Dyadic::ToDecimal(int digits, Rounding rounding) const {
  WGRAD_CHECK(digits >= 1, "a decimal text has at least one digit");
  if (is_zero()) return "0";
  const bool negative = sign() < 0;
  const Integer magnitude = boost::multiprecision::abs(mantissa_);
  const Integer limit = PowerOfTen(digits);
  // log10 of 2^Log2(), which is at most one below the true exponent; rounding up to 10^digits is the other reason to
  // take one more.
  constexpr double kLog10Of2 = 0.301029995663981195;
  for (int exponent = static_cast<int>(std::floor(Log2() * kLog10Of2));; ++exponent) {
    const Quotient scaled = ScaleByPowerOfTen(magnitude, exponent_, digits - 1 - exponent);
    const Integer rounded = scaled.floor + (RoundsAway(rounding, negative, scaled) ? 1 : 0);
    if (rounded < limit) return (negative ? "-" : "") + DecimalText(rounded.str(), exponent);
  }
}

std::string Dyadic::ToHex() const {
  const Integer magnitude = boost::multiprecision::abs(mantissa_);
  return std::string(sign() < 0 ? "-" : "") + "0x" + magnitude.str(0, std::ios_base::hex) + "p" +
         std::to_string(exponent_);
}

}  // namespace wgrad
