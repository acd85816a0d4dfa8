// One spatial axis: sizes, stride, dilation and padding. The arithmetic of docs/spec.md, rules G1 to G4.
#pragma once

#include <cstdint>

namespace wgrad {

enum class Padding : std::uint8_t { kSame, kValid, kExplicit };

/// One spatial axis of a validated problem. Output o and tap k meet at input o*stride + k*dilation - pad_before.
struct Axis {
  std::int64_t input = 0;
  std::int64_t filter = 0;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;
  std::int64_t output = 0;

  friend bool operator==(const Axis&, const Axis&) = default;
};

/// Output size and padding of one axis (G1 to G3): division truncates towards zero, an odd SAME
/// total puts the extra cell after. `axis` brings input, filter, stride, dilation, and for
/// kExplicit the pads; the rest is computed. `output` is -1 where the computed size is negative,
/// -2 where the arithmetic leaves 63 bits.
/// Requires: stride, dilation >= 1; input, filter, pads >= 0.
Axis ComputeAxis(Axis axis, Padding padding);

}  // namespace wgrad
