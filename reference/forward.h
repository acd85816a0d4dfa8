// The exact forward convolution y = conv2d(input, filter), of which the filter gradient is one half of the adjoint.
// Windows are walked over an image with its padding around it: no index expression of filter_gradient.cc appears.
#pragma once

#include <span>
#include <vector>

#include "core/problem.h"
#include "reference/exact_map.h"

namespace wgrad::reference {

/// Every output, in the order of out_backprop of `problem`. `input` is in the order of input, `filter` in that of
/// filter_backprop (HWIO).
template <typename Number>
std::vector<MapElement<Number>> Forward(const Problem& problem, std::span<const Number> input,
                                        std::span<const Number> filter);

extern template std::vector<MapElement<Dyadic>> Forward(const Problem&, std::span<const Dyadic>,
                                                        std::span<const Dyadic>);
extern template std::vector<MapElement<Rational>> Forward(const Problem&, std::span<const Rational>,
                                                          std::span<const Rational>);

}  // namespace wgrad::reference
