// What the exact maps of this folder share: numbers, and one element of a map's result.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <vector>

#include "core/tensor.h"
#include "reference/dyadic.h"

namespace wgrad::reference {

/// For what no Dyadic holds, such as a third.
using Rational = boost::multiprecision::cpp_rational;

/// An element of conv2d or conv2d_backprop_input. Number is Dyadic or Rational.
template <typename Number>
struct MapElement {
  Number sum = {};
  Number abs_sum = {};     // of |products|
  std::int64_t terms = 0;  // non-zero products

  void AddProduct(const Number& left, const Number& right);
};

/// All elements of `tensor`, which must be finite, in its own order.
template <typename Number>
std::vector<Number> ExactValues(const Tensor& tensor);

extern template struct MapElement<Dyadic>;
extern template struct MapElement<Rational>;
extern template std::vector<Dyadic> ExactValues(const Tensor& tensor);
extern template std::vector<Rational> ExactValues(const Tensor& tensor);

}  // namespace wgrad::reference
