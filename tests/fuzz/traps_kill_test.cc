// The oracle's proof of worth: no wrong kernel passes the suite of traps, and the control passes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "fuzz/wrong_kernels.h"
#include "oracle/examine.h"
#include "suites/suites.h"

namespace wgrad::fuzz {
namespace {

using oracle::CaseVerdict;
using oracle::Outcome;

bool IsNarrow(DType dtype) { return SizeOf(dtype) == 2; }

// A numeric fault is one in some dtypes and under some classes only.
struct Setting {
  std::optional<DType> dtype;   // of all problems; nothing: as the suite has them
  std::string class_text = {};  // empty: the default
};

Setting SettingOf(const std::string& name) {
  static const std::map<std::string, Setting> settings = {
      {"narrow_partials", {DType::kBFloat16}},
      {"half_through_bfloat16", {DType::kFloat16}},
      {"truncating_store", {DType::kBFloat16, "wide"}},
  };
  const auto found = settings.find(name);
  return found == settings.end() ? Setting{} : found->second;
}

oracle::Judging JudgingOf(const Problem& problem, const Setting& setting, const Candidate& candidate) {
  oracle::JudgingChoice choice;
  if (!setting.class_text.empty()) choice.any = oracle::ParseClass(setting.class_text).value();
  return oracle::Resolve(problem, choice, candidate.greeting().declaration).value();
}

// The cases of `problems` under their batteries, all first fillings first, so that a plain fault ends quickly.
std::vector<Case> CasesOf(const std::vector<Problem>& problems) {
  std::vector<std::vector<Case>> by_place;
  for (const Problem& problem : problems) {
    const std::vector<Filling> battery = oracle::Battery(problem, {.deterministic = true});
    by_place.resize(std::max(by_place.size(), battery.size()));
    for (std::size_t place = 0; place < battery.size(); ++place) by_place[place].push_back({problem, battery[place]});
  }
  std::vector<Case> cases;
  for (const std::vector<Case>& place : by_place) cases.insert(cases.end(), place.begin(), place.end());
  return cases;
}

std::vector<Problem> Traps() { return suites::SuiteProblems("traps").value(); }

std::vector<Problem> TrapsIn(const Setting& setting) {
  std::vector<Problem> problems = Traps();
  if (!setting.dtype) return problems;
  for (Problem& problem : problems) problem = WithDType(problem, *setting.dtype, *setting.dtype);
  return problems;
}

// The first case that `name` fails, or nothing.
std::optional<CaseVerdict> FirstFailure(const std::string& name) {
  const Setting setting = SettingOf(name);
  const auto kernel = MakeWrongKernel(name);
  for (const Case& c : CasesOf(TrapsIn(setting))) {
    CaseVerdict verdict = oracle::Examine(c, *kernel, JudgingOf(c.problem, setting, *kernel));
    if (verdict.outcome == Outcome::kFail) return verdict;
  }
  return std::nullopt;
}

TEST(Traps, NoWrongKernelPasses) {
  std::map<FaultFamily, int> killed;
  for (const WrongKernel& kernel : WrongKernels()) {
    if (kernel.family == FaultFamily::kControl) continue;
    const std::optional<CaseVerdict> failure = FirstFailure(kernel.name);
    EXPECT_TRUE(failure.has_value()) << kernel.name << " survives: " << kernel.description;
    if (!failure) continue;
    EXPECT_FALSE(failure->reason.empty()) << kernel.name;
    ++killed[kernel.family];
  }
  EXPECT_EQ(killed[FaultFamily::kStructural], 42);
  EXPECT_EQ(killed[FaultFamily::kNumeric], 8);
  EXPECT_EQ(killed[FaultFamily::kMemory], 8);
  EXPECT_EQ(killed[FaultFamily::kLostTerm], 3);
}

TEST(Traps, TheControlPasses) {
  constexpr std::int64_t kQuick = 20000;  // multiply-adds of a call
  const auto control = MakeWrongKernel("none");
  int passed = 0;
  int narrow = 0;
  std::vector<Problem> problems = Traps();
  std::erase_if(problems, [](const Problem& problem) { return problem.multiply_adds() > kQuick; });
  for (const Case& c : CasesOf(problems)) {
    const CaseVerdict verdict = oracle::Examine(c, *control, JudgingOf(c.problem, {}, *control));
    EXPECT_TRUE(verdict.outcome == Outcome::kPass || verdict.outcome == Outcome::kBlind)
        << Format(c) << ": " << verdict.reason;
    passed += verdict.outcome == Outcome::kPass ? 1 : 0;
    narrow += IsNarrow(c.problem.dtype()) ? 1 : 0;
  }
  EXPECT_GT(passed, 500);
  EXPECT_GT(narrow, 50);
}

}  // namespace
}  // namespace wgrad::fuzz
