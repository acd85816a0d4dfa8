#include "oracle/facts_plan.h"

#include <algorithm>
#include <bit>

namespace wgrad::oracle {
namespace {

// Products, their errors and all sigmas are normal doubles between these exponents.
constexpr int kLowestSafe = -960;
constexpr int kHighestSafe = 960;

}  // namespace

int CeilLog2(std::int64_t n) { return n <= 1 ? 0 : 64 - std::countl_zero(static_cast<std::uint64_t>(n - 1)); }

bool IsSparse(const RowScan& row, std::int64_t positions, const RouteLimits& limits) {
  if (limits.sparse_share == 0) return false;
  return row.nonzeros <= 1 || row.nonzeros * limits.sparse_share <= positions;
}

Planner::Planner(std::int64_t positions, const RouteLimits& limits)
    : limits_(limits),
      log_terms_(CeilLog2(positions)),
      log_chunk_(std::max(2, CeilLog2(std::min(positions, kChunk)))) {}

PairPlan Planner::Plan(const RowScan& input, const RowScan& out_backprop, bool sparse) const {
  PairPlan plan;
  if (input.nonzeros == 0 || out_backprop.nonzeros == 0) return plan;
  const int top = input.top + out_backprop.top;
  const int unit = input.lowest_bit + out_backprop.lowest_bit;
  const int width = top - unit;
  plan.top = static_cast<std::int16_t>(top);
  plan.unit = static_cast<std::int16_t>(unit);
  plan.wide = width + log_terms_ + 2 > limits_.narrow_bits;
  plan.route = sparse ? Route::kSparse : Route::kIntegers;
  if (sparse) return plan;
  const bool safe = unit >= kLowestSafe && top <= kHighestSafe;
  plan.two_product = !safe || input.significant_bits + out_backprop.significant_bits > 53;
  if (!safe) return plan;
  const int log_chunk = LogChunk(plan.two_product);
  // After L levels the remainder is at most 2^(top - L * (54 - log_chunk)) and must sum up as it is.
  const int beyond_plain = width - (53 - log_chunk);
  const int per_level = 54 - log_chunk;
  const int levels = beyond_plain <= 0 ? 0 : (beyond_plain + per_level - 1) / per_level;
  const int needed = plan.two_product ? std::max(levels, 1) : levels;
  if (needed > limits_.most_levels) return plan;
  plan.levels = static_cast<std::uint8_t>(needed);
  plan.route = Route::kKernel;
  return plan;
}

}  // namespace wgrad::oracle
