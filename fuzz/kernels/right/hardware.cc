// Arithmetic of dot-product units: truncating additions, rounding to odd, and products aligned to the largest of a
// block (Fasi, Higham, Mikaitis, Pranesh 2021).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "fuzz/kernels/right/error_free.h"
#include "fuzz/kernels/right/float_bits.h"
#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/terms.h"

namespace wgrad::fuzz {
namespace {

template <typename Real>
Real TruncatingSum(const Dot<Real>& dot) {
  Real sum = 0;
  for (const Term<Real>& term : dot.terms) {
    sum = TowardsZero(TwoSum(sum, TowardsZero(TwoProduct(term.x, term.dy))));
  }
  return std::isfinite(sum) ? sum : SumInOrder(std::span<const Real>(ProductsOf(dot)));
}

// The float32 towards zero, with its last bit set where anything was lost; `error` tells what the double lacks.
float ToOdd(const WithError<double>& sum) {
  const float toward_zero = TowardsZero(
      WithError<float>{static_cast<float>(sum.value),
                       static_cast<float>(sum.value - static_cast<double>(static_cast<float>(sum.value)) + sum.error)});
  if (!std::isfinite(toward_zero)) return toward_zero;
  const bool exact = static_cast<double>(toward_zero) == sum.value && sum.error == 0;
  return exact ? toward_zero : std::bit_cast<float>(std::bit_cast<std::uint32_t>(toward_zero) | 1);
}

// Pairs of products as BFDOT adds them, each operation rounded to odd. Products of narrow factors are exact doubles.
template <typename Real>
float OddSum(const Dot<Real>& dot) {
  float sum = 0;
  for (std::size_t at = 0; at < dot.terms.size(); at += 2) {
    float pair = 0;
    for (const Term<Real>& term : dot.terms.subspan(at, std::min<std::size_t>(2, dot.terms.size() - at))) {
      const double product = static_cast<double>(term.x) * static_cast<double>(term.dy);
      pair = ToOdd(TwoSum<double>(pair, ToOdd({product, 0})));
    }
    sum = ToOdd(TwoSum<double>(sum, pair));
  }
  return sum;
}

// A tensor core: `width` exact products and the accumulator are cut to a common unit, added exactly, and the sum is cut
// to float32.
struct TensorCore {
  std::size_t width;
  int extra_bits;  // below the last place of the largest addend

  static double Cut(double value, int unit) { return std::ldexp(std::trunc(std::ldexp(value, -unit)), unit); }

  double Block(std::vector<double>& addends) const {
    int top = kFloat32Format.lowest_exponent();
    for (const double addend : addends) {
      if (!std::isfinite(addend)) return PlainSum(addends);
      if (addend != 0) top = std::max(top, std::ilogb(addend));
    }
    for (double& addend : addends) addend = Cut(addend, top - (kFloat32Format.precision - 1) - extra_bits);
    const double sum = PlainSum(addends);
    if (sum == 0) return sum;
    const int last = std::ilogb(sum) - (kFloat32Format.precision - 1);
    const double cut = Cut(sum, std::max(last, kFloat32Format.lowest_exponent()));
    const double overflow = std::ldexp(1.0, kFloat32Format.max_exponent + 1);
    return std::fabs(cut) >= overflow ? std::copysign(INFINITY, cut) : cut;
  }

  static double PlainSum(const std::vector<double>& addends) {
    double sum = 0;
    for (const double addend : addends) sum += addend;
    return sum;
  }

  template <typename Real>
  double operator()(const Dot<Real>& dot) const {
    const bool full = dot.problem.dtype() == DType::kFloat32;
    const auto factor = [full](Real value) {
      return static_cast<double>(full ? NearestInBits(static_cast<float>(value), kTf32Dropped)
                                      : static_cast<float>(value));
    };
    double sum = 0;
    for (std::size_t at = 0; at < dot.terms.size(); at += width) {
      std::vector<double> addends = {sum};
      for (const Term<Real>& term : dot.terms.subspan(at, std::min(width, dot.terms.size() - at))) {
        addends.push_back(factor(term.x) * factor(term.dy));
      }
      sum = Block(addends);
    }
    return sum;
  }
};

Method TensorCoreMethod(std::size_t width, int extra_bits) {
  const std::string name = "tensor_core_" + std::to_string(width);
  RightKernel kernel = Described(name,
                                 "blocks of " + std::to_string(width) + " products, aligned and cut with " +
                                     std::to_string(extra_bits) + " extra bits; float32 factors as TF32",
                                 {.own = "order_hw", .narrow = "wide_hw", .float64 = false});
  kernel.declaration.accuracy_class["f32"] = "input:tf32";
  return {kernel, SumKernel(TensorCore{width, extra_bits})};
}

}  // namespace

std::vector<Method> HardwareMethods() {
  RightKernel odd = Described("round_to_odd", "pairs of products, every operation rounded to odd",
                              {.own = "order_hw", .narrow = "wide_hw", .float64 = false});
  odd.capabilities.dtypes.erase("f32");  // such units take narrow factors
  odd.declaration.accuracy_class.erase("f32");
  return {
      TensorCoreMethod(4, 0),
      TensorCoreMethod(8, 1),
      TensorCoreMethod(16, 2),
      {Described("truncating", "every product and every sum cut towards zero",
                 {.own = "order_hw", .narrow = "wide_hw"}),
       SumKernel([](const auto& dot) { return TruncatingSum(dot); })},
      {odd, SumKernel([](const auto& dot) { return OddSum(dot); })},
  };
}

}  // namespace wgrad::fuzz
