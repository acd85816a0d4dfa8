// The exact gradient with respect to the input, conv2d_backprop_input: the other half of the adjoint. Written as a
// convolution of out_backprop, spread out by the stride, with the filter read backwards; so it shares loops and index
// expressions with none of the other maps.
#pragma once

#include <span>
#include <vector>

#include "core/problem.h"
#include "reference/exact_map.h"

namespace wgrad::reference {

/// Every element of the gradient, in the order of input of `problem`. `filter` is in the order of filter_backprop
/// (HWIO), `out_backprop` in that of out_backprop.
template <typename Number>
std::vector<MapElement<Number>> InputGradient(const Problem& problem, std::span<const Number> filter,
                                              std::span<const Number> out_backprop);

extern template std::vector<MapElement<Dyadic>> InputGradient(const Problem&, std::span<const Dyadic>,
                                                              std::span<const Dyadic>);
extern template std::vector<MapElement<Rational>> InputGradient(const Problem&, std::span<const Rational>,
                                                                std::span<const Rational>);

}  // namespace wgrad::reference
