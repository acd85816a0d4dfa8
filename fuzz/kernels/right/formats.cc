// Other formats for the factors or for the sum.
#include <bit>
#include <cmath>
#include <cstdint>

#include "fuzz/kernels/right/float_bits.h"
#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/terms.h"

namespace wgrad::fuzz {
namespace {

template <typename Round>
RawKernel RoundedInputs(Round round) {
  return SumKernel([round](const auto& dot) {
    float sum = 0;
    for (const auto& term : dot.terms) {
      sum = std::fma(round(static_cast<float>(term.x)), round(static_cast<float>(term.dy)), sum);
    }
    return sum;
  });
}

// x = high + low, both bfloat16; the product of the two low parts is left out.
float BFloat16Times3(float sum, float x, float dy) {
  const float x_high = NearestInBits(x, kBFloat16Dropped);
  const float dy_high = NearestInBits(dy, kBFloat16Dropped);
  const float x_low = NearestInBits(x - x_high, kBFloat16Dropped);
  const float dy_low = NearestInBits(dy - dy_high, kBFloat16Dropped);
  return std::fma(x_high, dy_high, std::fma(x_high, dy_low, std::fma(x_low, dy_high, sum)));
}

template <typename Real>
double NarrowSum(const Dot<Real>& dot) {
  const DType dtype = dot.problem.result_dtype();
  const auto keep = [dtype](double value) { return DecodeBits(dtype, EncodeNearest(dtype, value)); };
  double sum = 0;
  for (const Term<Real>& term : dot.terms) {
    sum = keep(sum + keep(static_cast<double>(term.x) * static_cast<double>(term.dy)));
  }
  return sum;
}

}  // namespace

std::vector<Method> FormatMethods() {
  const auto inputs = [](const std::string& format) {
    return Classes{.own = "input:" + format, .narrow = "", .float64 = false, .mixed = false};
  };
  return {
      {Described("tf32", "factors rounded to TF32", inputs("tf32")),
       RoundedInputs([](float value) { return NearestInBits(value, kTf32Dropped); })},
      {Described("tf32_truncated", "factors cut to TF32", inputs("tf32")),
       RoundedInputs([](float value) { return TruncatedInBits(value, kTf32Dropped); })},
      {Described("bf16_inputs", "factors rounded to bfloat16", inputs("bf16")),
       RoundedInputs([](float value) { return NearestInBits(value, kBFloat16Dropped); })},
      {Described("bf16x3", "factors split in two bfloat16, three of the four products", inputs("bf16x3")),
       SumKernel([](const auto& dot) {
         float sum = 0;
         for (const auto& term : dot.terms) {
           sum = BFloat16Times3(sum, static_cast<float>(term.x), static_cast<float>(term.dy));
         }
         return sum;
       })},
      {Described("narrow_accumulator", "rounds every product and every sum to half or bfloat16",
                 {.own = "", .narrow = "order"}),
       SumKernel([](const auto& dot) { return NarrowSum(dot); })},
  };
}

}  // namespace wgrad::fuzz
