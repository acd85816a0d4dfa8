// The only source of randomness: SplitMix64, indexed, so that data depend on (seed, index) alone.
#pragma once

#include <cstdint>

namespace wgrad {

/// Element `index` (from 0) of the SplitMix64 stream of `seed`. Ten lines in any language.
constexpr std::uint64_t SplitMix64(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z = seed + (index + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// A seed of its own for stream `stream` of `seed`, e.g. one per tensor.
constexpr std::uint64_t DeriveSeed(std::uint64_t seed, std::uint64_t stream) {
  return SplitMix64(seed ^ 0x5DEECE66D1234567u, stream);
}

}  // namespace wgrad
