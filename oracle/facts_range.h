// The exact sums and counts of one range of elements.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oracle/facts_plan.h"
#include "oracle/facts_rows.h"
#include "oracle/facts_sums.h"

namespace wgrad::oracle {

struct RangeSums {
  SumStore sums;                    // S and A by element
  std::vector<std::int64_t> terms;  // n by element
};

/// Sums the finite products of every element of `range`, exactly, by the routes that `limits` leaves open.
RangeSums SumRange(const RunPlanes& run, const ElementRange& range, const RouteLimits& limits);

/// For each element, how many finite products, rounded to nearest, are above its threshold.
std::vector<std::int64_t> CountAbove(const RunPlanes& run, const ElementRange& range, const Kernels& kernels,
                                     std::span<const double> thresholds);

/// Upper bounds of the sums of |input|, by ic, and of |out_backprop|, by oc, over the positions inside the image.
struct AbsBounds {
  std::vector<double> input;
  std::vector<double> out_backprop;
};
AbsBounds BoundAbsSums(const RunPlanes& run, const ElementRange& range);

/// CensusBits by element of `range`. Requires planes that keep their kinds.
std::vector<std::uint8_t> TakeCensus(const RunPlanes& run, const ElementRange& range);

}  // namespace wgrad::oracle
