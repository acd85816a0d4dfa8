#include "fuzz/relations/exact_data.h"

#include <algorithm>
#include <cmath>

#include "core/check.h"

namespace wgrad::fuzz {
namespace {

// Eight bits, which TF32 and bfloat16 hold too; float64 takes more, so that a float32 accumulator is not enough.
constexpr std::int64_t kMostOfNarrow = 255;
constexpr std::int64_t kMostOfFloat64 = std::int64_t{1} << 24;
constexpr int kMostBits = 52;  // of a sum: two of them can be added as doubles

// A non-zero integer of magnitude in [ceil(max / 2), max]: large enough that sums use the range they may use.
double Integer(std::int64_t max, Draws& draws) {
  const std::int64_t low = (max + 1) / 2;
  const std::int64_t magnitude = low + draws.Below(max - low + 1);
  return static_cast<double>(draws.Below(2) == 0 ? magnitude : -magnitude);
}

// The first position of part j of `parts` equal parts.
std::int64_t PartBegin(std::int64_t positions, std::int64_t j, std::int64_t parts) { return positions * j / parts; }

std::int64_t OffsetOfPosition(const Problem& problem, std::int64_t position, std::int64_t oc) {
  const std::int64_t width = problem.columns().output;
  const std::int64_t area = problem.rows().output * width;
  return problem.OutBackpropOffset(position / area, position % area / width, position % width, oc);
}

}  // namespace

std::int64_t Draws::Below(std::int64_t count) {
  WGRAD_CHECK(count >= 1, "nothing can be drawn from nothing");
  return static_cast<std::int64_t>(SplitMix64(seed_, index_++) % static_cast<std::uint64_t>(count));
}

IntegerPlan PlanIntegers(const Problem& problem, const oracle::ClassBound& bound, bool results_too) {
  const FloatFormat& out = FormatOf(problem.result_dtype());
  const FloatFormat& accumulator = bound.accumulator();
  const bool rounds_results = bound.store() == oracle::Store::kFaithful || bound.accuracy_class().splits > 1;
  int bits = accumulator.precision;
  if (results_too || rounds_results) bits = std::min(bits, out.precision);
  bits = std::min({bits, kMostBits, out.max_exponent, accumulator.max_exponent});
  IntegerPlan plan;
  plan.limit = std::int64_t{1} << bits;
  plan.kept = std::min(problem.positions(), plan.limit);
  const std::int64_t product = plan.limit / std::max<std::int64_t>(1, plan.kept);
  const std::int64_t most = problem.dtype() == DType::kFloat64 ? kMostOfFloat64 : kMostOfNarrow;
  const auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(product)));
  plan.input_max = std::clamp<std::int64_t>(root, 1, most);
  plan.out_backprop_max = std::clamp<std::int64_t>(product / plan.input_max, 1, most);
  return plan;
}

Operands DrawIntegers(const Problem& problem, const IntegerPlan& plan, std::uint64_t seed) {
  Operands operands{Tensor(problem.dtype(), problem.input_shape()),
                    Tensor(problem.dtype(), problem.out_backprop_shape())};
  Draws draws(seed);
  for (std::int64_t at = 0; at < operands.input.element_count(); ++at) {
    operands.input.set_value(at, Integer(plan.input_max, draws));
  }
  for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
    for (std::int64_t j = 0; j < plan.kept; ++j) {
      const std::int64_t begin = PartBegin(problem.positions(), j, plan.kept);
      const std::int64_t position = begin + draws.Below(PartBegin(problem.positions(), j + 1, plan.kept) - begin);
      operands.out_backprop.set_value(OffsetOfPosition(problem, position, oc), Integer(plan.out_backprop_max, draws));
    }
  }
  return operands;
}

bool SumsAreExact(oracle::ClassBound& bound, const Operands& operands, std::int64_t kept) {
  const oracle::ClassKind kind = bound.accuracy_class().kind;
  if (kind == oracle::ClassKind::kCr || kind == oracle::ClassKind::kFaithful) return true;
  if (bound.relative_to_norm()) return false;
  const oracle::TensorScan input = oracle::Scan(operands.input);
  const oracle::TensorScan out_backprop = oracle::Scan(operands.out_backprop);
  bound.SetData(input, out_backprop);
  return bound.ExactByGrid(input.max_abs * out_backprop.max_abs * static_cast<double>(kept));
}

}  // namespace wgrad::fuzz
