#include "core/geometry.h"

#include <algorithm>
#include <limits>

namespace wgrad {
namespace {

__extension__ using Int128 = __int128;

constexpr Int128 kMax = std::numeric_limits<std::int64_t>::max();

Axis WithOutput(Axis axis, Int128 effective_filter, Int128 output) {
  const Int128 padded = Int128{axis.input} + axis.pad_before + axis.pad_after;
  // A padded image and a dilated filter within 63 bits keep every position o*stride + k*dilation within them too.
  const bool leaves_63_bits = output > kMax || padded > kMax || effective_filter > kMax;
  // Truncation makes every size in (-stride, 0) zero; what is still negative is refused (V22, V24).
  axis.output = output < 0 ? -1 : leaves_63_bits ? -2 : static_cast<std::int64_t>(output);
  return axis;
}

}  // namespace

Axis ComputeAxis(Axis axis, Padding padding) {
  const Int128 effective_filter = Int128{axis.filter - 1} * axis.dilation + 1;
  if (padding == Padding::kSame) {
    const Int128 output = (Int128{axis.input} + axis.stride - 1) / axis.stride;
    const Int128 total = std::max<Int128>(0, (output - 1) * axis.stride + effective_filter - axis.input);
    if (total > kMax) return WithOutput(axis, effective_filter, kMax + 1);
    axis.pad_before = static_cast<std::int64_t>(total / 2);
    axis.pad_after = static_cast<std::int64_t>(total - total / 2);
    return WithOutput(axis, effective_filter, output);
  }
  if (padding == Padding::kValid) axis.pad_before = axis.pad_after = 0;
  const Int128 padded = Int128{axis.input} + axis.pad_before + axis.pad_after;
  return WithOutput(axis, effective_filter, (padded - effective_filter + axis.stride) / axis.stride);
}

}  // namespace wgrad
