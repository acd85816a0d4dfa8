// The second derivation: the filter gradient through the forward convolution.
// The forward map y = conv2d(input, filter) is linear in the filter, so element k of the gradient of <y, out_backprop>
// is <conv2d(input, e_k), out_backprop> for the basis filter e_k: no difference quotient, no error.
// It shares neither loops nor index expressions with filter_gradient.cc.
#pragma once

#include <vector>

#include "reference/filter_gradient.h"

namespace wgrad::reference {

/// All elements, row-major in (kh, kw, ic, oc), by basis probes of the forward convolution.
std::vector<ExactElement> FilterGradientByForward(const Problem& problem, const Tensor& input,
                                                  const Tensor& out_backprop);

/// One element by the same route.
ExactElement SumElementByForward(const Problem& problem, const Tensor& input, const Tensor& out_backprop,
                                 std::int64_t kh, std::int64_t kw, std::int64_t ic, std::int64_t oc);

}  // namespace wgrad::reference
