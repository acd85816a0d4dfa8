// Sums and products together with what rounding took from them.
#pragma once

#include <cmath>

namespace wgrad::fuzz {

template <typename Real>
struct WithError {
  Real value;
  Real error;  // value + error is exact while nothing over- or underflows
};

template <typename Real>
WithError<Real> TwoSum(Real a, Real b) {  // Knuth
  const Real sum = a + b;
  const Real of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

template <typename Real>
WithError<Real> TwoProduct(Real a, Real b) {
  const Real product = a * b;
  return {product, std::fma(a, b, -product)};
}

/// value + error rounded towards zero.
template <typename Real>
Real TowardsZero(const WithError<Real>& sum) {
  const bool away = (sum.value > 0 && sum.error < 0) || (sum.value < 0 && sum.error > 0);
  return away && std::isfinite(sum.value) ? std::nextafter(sum.value, Real{0}) : sum.value;
}

}  // namespace wgrad::fuzz
