#include "fuzz/kernels/right/float_bits.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace wgrad::fuzz {
namespace {

std::uint32_t Mask(int dropped) { return ~((std::uint32_t{1} << dropped) - 1); }

}  // namespace

float NearestInBits(float value, int dropped) {
  if (!std::isfinite(value)) return value;
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t odd = (bits >> dropped) & 1;
  // A carry runs into the exponent, at the top to infinity, which is what rounding means.
  return std::bit_cast<float>((bits + (std::uint32_t{1} << (dropped - 1)) - 1 + odd) & Mask(dropped));
}

float TruncatedInBits(float value, int dropped) {
  if (!std::isfinite(value)) return value;  // the bits of a NaN may all be among the dropped
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & Mask(dropped));
}

}  // namespace wgrad::fuzz
