// Scaled: operands whose channels were brought near 1 by powers of two, so that transforms neither over- nor underflow.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "fuzz/kernels/right/operands.h"

namespace wgrad::fuzz {

template <typename Real>
struct Scaled {
  Operands<Real> operands;
  std::vector<int> input_exponents;         // by c: the channel was divided by 2^exponent
  std::vector<int> out_backprop_exponents;  // by oc

  /// Undoes the scaling of an element's sum.
  double Unscaled(Real sum, std::int64_t c, std::int64_t oc) const {
    return std::ldexp(static_cast<double>(sum), input_exponents[static_cast<std::size_t>(c)] +
                                                    out_backprop_exponents[static_cast<std::size_t>(oc)]);
  }
};

/// Calls `visit(flat offset, channel)` for every element of a tensor with `count` elements and `channels` channels.
template <typename Visit>
void ForChannels(const Problem& problem, std::int64_t count, std::int64_t channels, Visit visit) {
  if (channels == 0 || problem.batch() == 0) return;
  const std::int64_t plane = count / problem.batch() / channels;
  for (std::int64_t at = 0; at < count; ++at) {
    const bool last = problem.data_format() == DataFormat::kNhwc;
    visit(static_cast<std::size_t>(at), static_cast<std::size_t>(last ? at % channels : at / plane % channels));
  }
}

/// Divides each channel by a power of two such that its largest magnitude lies in [1, 2). What is 2^100 times smaller
/// may underflow, far below any error that is relative to a norm. Channels of zeros or with an infinity or a NaN stay.
template <typename Real>
std::vector<int> ScaleChannels(const Problem& problem, std::int64_t channels, std::vector<Real>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::vector<Real> largest(static_cast<std::size_t>(channels));
  ForChannels(problem, count, channels, [&](std::size_t at, std::size_t channel) {
    const Real magnitude = std::fabs(values[at]);
    if (!(magnitude <= largest[channel]))
      largest[channel] = std::isnan(magnitude) ? std::numeric_limits<Real>::infinity() : magnitude;
  });
  std::vector<int> exponents;
  for (const Real value : largest) exponents.push_back(value == 0 || std::isinf(value) ? 0 : std::ilogb(value));
  ForChannels(problem, count, channels,
              [&](std::size_t at, std::size_t channel) { values[at] = std::ldexp(values[at], -exponents[channel]); });
  return exponents;
}

template <typename Real>
Scaled<Real> ScaledByChannel(const Operands<Real>& operands) {
  Scaled<Real> scaled{operands, {}, {}};
  const Problem& problem = operands.problem;
  scaled.input_exponents = ScaleChannels(problem, problem.input_depth(), scaled.operands.input);
  scaled.out_backprop_exponents = ScaleChannels(problem, problem.out_depth(), scaled.operands.out_backprop);
  return scaled;
}

/// All channels of a tensor by the same power of two.
template <typename Real>
Scaled<Real> ScaledByTensor(const Operands<Real>& operands) {
  Scaled<Real> scaled{operands, {}, {}};
  const Problem& problem = operands.problem;
  const auto scale = [](std::vector<Real>& values, std::int64_t channels) {
    Real largest = 0;
    for (const Real value : values) {
      if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    }
    const int exponent = largest == 0 ? 0 : std::ilogb(largest);
    for (Real& value : values) value = std::ldexp(value, -exponent);
    return std::vector<int>(static_cast<std::size_t>(channels), exponent);
  };
  scaled.input_exponents = scale(scaled.operands.input, problem.input_depth());
  scaled.out_backprop_exponents = scale(scaled.operands.out_backprop, problem.out_depth());
  return scaled;
}

}  // namespace wgrad::fuzz
