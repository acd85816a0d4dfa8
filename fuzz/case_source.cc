#include "fuzz/case_source.h"

#include <vector>

#include "core/random.h"
#include "fuzz/arbitrary_problem.h"
#include "oracle/fillings.h"

namespace wgrad::fuzz {
namespace {

// Streams of a run's seed.
constexpr std::uint64_t kProblems = 1, kFillings = 2, kData = 3;
constexpr std::uint64_t kSeeds = 1'000'000'000;  // so that a case's text stays readable

// How often a filling is drawn, beside the others of a problem's battery: integers find faults of structure, and the
// other kinds of data find faults of arithmetic.
int WeightOf(Filling filling) {
  switch (filling) {
    case Filling::kIntA:
      return 8;
    case Filling::kNormal:
    case Filling::kSpecial:
    case Filling::kPositive:
      return 3;
    case Filling::kOneHot:
    case Filling::kIntO:
    case Filling::kHuge:
    case Filling::kTiny:
      return 2;
    default:
      return 1;
  }
}

Filling DrawFilling(const Problem& problem, bool deterministic, std::uint64_t random) {
  std::vector<Filling> fillings = oracle::Battery(problem, {.deterministic = deterministic});
  if (problem.filter_count() > 0 && problem.positions() > 0) {
    fillings.push_back(Filling::kCoded);
    fillings.push_back(Filling::kPartition);
  }
  std::uint64_t total = 0;
  for (const Filling filling : fillings) total += static_cast<std::uint64_t>(WeightOf(filling));
  std::uint64_t at = random % total;
  for (const Filling filling : fillings) {
    const auto weight = static_cast<std::uint64_t>(WeightOf(filling));
    if (at < weight) return filling;
    at -= weight;
  }
  return Filling::kIntA;
}

}  // namespace

struct CaseSource::Generator {
  rc::Gen<Problem> problems;
};

CaseSource::CaseSource(const Space& space, Options options)
    : generator_(std::make_unique<const Generator>(Generator{ArbitraryProblem(space)})), options_(options) {}

CaseSource::~CaseSource() = default;

Case CaseSource::Draw(std::uint64_t index) const {
  const auto stream = [&](std::uint64_t which) { return SplitMix64(DeriveSeed(options_.seed, which), index); };
  const Problem problem = generator_->problems(rc::Random(stream(kProblems))).value();
  return {problem, DrawFilling(problem, options_.deterministic, stream(kFillings)), stream(kData) % kSeeds};
}

}  // namespace wgrad::fuzz
