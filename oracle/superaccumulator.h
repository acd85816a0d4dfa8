// Superaccumulator: fixed-point integers of 64-bit limbs, wide enough for any sum of products of finite doubles. A
// value is limbs * 2^exponent, little endian, in two's complement. What fits 128 bits has short cuts of its own.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "reference/dyadic.h"

namespace wgrad::oracle {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

using Limbs = std::span<std::uint64_t>;
using ConstLimbs = std::span<const std::uint64_t>;

/// A finite double as (-1)^negative * significand * 2^exponent, significand < 2^53; exact.
struct Significand {
  std::uint64_t significand;
  int exponent;
  bool negative;
};

inline Significand Decompose(double finite) {
  const auto bits = std::bit_cast<std::uint64_t>(finite);
  const int biased = static_cast<int>(bits >> 52) & 0x7ff;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const std::uint64_t hidden = biased == 0 ? 0 : std::uint64_t{1} << 52;
  return {fraction | hidden, (biased == 0 ? 1 : biased) - 1075, (bits >> 63) != 0};
}

/// 2^exponent. Requires a normal double.
inline double PowerOfTwo(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// The exact product of two finite doubles: magnitude below 2^106, whatever their exponents.
struct ExactProduct {
  UInt128 magnitude;
  int exponent;
  bool negative;
};

inline ExactProduct Multiply(const Significand& a, const Significand& b) {
  return {UInt128{a.significand} * b.significand, a.exponent + b.exponent, a.negative != b.negative};
}

/// `product` in units of 2^unit as a signed integer. Requires that it is a whole number of them below 2^127.
inline Int128 InUnits(const ExactProduct& product, int unit) {
  const int shift = product.exponent - unit;
  const UInt128 magnitude = shift >= 0 ? (shift < 128 ? product.magnitude << shift : UInt128{0})
                                       : (shift > -128 ? product.magnitude >> -shift : UInt128{0});
  const auto value = static_cast<Int128>(magnitude);
  return product.negative ? -value : value;
}

/// limbs += magnitude * 2^offset, for an offset >= 0 and limbs with room for the sum. Touches the limb of the offset
/// and the one after it, a third one for wide magnitudes, and beyond them what a carry reaches.
inline void AddMagnitude(std::uint64_t* limbs, std::uint64_t magnitude, int offset) {
  std::uint64_t* at = limbs + offset / 64;
  const UInt128 words = UInt128{magnitude} << (offset & 63);
  const UInt128 first = UInt128{at[0]} + static_cast<std::uint64_t>(words);
  const UInt128 second =
      UInt128{at[1]} + static_cast<std::uint64_t>(words >> 64) + static_cast<std::uint64_t>(first >> 64);
  at[0] = static_cast<std::uint64_t>(first);
  at[1] = static_cast<std::uint64_t>(second);
  if ((second >> 64) == 0) return;
  at += 2;
  while (++*at == 0) ++at;
}

inline void AddMagnitude(std::uint64_t* limbs, UInt128 magnitude, int offset) {
  std::uint64_t* at = limbs + offset / 64;
  const int shift = offset & 63;
  const UInt128 low = UInt128{static_cast<std::uint64_t>(magnitude)} << shift;
  const UInt128 high =
      (UInt128{static_cast<std::uint64_t>(magnitude >> 64)} << shift) + static_cast<std::uint64_t>(low >> 64);
  const UInt128 first = UInt128{at[0]} + static_cast<std::uint64_t>(low);
  const UInt128 second = UInt128{at[1]} + static_cast<std::uint64_t>(high) + static_cast<std::uint64_t>(first >> 64);
  const UInt128 third =
      UInt128{at[2]} + static_cast<std::uint64_t>(high >> 64) + static_cast<std::uint64_t>(second >> 64);
  at[0] = static_cast<std::uint64_t>(first);
  at[1] = static_cast<std::uint64_t>(second);
  at[2] = static_cast<std::uint64_t>(third);
  if ((third >> 64) == 0) return;
  at += 3;
  while (++*at == 0) ++at;
}

/// limbs += value * 2^offset, in two's complement.
void AddSigned(Limbs limbs, std::int64_t value, int offset);

/// (positive, negative) becomes (positive - negative, positive + negative).
void ToSumAndAbsSum(Limbs positive, Limbs negative);

/// Limbs for sums below 2^bits with their sign, with room for AddMagnitude's three words.
constexpr std::size_t LimbCount(int bits) { return static_cast<std::size_t>(bits) / 64 + 4; }

Dyadic ToDyadic(Int128 value, int exponent);
Dyadic ToDyadic(ConstLimbs limbs, int exponent);
/// As Dyadic::ToDoubleDouble promises: within a relative 2^-100, NaN outside [2^-900, 2^1000].
DoubleDouble ToDoubleDouble(Int128 value, int exponent);  // requires |value| < 2^127
DoubleDouble ToDoubleDouble(ConstLimbs limbs, int exponent);

}  // namespace wgrad::oracle
