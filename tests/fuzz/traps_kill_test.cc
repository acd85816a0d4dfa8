// The oracle's proof of worth: no wrong kernel passes the suite of traps, and the control passes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "fuzz/kernels/wrong_kernels.h"
#include "oracle/examine.h"
#include "suites/suites.h"

namespace wgrad::fuzz {
namespace {

using oracle::CaseVerdict;
using oracle::Outcome;

bool IsNarrow(DType dtype) { return SizeOf(dtype) == 2; }

oracle::Judging JudgingOf(const Problem& problem, const Setting& setting, const Candidate& candidate) {
  oracle::JudgingChoice choice;
  if (!setting.class_text.empty()) choice.any = oracle::ParseClass(setting.class_text).value();
  return oracle::Resolve(problem, choice, candidate.greeting().declaration).value();
}

std::vector<Problem> Traps() { return suites::SuiteProblems("traps").value(); }

// The problems of the suite as `setting` wants them, the cheapest first.
std::vector<Problem> TrapsIn(const Setting& setting) {
  std::vector<Problem> problems = Traps();
  std::stable_sort(problems.begin(), problems.end(), [](const Problem& left, const Problem& right) {
    return left.multiply_adds() < right.multiply_adds();
  });
  if (!setting.dtype) return problems;
  for (Problem& problem : problems) problem = WithDType(problem, *setting.dtype, *setting.dtype);
  return problems;
}

// The first case that `name` fails, or nothing.
std::optional<CaseVerdict> FirstFailure(const std::string& name, const Setting& setting) {
  const auto kernel = MakeWrongKernel(name);
  for (const Problem& problem : TrapsIn(setting)) {
    const oracle::Judging judging = JudgingOf(problem, setting, *kernel);
    for (const Filling filling : oracle::Battery(problem, {.deterministic = true})) {
      CaseVerdict verdict = oracle::Examine({problem, filling}, *kernel, judging);
      if (verdict.outcome == Outcome::kFail) return verdict;
    }
  }
  return std::nullopt;
}

bool FailsInAllSettings(const WrongKernel& kernel) {
  for (const Setting& setting : kernel.fails_in) {
    const std::optional<CaseVerdict> failure = FirstFailure(kernel.name, setting);
    const std::string dtype(setting.dtype ? NameOf(*setting.dtype) : "the dtypes of the suite");
    EXPECT_TRUE(failure.has_value()) << kernel.name << " survives in " << dtype << ": " << kernel.description;
    if (!failure) return false;
    EXPECT_FALSE(failure->reason.empty()) << kernel.name;
  }
  return true;
}

TEST(Traps, NoWrongKernelPasses) {
  std::map<FaultFamily, int> killed;
  for (const WrongKernel& kernel : WrongKernels()) {
    if (kernel.family == FaultFamily::kControl || kernel.family == FaultFamily::kArguments) continue;
    killed[kernel.family] += FailsInAllSettings(kernel) ? 1 : 0;
  }
  EXPECT_EQ(killed[FaultFamily::kStructural], 42);
  EXPECT_EQ(killed[FaultFamily::kNumeric], 8);
  EXPECT_EQ(killed[FaultFamily::kMemory], 8);
  EXPECT_EQ(killed[FaultFamily::kLostTerm], 3);
}

TEST(Traps, TruncationIsOnlyAFaultWhereStoresMustBeNearest) {
  const Problem problem = ParseProblem("n2_i7x9_c3_k2x3_o5_s2x3_same_bf16").value();
  const auto kernel = MakeWrongKernel("truncating_store");
  oracle::JudgingChoice choice;
  choice.any = oracle::ParseClass("wide").value();
  EXPECT_FALSE(oracle::ExamineBattery(problem, *kernel, choice).passed());
  choice.any = oracle::DefaultClass(problem);  // wide_hw: either neighbour of the exact sum will do
  EXPECT_TRUE(oracle::ExamineBattery(problem, *kernel, choice).passed());
}

TEST(Traps, TheControlPasses) {
  constexpr std::int64_t kQuick = 4000;  // multiply-adds of a call
  const auto control = MakeWrongKernel("none");
  int passed = 0;
  int narrow = 0;
  for (const Problem& problem : TrapsIn({})) {
    if (problem.multiply_adds() > kQuick) continue;
    const oracle::BatteryVerdict battery = oracle::ExamineBattery(problem, *control, {});
    for (const CaseVerdict& verdict : battery.cases) {
      EXPECT_TRUE(verdict.outcome == Outcome::kPass || verdict.outcome == Outcome::kBlind)
          << Format(*verdict.c) << ": " << verdict.reason;
      passed += verdict.outcome == Outcome::kPass ? 1 : 0;
    }
    EXPECT_EQ(battery.passed(), problem.filter_count() > 0) << Format(problem);  // an empty result is blind
    narrow += IsNarrow(problem.dtype()) ? 1 : 0;
  }
  EXPECT_GT(passed, 300);
  EXPECT_GT(narrow, 3);
}

}  // namespace
}  // namespace wgrad::fuzz
