// Two kernels of the project: float32, NHWC, any stride, dilation and padding, no groups.
#pragma once

#include "core/guarded_call.h"

namespace my_kernels {

/// filter_backprop[kh, kw, c, oc] in float arithmetic, summed in the order n, oh, ow.
wgrad::KernelStatus FilterGradient(const wgrad::Problem& problem, const void* input, const void* out_backprop,
                                   void* filter_backprop);

/// The same with a mistake: an odd amount of SAME padding puts its extra cell before the image, not after it.
wgrad::KernelStatus PadsOnTheWrongSide(const wgrad::Problem& problem, const void* input, const void* out_backprop,
                                       void* filter_backprop);

}  // namespace my_kernels
