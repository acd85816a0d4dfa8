// The same sums by other loops: by pixel, by range, by matrix product.
#include <algorithm>
#include <array>

#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/operands.h"

namespace wgrad::fuzz {
namespace {

template <typename Real>
void Keep(const std::vector<Real>& accumulators, Sums& sums) {
  for (std::size_t at = 0; at < sums.size(); ++at) sums[at] = static_cast<double>(accumulators[at]);
}

// Adds the products of one pixel of out_backprop and one tap, all channels.
template <typename Real>
void AddPixel(const Operands<Real>& o, const std::array<std::int64_t, 5>& at, std::int64_t ih, std::int64_t iw,
              std::vector<Real>& accumulators) {
  const auto [n, oh, ow, kh, kw] = at;
  for (std::int64_t ic = 0; ic < o.problem.filter_depth(); ++ic) {
    for (std::int64_t oc = 0; oc < o.problem.out_depth(); ++oc) {
      const Real x = o.Input(n, ih, iw, InputChannelOf(o.problem, ic, oc));
      accumulators[static_cast<std::size_t>(o.problem.FilterOffset(kh, kw, ic, oc))] +=
          x * o.OutBackprop(n, oh, ow, oc);
    }
  }
}

// Every pixel of out_backprop is scattered to the taps that it meets.
template <typename Real>
void Direct(const Operands<Real>& o, Sums& sums) {
  const Axis& rows = o.problem.rows();
  const Axis& columns = o.problem.columns();
  std::vector<Real> accumulators(sums.size());
  for (std::int64_t n = 0; n < o.problem.batch(); ++n) {
    for (std::int64_t oh = 0; oh < rows.output; ++oh) {
      for (std::int64_t ow = 0; ow < columns.output; ++ow) {
        for (std::int64_t kh = 0; kh < rows.filter; ++kh) {
          for (std::int64_t kw = 0; kw < columns.filter; ++kw) {
            const std::int64_t ih = oh * rows.stride + kh * rows.dilation - rows.pad_before;
            const std::int64_t iw = ow * columns.stride + kw * columns.dilation - columns.pad_before;
            if (o.Inside(ih, iw)) AddPixel(o, {n, oh, ow, kh, kw}, ih, iw, accumulators);
          }
        }
      }
    }
  }
  Keep(accumulators, sums);
}

// The outputs [first, last) whose input lies inside the image for tap k.
struct Range {
  std::int64_t first, last;
};
Range InsideRange(const Axis& axis, std::int64_t k) {
  const std::int64_t shift = axis.pad_before - k * axis.dilation;  // output o reads o * stride - shift
  const auto ceil_div = [&](std::int64_t a) { return a <= 0 ? 0 : (a + axis.stride - 1) / axis.stride; };
  return {ceil_div(shift), std::min(axis.output, ceil_div(axis.input + shift))};
}

// `add_row(n, oh, ows)` for the rows of pixels whose input lies inside the image for one tap.
template <typename AddRow>
void ForRowsInside(const Problem& problem, std::int64_t kh, std::int64_t kw, AddRow add_row) {
  const Range ohs = InsideRange(problem.rows(), kh);
  const Range ows = InsideRange(problem.columns(), kw);
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (std::int64_t oh = ohs.first; oh < ohs.last; ++oh) add_row(n, oh, ows);
  }
}

// The dot product of a row of pixels, from `sum` on.
template <typename Real>
struct RowDot {
  const Operands<Real>& o;
  std::int64_t kh, kw, ic, oc;

  Real operator()(std::int64_t n, std::int64_t oh, const Range& ows, Real sum) const {
    const Axis& rows = o.problem.rows();
    const Axis& columns = o.problem.columns();
    const std::int64_t ih = oh * rows.stride + kh * rows.dilation - rows.pad_before;
    for (std::int64_t ow = ows.first; ow < ows.last; ++ow) {
      const std::int64_t iw = ow * columns.stride + kw * columns.dilation - columns.pad_before;
      sum += o.Input(n, ih, iw, InputChannelOf(o.problem, ic, oc)) * o.OutBackprop(n, oh, ow, oc);
    }
    return sum;
  }
};

// `sum_element(row dot) -> Real` for every element.
template <typename Real, typename SumElement>
void ForElements(const Operands<Real>& o, Sums& sums, SumElement sum_element) {
  for (std::int64_t kh = 0; kh < o.problem.rows().filter; ++kh) {
    for (std::int64_t kw = 0; kw < o.problem.columns().filter; ++kw) {
      for (std::int64_t ic = 0; ic < o.problem.filter_depth(); ++ic) {
        for (std::int64_t oc = 0; oc < o.problem.out_depth(); ++oc) {
          const Real sum = sum_element(RowDot<Real>{o, kh, kw, ic, oc});
          sums[static_cast<std::size_t>(o.problem.FilterOffset(kh, kw, ic, oc))] = static_cast<double>(sum);
        }
      }
    }
  }
}

// Loops that begin and end at the image's border instead of asking at each pixel.
template <typename Real>
void SkipPadding(const Operands<Real>& o, Sums& sums) {
  ForElements(o, sums, [&](const RowDot<Real>& dot) {
    Real sum = 0;
    ForRowsInside(o.problem, dot.kh, dot.kw,
                  [&](std::int64_t n, std::int64_t oh, const Range& ows) { sum = dot(n, oh, ows, sum); });
    return sum;
  });
}

// A matrix product for each tap and row of the shifted image, added to the result.
template <typename Real>
void ShiftedGemm(const Operands<Real>& o, Sums& sums) {
  ForElements(o, sums, [&](const RowDot<Real>& dot) {
    Real sum = 0;
    ForRowsInside(o.problem, dot.kh, dot.kw,
                  [&](std::int64_t n, std::int64_t oh, const Range& ows) { sum += dot(n, oh, ows, Real{0}); });
    return sum;
  });
}

// The inputs that position m of the output meets, all taps and channels of a group: one row of the unrolled image.
template <typename Real>
void Unroll(const Operands<Real>& o, std::int64_t m, std::int64_t group, Real* row) {
  const Axis& rows = o.problem.rows();
  const Axis& columns = o.problem.columns();
  const std::int64_t ow = m % columns.output;
  const std::int64_t oh = m / columns.output % rows.output;
  const std::int64_t n = m / columns.output / rows.output;
  for (std::int64_t kh = 0; kh < rows.filter; ++kh) {
    for (std::int64_t kw = 0; kw < columns.filter; ++kw) {
      for (std::int64_t ic = 0; ic < o.problem.filter_depth(); ++ic) {
        *row++ = o.Input(n, oh * rows.stride + kh * rows.dilation - rows.pad_before,
                         ow * columns.stride + kw * columns.dilation - columns.pad_before,
                         group * o.problem.filter_depth() + ic);
      }
    }
  }
}

// Adds unrolled^T * out_backprop of `count` positions from `start` on.
template <typename Real>
void AddProduct(const Operands<Real>& o, std::int64_t group, std::int64_t start, const std::vector<Real>& unrolled,
                std::vector<Real>& accumulators) {
  const Problem& problem = o.problem;
  const std::int64_t width = problem.rows().filter * problem.columns().filter * problem.filter_depth();
  const std::int64_t count = static_cast<std::int64_t>(unrolled.size()) / width;
  const std::int64_t pixels = problem.rows().output * problem.columns().output;
  for (std::int64_t column = 0; column < width; ++column) {
    for (std::int64_t i = 0; i < problem.out_depth_per_group(); ++i) {
      const std::int64_t oc = group * problem.out_depth_per_group() + i;
      Real sum = 0;
      for (std::int64_t row = 0; row < count; ++row) {
        const std::int64_t m = start + row;
        sum += unrolled[static_cast<std::size_t>(row * width + column)] *
               o.OutBackprop(m / pixels, m % pixels / problem.columns().output, m % problem.columns().output, oc);
      }
      accumulators[static_cast<std::size_t>(column * problem.out_depth() + oc)] += sum;
    }
  }
}

// Unrolls 32 positions at a time, zeros for the padding, and multiplies the matrices.
template <typename Real>
void Im2col(const Operands<Real>& o, Sums& sums) {
  constexpr std::int64_t kPositions = 32;
  if (sums.empty()) return;
  const std::int64_t width = o.problem.rows().filter * o.problem.columns().filter * o.problem.filter_depth();
  std::vector<Real> accumulators(sums.size());
  for (std::int64_t group = 0; group < o.problem.groups(); ++group) {
    for (std::int64_t start = 0; start < o.problem.positions(); start += kPositions) {
      const std::int64_t count = std::min(kPositions, o.problem.positions() - start);
      std::vector<Real> unrolled(static_cast<std::size_t>(count * width));
      for (std::int64_t row = 0; row < count; ++row) {
        Unroll(o, start + row, group, unrolled.data() + row * width);
      }
      AddProduct(o, group, start, unrolled, accumulators);
    }
  }
  Keep(accumulators, sums);
}

template <typename Compute>
RawKernel Always(Compute compute) {
  return WorkingKernel([compute](const auto& operands, Sums& sums) {
    compute(operands, sums);
    return KernelStatus{};
  });
}

}  // namespace

std::vector<Method> LoopMethods() {
  const Classes classes{.own = "order"};
  RightKernel im2col =
      Described("im2col", "unrolls 32 positions at a time, padding as zeros, and multiplies matrices", classes);
  im2col.declaration.pad = "multiply";
  return {
      {Described("skip_padding", "loops that begin and end at the image's border", classes),
       Always([](const auto& operands, Sums& sums) { SkipPadding(operands, sums); })},
      {Described("direct", "scatters each pixel of out_backprop to the taps that it meets", classes),
       Always([](const auto& operands, Sums& sums) { Direct(operands, sums); })},
      {im2col, Always([](const auto& operands, Sums& sums) { Im2col(operands, sums); })},
      {Described("shifted_gemm", "for each tap a matrix product with the shifted image, row by row", classes),
       Always([](const auto& operands, Sums& sums) { ShiftedGemm(operands, sums); })},
  };
}

}  // namespace wgrad::fuzz
