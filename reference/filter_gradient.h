// The definition: exact sums of conv2d_backprop_filter by the plain formula. Slow on purpose.
// May include: core. Fixed-width integers of Boost.Multiprecision, wide enough for each dtype to be exact.
#pragma once

#include <cstdint>
#include <vector>

#include "core/candidate.h"
#include "core/problem.h"
#include "core/tensor.h"
#include "reference/dyadic.h"

namespace wgrad::reference {

/// Exact quantities of one element of filter_backprop. Sums run over the finite products of positions inside the
/// image; the flags tell which non-finite ones there are (numbers as in docs/error-bounds.md, section 1).
struct ExactElement {
  Dyadic positive;                 // sum of the positive products
  Dyadic negative;                 // sum of the magnitudes of the negative products
  std::int64_t terms = 0;          // non-zero finite products
  bool nan = false;                // a NaN factor, or 0 * Inf, inside the image
  bool plus_infinity = false;      // a product +Inf out of an infinite factor, inside the image
  bool minus_infinity = false;     // likewise -Inf
  bool padding_nonfinite = false;  // a NaN or Inf of out_backprop whose input position is padding

  Dyadic sum() const { return positive - negative; }
  Dyadic abs_sum() const { return positive + negative; }
};

bool operator==(const ExactElement& a, const ExactElement& b);

/// One element, by the membership test 0 <= oh*stride + kh*dilation - pad < height and no other index algebra.
ExactElement SumElement(const Problem& problem, const Tensor& input, const Tensor& out_backprop, std::int64_t kh,
                        std::int64_t kw, std::int64_t ic, std::int64_t oc);

/// All elements, row-major in (kh, kw, ic, oc): seven plain loops.
std::vector<ExactElement> FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop);

/// The correctly rounded bits of `element` in `dtype`: nearest, ties to even; NaN for a NaN or for infinities of
/// both signs; padding is skipped.
std::uint64_t RoundedBits(const ExactElement& element, DType dtype);

/// The correctly rounded result, [kh, kw, ic, oc] in the problem's result dtype.
Tensor RoundedFilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop);

/// `reference` as a candidate: declares class cr and determinism.
std::unique_ptr<Candidate> MakeReferenceCandidate();

}  // namespace wgrad::reference
