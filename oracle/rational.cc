#include "oracle/rational.h"

#include <cmath>

#include "core/check.h"

namespace wgrad::oracle {
namespace {

using Integer = Dyadic::Integer;

int BitLength(const Integer& magnitude) {
  return magnitude.is_zero() ? 0 : static_cast<int>(boost::multiprecision::msb(magnitude)) + 1;
}

}  // namespace

Rational PowerOfTwo(int exponent) {
  const Integer power = Integer(1) << std::abs(exponent);
  return exponent >= 0 ? Rational(power) : Rational(Integer(1), power);
}

Rational ToRational(const Dyadic& value) { return Rational(value.mantissa()) * PowerOfTwo(value.exponent()); }

Dyadic ToSticky(const Rational& value) {
  constexpr int kBits = 160;
  const Integer numerator = boost::multiprecision::numerator(value);
  const Integer denominator = boost::multiprecision::denominator(value);
  const Integer magnitude = boost::multiprecision::abs(numerator);
  const int shift = kBits - (BitLength(magnitude) - BitLength(denominator));
  Integer quotient;
  Integer remainder;
  if (shift >= 0) {
    boost::multiprecision::divide_qr(Integer(magnitude << shift), denominator, quotient, remainder);
  } else {
    boost::multiprecision::divide_qr(magnitude, Integer(denominator << -shift), quotient, remainder);
  }
  Integer mantissa = (quotient << 1) + (remainder.is_zero() ? 0 : 1);
  if (numerator.sign() < 0) mantissa = -mantissa;
  return {mantissa, -shift - 1};
}

double ToDouble(const Rational& value) { return ToSticky(value).ToDouble(); }

Rational SquareRootUp(const Rational& square) {
  WGRAD_CHECK(square.sign() >= 0, "square root of a negative number");
  if (square.is_zero()) return square;
  const Integer numerator = boost::multiprecision::numerator(square);
  const Integer denominator = boost::multiprecision::denominator(square);
  // sqrt(p/q) = sqrt(p*q*4^k) / (q*2^k); with 2k >= 220 the root has more than 100 bits.
  constexpr int kShift = 110;
  const Integer root = boost::multiprecision::sqrt(Integer((numerator * denominator) << (2 * kShift)));
  return Rational(Integer(root + 1), Integer(denominator << kShift));
}

}  // namespace wgrad::oracle
