#include "oracle/superaccumulator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace wgrad::oracle {
namespace {

DoubleDouble TwoSum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

DoubleDouble Scale(DoubleDouble value, int exponent) {
  if (value.high == 0) return {};
  // value.high is a whole number, so its exponent field is that of a normal double.
  const int magnitude = static_cast<int>(std::bit_cast<std::uint64_t>(value.high) >> 52 & 0x7ff) - 1023 + exponent;
  if (exponent >= -1022 && exponent <= 1023 && magnitude >= -900 && magnitude < 1000) {
    const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
    return {value.high * scale, value.low * scale};
  }
  // A power of two at the upper end is the only value of its binade inside the range.
  const bool at_top = magnitude == 1000 && std::fabs(value.high) == std::ldexp(1.0, 1000 - exponent) && value.low == 0;
  if (magnitude < -900 || (magnitude >= 1000 && !at_top)) return {std::numeric_limits<double>::quiet_NaN(), 0};
  return {std::ldexp(value.high, exponent), std::ldexp(value.low, exponent)};
}

// Magnitude of two's complement limbs, leading zeros dropped.
std::vector<std::uint64_t> Magnitude(ConstLimbs limbs, bool negative) {
  std::vector<std::uint64_t> magnitude(limbs.begin(), limbs.end());
  if (negative) {
    bool carry = true;
    for (std::uint64_t& limb : magnitude) {
      limb = ~limb + (carry ? 1 : 0);
      carry = carry && limb == 0;
    }
  }
  while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  return magnitude;
}

bool IsNegative(ConstLimbs limbs) { return !limbs.empty() && (limbs.back() >> 63) != 0; }

Dyadic::Integer ToInteger(ConstLimbs magnitude) {
  Dyadic::Integer integer;
  boost::multiprecision::import_bits(integer, magnitude.begin(), magnitude.end(), 64, false);
  return integer;
}

}  // namespace

void AddSigned(Limbs limbs, std::int64_t value, int offset) {
  const UInt128 shifted = static_cast<UInt128>(static_cast<Int128>(value)) << (offset & 63);
  const std::uint64_t extension = value < 0 ? ~std::uint64_t{0} : 0;
  std::size_t at = static_cast<std::size_t>(offset) / 64;
  bool carry = __builtin_add_overflow(limbs[at], static_cast<std::uint64_t>(shifted), &limbs[at]);
  ++at;
  std::uint64_t word = static_cast<std::uint64_t>(shifted >> 64);
  // Past the second word an extension of ones with a carry, or of zeros without one, changes nothing more.
  for (bool changes = true; changes && at < limbs.size(); ++at) {
    const bool first = __builtin_add_overflow(limbs[at], word, &limbs[at]);
    const bool second = __builtin_add_overflow(limbs[at], std::uint64_t{carry}, &limbs[at]);
    carry = first || second;
    word = extension;
    changes = carry != (extension != 0);
  }
}

void ToSumAndAbsSum(Limbs positive, Limbs negative) {
  bool carry = false;
  bool borrow = false;
  for (std::size_t i = 0; i < positive.size(); ++i) {
    const std::uint64_t p = positive[i];
    const std::uint64_t n = negative[i];
    std::uint64_t sum = 0;
    std::uint64_t difference = 0;
    const bool over = __builtin_add_overflow(p, n, &sum);
    const bool over_again = __builtin_add_overflow(sum, std::uint64_t{carry}, &sum);
    const bool under = __builtin_sub_overflow(p, n, &difference);
    const bool under_again = __builtin_sub_overflow(difference, std::uint64_t{borrow}, &difference);
    carry = over || over_again;
    borrow = under || under_again;
    positive[i] = difference;
    negative[i] = sum;
  }
}

Dyadic ToDyadic(Int128 value, int exponent) {
  const bool negative = value < 0;
  const UInt128 magnitude = negative ? -static_cast<UInt128>(value) : static_cast<UInt128>(value);
  Dyadic::Integer integer = static_cast<std::uint64_t>(magnitude >> 64);
  integer <<= 64;
  integer |= static_cast<std::uint64_t>(magnitude);
  if (integer.is_zero()) return {};
  return {negative ? Dyadic::Integer(-integer) : integer, exponent};
}

Dyadic ToDyadic(ConstLimbs limbs, int exponent) {
  const bool negative = IsNegative(limbs);
  const std::vector<std::uint64_t> magnitude = Magnitude(limbs, negative);
  if (magnitude.empty()) return {};
  const Dyadic::Integer integer = ToInteger(magnitude);
  return {negative ? Dyadic::Integer(-integer) : integer, exponent};
}

DoubleDouble ToDoubleDouble(Int128 value, int exponent) {
  constexpr int kSafe = 850;  // 2^128 times 2^kSafe and 2^-kSafe need no look at their range
  const bool safe = exponent >= -kSafe && exponent <= kSafe;
  constexpr std::int64_t kExact = std::int64_t{1} << 53;
  const auto narrow = static_cast<std::int64_t>(value);
  if (narrow == value && narrow <= kExact && narrow >= -kExact) {
    const auto exact = static_cast<double>(narrow);
    return safe ? DoubleDouble{exact * PowerOfTwo(exponent), 0} : Scale({exact, 0}, exponent);
  }
  // 54, 37 and 37 bits. The first two meet in an exact sum with its error; where that error is not zero the result
  // is above 2^90, so that rounding error + low costs at most a relative 2^-104.
  constexpr std::uint64_t kMask = (std::uint64_t{1} << 37) - 1;
  const auto wide = static_cast<UInt128>(value);
  const double top = static_cast<double>(static_cast<std::int64_t>(value >> 74)) * 0x1p74;
  const double middle =
      static_cast<double>(static_cast<std::int64_t>(static_cast<std::uint64_t>(wide >> 37) & kMask)) * 0x1p37;
  const double bottom = static_cast<double>(static_cast<std::int64_t>(static_cast<std::uint64_t>(wide) & kMask));
  const DoubleDouble upper = TwoSum(top, middle);
  const DoubleDouble rounded = TwoSum(upper.high, upper.low + bottom);
  if (!safe) return Scale(rounded, exponent);
  const double scale = PowerOfTwo(exponent);
  return {rounded.high * scale, rounded.low * scale};
}

DoubleDouble ToDoubleDouble(ConstLimbs limbs, int exponent) {
  const bool negative = IsNegative(limbs);
  const std::vector<std::uint64_t> magnitude = Magnitude(limbs, negative);
  if (magnitude.empty()) return {};
  // The 126 leading bits: what is cut off is below a relative 2^-125.
  const int length = static_cast<int>(magnitude.size()) * 64 - std::countl_zero(magnitude.back());
  const int cut = std::max(0, length - 126);
  UInt128 leading = 0;
  for (std::size_t i = magnitude.size(); i-- > 0;) {
    const int at = static_cast<int>(i) * 64 - cut;
    if (at <= -64) break;
    leading |= at >= 0 ? UInt128{magnitude[i]} << at : UInt128{magnitude[i] >> -at};
  }
  const auto signed_leading = static_cast<Int128>(leading);
  return ToDoubleDouble(negative ? -signed_leading : signed_leading, exponent + cut);
}

}  // namespace wgrad::oracle
