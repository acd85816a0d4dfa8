#include "filter_gradient.h"

namespace my_kernels {
namespace {

using Index = std::int64_t;

struct Buffers {
  const float* input;
  const float* out_backprop;
  float* filter_backprop;
};

// The sum of one filter element over all positions, with `top` and `left` cells of padding.
float SumElement(const wgrad::Problem& problem, const Buffers& buffers, const Index (&element)[4], Index top,
                 Index left) {
  const auto [kh, kw, c, oc] = element;
  const wgrad::Axis& rows = problem.rows();
  const wgrad::Axis& columns = problem.columns();
  float sum = 0;
  for (Index n = 0; n < problem.batch(); ++n) {
    for (Index oh = 0; oh < rows.output; ++oh) {
      const Index ih = oh * rows.stride + kh * rows.dilation - top;
      if (ih < 0 || ih >= rows.input) continue;
      for (Index ow = 0; ow < columns.output; ++ow) {
        const Index iw = ow * columns.stride + kw * columns.dilation - left;
        if (iw < 0 || iw >= columns.input) continue;
        sum += buffers.input[problem.InputOffset(n, ih, iw, c)] *
               buffers.out_backprop[problem.OutBackpropOffset(n, oh, ow, oc)];
      }
    }
  }
  return sum;
}

wgrad::KernelStatus SumAll(const wgrad::Problem& problem, const Buffers& buffers, Index top, Index left) {
  for (Index kh = 0; kh < problem.rows().filter; ++kh) {
    for (Index kw = 0; kw < problem.columns().filter; ++kw) {
      for (Index c = 0; c < problem.filter_depth(); ++c) {
        for (Index oc = 0; oc < problem.out_depth(); ++oc) {
          buffers.filter_backprop[problem.FilterOffset(kh, kw, c, oc)] =
              SumElement(problem, buffers, {kh, kw, c, oc}, top, left);
        }
      }
    }
  }
  return {};
}

Buffers AsFloats(const void* input, const void* out_backprop, void* filter_backprop) {
  return {static_cast<const float*>(input), static_cast<const float*>(out_backprop),
          static_cast<float*>(filter_backprop)};
}

}  // namespace

wgrad::KernelStatus FilterGradient(const wgrad::Problem& problem, const void* input, const void* out_backprop,
                                   void* filter_backprop) {
  return SumAll(problem, AsFloats(input, out_backprop, filter_backprop), problem.rows().pad_before,
                problem.columns().pad_before);
}

wgrad::KernelStatus PadsOnTheWrongSide(const wgrad::Problem& problem, const void* input, const void* out_backprop,
                                       void* filter_backprop) {
  return SumAll(problem, AsFloats(input, out_backprop, filter_backprop), problem.rows().pad_after,
                problem.columns().pad_after);
}

}  // namespace my_kernels
