// One element while CaseJudge judges it. Internal to the judge's own files.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>

#include "oracle/judge.h"

namespace wgrad::oracle {

/// Distances from a finite value of a format to its neighbours, away from zero and towards zero.
struct Gaps {
  double outward;
  double inward;
};

inline Gaps GapsAt(double value, const FloatFormat& format) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = std::max(static_cast<int>(bits >> 52 & 0x7ff) - 1023, format.min_exponent);
  const int last_place = exponent - format.precision + 1;
  // Below double's normal range a power of two has no exponent field of its own.
  const double ulp = last_place < -1022 ? std::ldexp(1.0, last_place)
                                        : std::bit_cast<double>(static_cast<std::uint64_t>(last_place + 1023) << 52);
  const bool power_of_two = (bits & ((std::uint64_t{1} << 52) - 1)) == 0;
  return {ulp, power_of_two && exponent > format.min_exponent ? ulp / 2 : ulp};
}

/// The channel of input that feeds element (ic, oc).
inline std::int64_t InputChannel(const Problem& problem, std::int64_t ic, std::int64_t oc) {
  return oc / problem.out_depth_per_group() * problem.filter_depth() + ic;
}

/// One element of the run: what it is, and what the certified shortcuts found out so far.
struct CaseJudge::Element {
  const FactsBlock& block;
  std::int64_t at;  // in the block
  std::array<std::int64_t, 4> index;
  std::uint64_t bits;
  double actual;
  std::int64_t terms;
  std::uint8_t census;
  DoubleDouble sum;
  DoubleDouble abs_sum;
  bool finite_terms = false;  // what is not finite is no term of the sum: S is its exact value
  bool quick = false;         // finite throughout, far from every overflow: doubles may decide where they are certain
  double error = 0;           // |actual - S| in doubles, where quick
  double error_low = 0;       // error_low <= |actual - S| <= error_high where quick
  double error_high = 0;
  Gaps gaps{};            // around actual
  double gap_to_sum = 0;  // from actual to its neighbour on S's side
  std::optional<bool> correctly_rounded = std::nullopt;
  std::optional<ErrorRange> permitted = std::nullopt;  // by the judging class, once asked for
};

}  // namespace wgrad::oracle
