#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/facts_range.h"

namespace wgrad::oracle {
namespace {

// 2^shift times a sum of n rounded additions, from above.
double UpperBound(double sum, std::int64_t n, int shift) {
  if (sum == 0) return 0;
  const double raised = sum * (1 + static_cast<double>(n + 4) * 0x1p-52);
  return std::nextafter(std::ldexp(raised, shift), std::numeric_limits<double>::infinity());
}

}  // namespace

AbsBounds BoundAbsSums(const RunPlanes& run, const ElementRange& range) {
  const std::int64_t positions = run.problem.positions();
  RangeRows rows(run, range, BestKernels());
  std::vector<std::uint64_t> inside(static_cast<std::size_t>(kChunk / 64));
  AbsBounds bounds{std::vector<double>(static_cast<std::size_t>(range.ic_end - range.ic_begin)),
                   std::vector<double>(static_cast<std::size_t>(range.oc_end - range.oc_begin))};
  for (std::int64_t begin = 0; begin < positions; begin += kChunk) {
    const std::int64_t end = std::min(positions, begin + kChunk);
    rows.Load(begin, end);
    rows.tap().InsideMask(begin, end, inside.data());
    for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
      if (rows.input_scan(ic).nonzeros == 0) continue;
      double& sum = bounds.input[static_cast<std::size_t>(ic - range.ic_begin)];
      for (std::int64_t i = 0; i < end - begin; ++i) sum += std::fabs(rows.input_row(ic)[i]);
    }
    for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc) {
      double& sum = bounds.out_backprop[static_cast<std::size_t>(oc - range.oc_begin)];
      for (std::int64_t i = 0; i < end - begin; ++i) {
        const bool is_inside = ((inside[static_cast<std::size_t>(i / 64)] >> (i % 64)) & 1) != 0;
        sum += is_inside ? std::fabs(rows.out_row(oc)[i]) : 0;
      }
    }
  }
  for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
    double& sum = bounds.input[static_cast<std::size_t>(ic - range.ic_begin)];
    sum = UpperBound(sum, positions, run.input.shift(rows.InputChannel(ic)));
  }
  for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc) {
    double& sum = bounds.out_backprop[static_cast<std::size_t>(oc - range.oc_begin)];
    sum = UpperBound(sum, positions, run.out_backprop.shift(oc));
  }
  return bounds;
}

}  // namespace wgrad::oracle
