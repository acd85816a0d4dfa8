#include "reference/exact_map.h"

#include <cstdlib>

namespace wgrad::reference {
namespace {

Rational FromDyadic(const Dyadic& value) {
  Dyadic::Integer numerator = value.mantissa();
  Dyadic::Integer denominator = 1;
  (value.exponent() >= 0 ? numerator : denominator) <<= std::abs(value.exponent());
  return {numerator, denominator};
}

Dyadic Magnitude(const Dyadic& value) { return Abs(value); }
Rational Magnitude(const Rational& value) { return boost::multiprecision::abs(value); }

void Convert(double value, Dyadic& number) { number = Dyadic::FromDouble(value); }
void Convert(double value, Rational& number) { number = FromDyadic(Dyadic::FromDouble(value)); }

}  // namespace

template <typename Number>
void MapElement<Number>::AddProduct(const Number& left, const Number& right) {
  const Number product = left * right;
  if (product.is_zero()) return;
  sum = sum + product;
  abs_sum = abs_sum + Magnitude(product);
  ++terms;
}

template <typename Number>
std::vector<Number> ExactValues(const Tensor& tensor) {
  std::vector<Number> numbers(static_cast<std::size_t>(tensor.element_count()));
  for (std::size_t at = 0; at < numbers.size(); ++at) {
    Convert(tensor.value(static_cast<std::int64_t>(at)), numbers[at]);
  }
  return numbers;
}

template struct MapElement<Dyadic>;
template struct MapElement<Rational>;
template std::vector<Dyadic> ExactValues(const Tensor& tensor);
template std::vector<Rational> ExactValues(const Tensor& tensor);

}  // namespace wgrad::reference
