// float32 with the last bits of its significand dropped: TF32 and bfloat16 as formats of factors.
#pragma once

namespace wgrad::fuzz {

inline constexpr int kTf32Dropped = 13;
inline constexpr int kBFloat16Dropped = 16;

/// `value` without the `dropped` lowest bits: nearest with ties to even, or cut. NaN stays NaN, whatever its bits.
float NearestInBits(float value, int dropped);
float TruncatedInBits(float value, int dropped);

}  // namespace wgrad::fuzz
