// Dot: the dot product that an element of filter_backprop is, gathered in working precision; and kernels that differ
// in nothing but how they sum it.
#pragma once

#include <span>
#include <vector>

#include "fuzz/kernels/right/operands.h"

namespace wgrad::fuzz {

/// The two factors of a product.
template <typename Real>
struct Term {
  Real x;
  Real dy;
};

template <typename Real>
struct Dot {
  using Value = Real;

  const Problem& problem;
  std::span<const Term<Real>> terms;  // in the order n, oh, ow; equally many for each image
};

/// What becomes of positions whose input lies in the padding.
enum class PaddingTerms { kSkipped, kMultiplied };

/// Where the input of a position lies for one tap.
struct Meeting {
  std::int64_t n, oh, ow, ih, iw;
};

/// The positions of tap (kh, kw) in the order n, oh, ow.
template <typename Real>
std::vector<Meeting> MeetingsOf(const Operands<Real>& operands, std::int64_t kh, std::int64_t kw,
                                PaddingTerms padding) {
  const Axis& rows = operands.problem.rows();
  const Axis& columns = operands.problem.columns();
  std::vector<Meeting> meetings;
  for (std::int64_t n = 0; n < operands.problem.batch(); ++n) {
    for (std::int64_t oh = 0; oh < rows.output; ++oh) {
      for (std::int64_t ow = 0; ow < columns.output; ++ow) {
        const std::int64_t ih = oh * rows.stride + kh * rows.dilation - rows.pad_before;
        const std::int64_t iw = ow * columns.stride + kw * columns.dilation - columns.pad_before;
        if (padding == PaddingTerms::kMultiplied || operands.Inside(ih, iw)) meetings.push_back({n, oh, ow, ih, iw});
      }
    }
  }
  return meetings;
}

/// The kernel whose elements are `sum(const Dot<Real>&)`, for Real float and double; what it returns is stored nearest.
template <typename Sum>
RawKernel SumKernel(Sum sum, PaddingTerms padding = PaddingTerms::kSkipped) {
  return WorkingKernel([sum, padding](const auto& operands, Sums& sums) {
    using Real = typename std::decay_t<decltype(operands)>::Value;
    const Problem& problem = operands.problem;
    std::vector<Term<Real>> terms;
    for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
      for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
        const std::vector<Meeting> meetings = MeetingsOf(operands, kh, kw, padding);
        for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
          for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
            const std::int64_t c = InputChannelOf(problem, ic, oc);
            terms.clear();
            for (const Meeting& m : meetings) {
              terms.push_back({operands.Input(m.n, m.ih, m.iw, c), operands.OutBackprop(m.n, m.oh, m.ow, oc)});
            }
            const std::size_t at = static_cast<std::size_t>(problem.FilterOffset(kh, kw, ic, oc));
            sums[at] = static_cast<double>(sum(Dot<Real>{problem, terms}));
          }
        }
      }
    }
    return KernelStatus{};
  });
}

/// The products, each rounded once.
template <typename Real>
std::vector<Real> ProductsOf(const Dot<Real>& dot) {
  std::vector<Real> products;
  products.reserve(dot.terms.size());
  for (const Term<Real>& term : dot.terms) products.push_back(term.x * term.dy);
  return products;
}

/// One after the other, from zero.
template <typename Real>
Real SumInOrder(std::span<const Real> values) {
  Real sum = 0;
  for (const Real value : values) sum += value;
  return sum;
}

}  // namespace wgrad::fuzz
