// int_a, int_o and partition: small integers whose sums are exact in any order, so that one lost term is seen.
#include <algorithm>
#include <cmath>

#include "oracle/fillings_data.h"
#include "oracle/fillings_places.h"
#include "oracle/fillings_recipes.h"

namespace wgrad::oracle::filling {
namespace {

// Magnitudes and the number of positions per output channel that are not zero:
// input_max * out_backprop_max * kept <= the limit on A.
struct Plan {
  std::int64_t input_max = 1;
  std::int64_t out_backprop_max = 1;
  std::int64_t kept = 0;
};

// Eight bits, which TF32 and bfloat16 hold too. float64 takes more: a float32 accumulator must not be wide enough.
std::int64_t LargestInteger(DType dtype) { return dtype == DType::kFloat64 ? std::int64_t{1} << 26 : 256; }

Plan MakePlan(const Problem& problem, std::int64_t limit, std::int64_t most_kept) {
  Plan plan;
  plan.kept = std::min(problem.positions(), most_kept);
  const std::int64_t product = std::max<std::int64_t>(1, limit / std::max<std::int64_t>(1, plan.kept));
  const std::int64_t largest = LargestInteger(problem.dtype());
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(product)));
  while (root * root > product) --root;
  plan.input_max = std::min(largest, root);
  plan.out_backprop_max = std::min(largest, product / plan.input_max);
  return plan;
}

// A <= 2^24 or 2^53, the default accumulator's integers; where a half result holds such an A, no more than its range.
Plan PlanIntA(const Problem& problem) {
  constexpr std::int64_t kHalfMax = 65504;
  if (problem.result_dtype() == DType::kFloat16 && problem.positions() <= kHalfMax) {
    return MakePlan(problem, kHalfMax, kHalfMax);
  }
  const std::int64_t limit = std::int64_t{1} << (problem.dtype() == DType::kFloat64 ? 53 : 24);
  return MakePlan(problem, limit, limit);
}

// A <= 2^p of the inputs' dtype, the narrowest accumulator there is; half of it for the number of terms, so that
// magnitudes 1 and 2 occur.
Plan PlanIntO(const Problem& problem) {
  const std::int64_t limit = std::int64_t{1} << FormatOf(problem.dtype()).precision;
  return MakePlan(problem, limit, limit / 2);
}

// A non-zero integer of magnitude in [ceil(max / 2), max]: large enough that sums use the range they may use.
double Integer(std::uint64_t z, std::int64_t max) {
  const std::int64_t low = (max + 1) / 2;
  const auto draw = static_cast<std::int64_t>(((z & 0xffffffff) * static_cast<std::uint64_t>(max - low + 1)) >> 32);
  return WithSign(z, low + draw);
}

void FillIntegers(Tensor& tensor, std::uint64_t seed, std::int64_t max) {
  const DType dtype = tensor.dtype();
  Fill(tensor, [=](std::int64_t i) { return Encode(dtype, Integer(At(seed, i), max)); });
}

// The first position of part j of `parts` equal parts of all positions.
std::int64_t PartBegin(std::int64_t positions, std::int64_t j, std::int64_t parts) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>(Wide{positions} * j / parts);
}

// Only plan.kept positions of each channel: the anchors, then one drawn out of each of as many equal parts as remain.
void FillThinned(const Case& c, const Plan& plan, Tensor& out_backprop) {
  const Problem& problem = c.problem;
  const std::uint64_t values = SeedOf(c, 0, Stream::kOutBackprop);
  const std::uint64_t choices = SeedOf(c, 0, Stream::kChoices);
  const Anchors anchors_of(problem);
  const auto keep = [&](const Position& at, std::int64_t oc) {
    const std::int64_t offset = problem.OutBackpropOffset(at.n, at.oh, at.ow, oc);
    out_backprop.set_bits(offset, Encode(problem.dtype(), Integer(At(values, offset), plan.out_backprop_max)));
  };
  for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
    const std::vector<Position> anchors = anchors_of.ForChannel(oc);
    const std::int64_t anchored = std::min<std::int64_t>(std::ssize(anchors), plan.kept);
    for (std::int64_t j = 0; j < anchored; ++j) {
      keep(anchors[static_cast<std::size_t>((j + oc) % std::ssize(anchors))], oc);
    }
    const std::int64_t parts = plan.kept - anchored;
    for (std::int64_t j = 0; j < parts; ++j) {
      const std::int64_t begin = PartBegin(problem.positions(), j, parts);
      const std::int64_t size = PartBegin(problem.positions(), j + 1, parts) - begin;
      keep(PositionAt(problem, begin + Below(At(choices, oc * parts + j), size)), oc);
    }
  }
}

Run MakeIntegers(const Case& c, const Plan& plan) {
  Run run = EmptyRun(c.problem);
  FillIntegers(run.input, SeedOf(c, 0, Stream::kInput), plan.input_max);
  if (plan.kept == c.problem.positions()) {
    FillIntegers(run.out_backprop, SeedOf(c, 0, Stream::kOutBackprop), plan.out_backprop_max);
  } else {
    FillThinned(c, plan, run.out_backprop);
  }
  return run;
}

// Images where there are several, otherwise rows of out_backprop.
std::int64_t PartitionExtent(const Problem& problem) {
  return problem.batch() > 1 ? problem.batch() : problem.rows().output;
}

std::int64_t PartCount(const Problem& problem) { return std::clamp<std::int64_t>(PartitionExtent(problem), 1, 3); }

}  // namespace

Run MakeIntA(const Case& c, int) { return MakeIntegers(c, PlanIntA(c.problem)); }

Run MakeIntO(const Case& c, int) { return MakeIntegers(c, PlanIntO(c.problem)); }

int PartitionRuns(const Problem& problem) { return 1 + static_cast<int>(PartCount(problem)); }

Run MakePartition(const Case& c, int run_index) {
  const Problem& problem = c.problem;
  Run run = MakeIntegers(c, PlanIntA(problem));
  run.label = "the whole batch";
  if (run_index == 0) return run;
  const std::int64_t parts = PartCount(problem);
  const bool by_image = problem.batch() > 1;
  run.label = std::string(by_image ? "images" : "rows") + " of part " + std::to_string(run_index) + " of " +
              std::to_string(parts);
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (std::int64_t oh = 0; oh < problem.rows().output; ++oh) {
      if ((by_image ? n : oh) % parts == run_index - 1) continue;
      for (std::int64_t ow = 0; ow < problem.columns().output; ++ow) {
        for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
          run.out_backprop.set_bits(problem.OutBackpropOffset(n, oh, ow, oc), 0);
        }
      }
    }
  }
  return run;
}

}  // namespace wgrad::oracle::filling
