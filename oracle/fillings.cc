#include "oracle/fillings.h"

#include <array>
#include <utility>

#include "core/check.h"
#include "oracle/fillings_recipes.h"

namespace wgrad::oracle {
namespace {

constexpr std::int64_t kAffordableWork = 100'000'000;  // multiply-adds up to which the costlier fillings are run

int OneRun(const Problem&) { return 1; }

struct Recipe {
  int (*run_count)(const Problem& problem);
  Run (*make)(const Case& c, int run);
  std::string_view description;
};

// In the order of the enumeration.
constexpr std::array<Recipe, kFillingCount> kRecipes = {{
    {OneRun, filling::MakeIntA,
     "dense integers, every partial sum exact in the default accumulator: any lost term shows"},
    {OneRun, filling::MakeIntO, "anchored integers, every partial sum exact even in the inputs' own format"},
    {filling::OneHotRuns, filling::MakeOneHot,
     "one product per element, full significands: input rounding, every index map"},
    {filling::CodedRuns, filling::MakeCoded, "input holds codes of its addresses: the result names the element read"},
    {OneRun, filling::MakeNormal, "normal distribution: error statistics and outliers"},
    {OneRun, filling::MakePositive, "uniform in [1/2, 1): order, bias, stagnation, narrow accumulators"},
    {filling::StairRuns, filling::MakeStair, "1 and terms that vanish beside it: the bound is attained and must hold"},
    {OneRun, filling::MakeCancel,
     "pairs that cancel and one tiny survivor: extended precision, lost and repeated terms"},
    {OneRun, filling::MakeWide, "exponents spread evenly: input rounding, alignment, exponent faults"},
    {filling::TinyRuns, filling::MakeTiny, "products around the smallest numbers: flushing, small terms skipped"},
    {filling::HugeRuns, filling::MakeHuge, "sums and partial sums around the largest number: overflow, saturation"},
    {filling::SpecialRuns, filling::MakeSpecial, "NaN, infinities, -0 and subnormals at every kind of place"},
    {filling::LocalRuns, filling::MakeLocal, "one large pixel or channel beside tiny and zero ones: transforms, leaks"},
    {filling::SymmetryRuns, filling::MakeSymmetry,
     "scaled by powers of two and negated: the result's bits must follow"},
    {filling::PartitionRuns, filling::MakePartition, "a batch and its parts: batch loops, results added to"},
}};

const Recipe& RecipeOf(Filling filling) { return kRecipes[static_cast<std::size_t>(filling)]; }

}  // namespace

namespace filling {

Run EmptyRun(const Problem& problem) {
  return {"", Tensor(problem.dtype(), problem.input_shape()), Tensor(problem.dtype(), problem.out_backprop_shape())};
}

}  // namespace filling

FilledCase::FilledCase(const Case& c) : case_(c), run_count_(RecipeOf(c.filling).run_count(c.problem)) {
  if (c.filling == Filling::kSymmetry) relations_ = filling::SymmetryRelations(c.problem);
}

Run FilledCase::MakeRun(int run) const {
  WGRAD_CHECK(run >= 0 && run < run_count_, "MakeRun needs a run of the case");
  return RecipeOf(case_.filling).make(case_, run);
}

std::vector<Filling> Battery(const Problem& problem, BatteryOptions options) {
  // Without elements there is nothing to lose, without positions the result is zero whatever the data.
  if (problem.filter_count() == 0 || problem.positions() == 0) return {Filling::kIntA, Filling::kSpecial};
  const auto narrow = [](DType dtype) { return SizeOf(dtype) == 2; };
  std::vector<Filling> battery = {Filling::kIntA};
  if (narrow(problem.dtype()) || narrow(problem.result_dtype())) battery.push_back(Filling::kIntO);
  for (const Filling filling :
       {Filling::kOneHot, Filling::kNormal, Filling::kPositive, Filling::kSpecial, Filling::kHuge}) {
    battery.push_back(filling);
  }
  if (problem.multiply_adds() > kAffordableWork) return battery;
  for (const Filling filling : {Filling::kCancel, Filling::kWide, Filling::kTiny, Filling::kLocal, Filling::kStair}) {
    battery.push_back(filling);
  }
  if (options.deterministic) battery.push_back(Filling::kSymmetry);
  return battery;
}

std::string_view DescriptionOf(Filling filling) { return RecipeOf(filling).description; }

}  // namespace wgrad::oracle
