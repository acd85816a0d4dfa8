// The two gradient checks on random data, where results are rounded: the inner product with a derived tolerance, and
// the usual float32 difference beside it. Part of fuzz/gradient_check.
#pragma once

#include <cstdint>

#include "fuzz/gradient_check.h"

namespace wgrad::fuzz {

struct RoundedData {
  Tensor input;
  Tensor out_backprop;
  std::vector<float> filter;  // multiples of 1/256 in [-1, 1]
};
RoundedData DrawRounded(const Problem& problem, std::uint64_t seed);

/// |<conv2d(input, W), out_backprop> - <W, actual>| <= sum of |W| * (permitted error of the element). `exact_loss` is
/// the first product, exactly.
IdentityVerdict CheckRounded(const Problem& problem, const RoundedData& data, const oracle::Judging& judging,
                             const oracle::Rational& exact_loss, const Tensor& actual);

ClassicVerdict CheckClassic(const Problem& problem, const RoundedData& data, const Tensor& actual);

}  // namespace wgrad::fuzz
