// Sums that carry more digits than the result has.
#include <cmath>

#include "fuzz/kernels/right/error_free.h"
#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/terms.h"

namespace wgrad::fuzz {
namespace {

// Kahan 1965. An infinity or a NaN has no error to carry: the plain sum stands.
template <typename Real>
Real Kahan(std::span<const Real> products) {
  Real sum = 0;
  Real carried = 0;
  for (const Real product : products) {
    const Real addend = product - carried;
    const Real next = sum + addend;
    carried = (next - sum) - addend;
    sum = next;
    if (!std::isfinite(sum)) return SumInOrder(products);
  }
  return sum;
}

// Ogita, Rump, Oishi 2005.
template <typename Real>
Real Dot2(const Dot<Real>& dot) {
  Real sum = 0;
  Real errors = 0;
  for (const Term<Real>& term : dot.terms) {
    const WithError<Real> product = TwoProduct(term.x, term.dy);
    const WithError<Real> next = TwoSum(sum, product.value);
    sum = next.value;
    errors += product.error + next.error;
  }
  const Real result = sum + errors;
  return std::isfinite(result) ? result : SumInOrder(std::span<const Real>(ProductsOf(dot)));
}

}  // namespace

std::vector<Method> CompensatedMethods() {
  return {
      // Three roundings and terms of second order (docs/right-kernels.md).
      {Described("kahan", "compensated summation of rounded products", {.own = "depth:4"}),
       SumKernel([]<typename Real>(const Dot<Real>& dot) { return Kahan(std::span<const Real>(ProductsOf(dot))); })},
      {Described("dot2", "compensated dot product, as in twice the precision", {.own = "wide"}),
       SumKernel([](const auto& dot) { return Dot2(dot); })},
      {Described("float64_accumulate", "accumulates in float64, rounds once",
                 {.own = "wide:f64", .narrow = "wide:f64", .float64 = false}),
       SumKernel([](const auto& dot) {
         double sum = 0;
         for (const auto& term : dot.terms) sum += static_cast<double>(term.x) * static_cast<double>(term.dy);
         return sum;
       })},
  };
}

}  // namespace wgrad::fuzz
