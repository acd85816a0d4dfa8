// What IEEE 754 and the operator leave open, each decided the other way and declared.
#include <cmath>

#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/terms.h"

namespace wgrad::fuzz {
namespace {

double Flushed(double value, const FloatFormat& format) {
  return std::fabs(value) < std::ldexp(1.0, format.min_exponent) ? std::copysign(0.0, value) : value;
}

template <typename Real>
double FlushingSum(const Dot<Real>& dot) {
  const FloatFormat& working = sizeof(Real) == sizeof(double) ? kFloat64Format : kFloat32Format;
  const auto flushed = [](Real value, const FloatFormat& format) {
    return static_cast<Real>(Flushed(static_cast<double>(value), format));
  };
  const FloatFormat& factors = FormatOf(dot.problem.dtype());
  Real sum = 0;
  for (const Term<Real>& term : dot.terms) {
    const Real product = flushed(flushed(term.x, factors) * flushed(term.dy, factors), working);
    sum = flushed(sum + product, working);
  }
  return Flushed(static_cast<double>(sum), FormatOf(dot.problem.result_dtype()));
}

template <typename Real>
double SaturatedSum(const Dot<Real>& dot) {
  const DType dtype = dot.problem.result_dtype();
  const auto sum = static_cast<double>(SumInOrder(std::span<const Real>(ProductsOf(dot))));
  if (!IsInf(dtype, EncodeNearest(dtype, sum))) return sum;
  return DecodeBits(dtype, LargestFiniteBits(dtype, sum < 0));
}

Method WithPolicy(Method method, void (*declare)(Declaration&)) {
  declare(method.kernel.declaration);
  return method;
}

}  // namespace

std::vector<Method> PolicyMethods() {
  const Classes classes{.own = "order"};
  const auto forward = []<typename Real>(const Dot<Real>& dot) {
    return SumInOrder(std::span<const Real>(ProductsOf(dot)));
  };
  return {
      WithPolicy({Described("multiply_padding", "multiplies the padding's zeros like any input", classes),
                  SumKernel(forward, PaddingTerms::kMultiplied)},
                 [](Declaration& declaration) { declaration.pad = "multiply"; }),
      WithPolicy({Described("flush_to_zero", "reads subnormal factors as zero, flushes subnormal results", classes),
                  SumKernel([](const auto& dot) { return FlushingSum(dot); })},
                 [](Declaration& declaration) { declaration.ftz = declaration.daz = true; }),
      WithPolicy({Described("zero_skip", "leaves out terms with a zero factor, 0 * Inf among them", classes),
                  SumKernel([]<typename Real>(const Dot<Real>& dot) {
                    Real sum = 0;
                    for (const Term<Real>& term : dot.terms) {
                      if (term.x != 0 && term.dy != 0) sum += term.x * term.dy;
                    }
                    return sum;
                  })},
                 [](Declaration& declaration) { declaration.zero_skip = true; }),
      WithPolicy({Described("saturate", "the largest finite value in place of an infinity", classes),
                  SumKernel([](const auto& dot) { return SaturatedSum(dot); })},
                 [](Declaration& declaration) { declaration.saturate = true; }),
  };
}

}  // namespace wgrad::fuzz
