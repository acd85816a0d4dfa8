// Copies between the dtype that tensors are stored in and the precision that sums are kept in. Widening is exact;
// narrowing rounds to nearest, ties to even.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/dtype.h"

namespace wgrad::optimized {

/// The precision in which sums over a stored dtype are kept: its own, or float32 for the 16-bit ones.
template <typename Stored>
struct WorkingPrecision {
  using Type = Stored;
};
template <>
struct WorkingPrecision<Float16> {
  using Type = float;
};
template <>
struct WorkingPrecision<BFloat16> {
  using Type = float;
};
template <typename Stored>
using Working = typename WorkingPrecision<Stored>::Type;

inline float WidenOne(float value) { return value; }
inline double WidenOne(double value) { return value; }
inline float WidenOne(BFloat16 value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16); }
inline float WidenOne(Float16 value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000U) << 16;
  const std::uint32_t magnitude = value.bits & 0x7fffU;
  if (magnitude < 0x0400U) {  // subnormal: a whole multiple of 2^-24
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F));
  }
  const std::uint32_t rebias = magnitude >= 0x7c00U ? 224U << 23 : 112U << 23;
  return std::bit_cast<float>(sign | ((magnitude << 13) + rebias));
}

/// Copies of `count` elements; ranges may not overlap. Runs are short (a pixel's channels), so that copies of equal
/// type are blocks of constant size, the last of which overlaps its neighbour, and no call of a library.
template <typename Real>
inline void Widen(const Real* from, Real* to, std::int64_t count) {
  constexpr std::int64_t kLong = 64;
  const auto block = [from, to](std::int64_t at, auto size) {
    std::memcpy(to + at, from + at, decltype(size)::value * sizeof(Real));
  };
  using Eight = std::integral_constant<std::size_t, 8>;
  using Four = std::integral_constant<std::size_t, 4>;
  using Two = std::integral_constant<std::size_t, 2>;
  if (count >= kLong) {
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(Real));
  } else if (count >= 8) {
    for (std::int64_t at = 0; at + 8 <= count; at += 8) block(at, Eight());
    block(count - 8, Eight());
  } else if (count >= 4) {
    block(0, Four());
    block(count - 4, Four());
  } else if (count >= 2) {
    block(0, Two());
    block(count - 2, Two());
  } else if (count == 1) {
    *to = *from;
  }
}
void Widen(const Float16* from, float* to, std::int64_t count);
void Widen(const BFloat16* from, float* to, std::int64_t count);

/// to[i] = from[i * step] for i < count.
template <typename Stored>
inline void WidenEvery(const Stored* from, std::int64_t step, Working<Stored>* to, std::int64_t count) {
  if (step == 1) return Widen(from, to, count);
  for (std::int64_t i = 0; i < count; ++i) to[i] = WidenOne(from[i * step]);
}

void Narrow(const float* from, Float16* to, std::int64_t count);
void Narrow(const float* from, BFloat16* to, std::int64_t count);

}  // namespace wgrad::optimized
