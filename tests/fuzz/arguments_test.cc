// The suite of wrong arguments: that each call breaks the rule it says, and that no rule can be left out unseen.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "core/candidate.h"
#include "fuzz/kernels/unchecked.h"
#include "fuzz/kernels/wrong_kernels.h"
#include "io/json.h"
#include "optimized/filter_gradient.h"
#include "oracle/examine.h"
#include "suites/suites.h"

namespace wgrad {
namespace {

using oracle::Outcome;

// The rule that each call of the suite's text names, "" for right ones.
std::map<std::string, std::string> RulesByName() {
  std::map<std::string, std::string> rules;
  for (const suites::Suite& suite : suites::Suites()) {
    if (suite.name != suites::kArgumentSuite) continue;
    std::string_view text = suite.text;
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(text.size(), line.size() + 1));
      if (line.empty() || line.front() == '#') continue;
      const io::Json json = io::Parse(line).value();
      rules[json.GetString("/name").value()] = json.Has("/rule") ? json.GetString("/rule").value() : "";
    }
  }
  return rules;
}

std::string RuleBroken(const ArgumentCase& call) {
  const Result<Problem> problem = Validate(call.arguments);
  return problem.ok() ? "" : "V" + std::to_string(problem.error().rule);
}

TEST(ArgumentSuite, EachCallBreaksTheRuleThatItNames) {
  const auto rules = RulesByName();
  const auto calls = suites::ArgumentCases().value();
  std::set<std::string> broken;
  int right = 0;
  for (const ArgumentCase& call : calls) {
    EXPECT_EQ(RuleBroken(call), rules.at(call.name)) << call.name;
    if (!RuleBroken(call).empty()) broken.insert(RuleBroken(call));
    right += RuleBroken(call).empty();
  }
  EXPECT_EQ(rules.size(), calls.size());  // names are unique
  EXPECT_EQ(broken.size(), 26u);          // V0 to V25
  EXPECT_GE(right, 15);
}

int Failures(Candidate& candidate) {
  int failures = 0;
  for (const ArgumentCase& call : suites::ArgumentCases().value()) {
    if (RuleBroken(call).empty()) continue;
    const oracle::CaseVerdict verdict = oracle::ExamineArguments(call, candidate);
    EXPECT_TRUE(verdict.outcome == Outcome::kPass || verdict.outcome == Outcome::kFail);
    failures += verdict.outcome == Outcome::kFail;
  }
  return failures;
}

TEST(ArgumentSuite, CatchesEachRuleThatIsNotChecked) {
  int kernels = 0;
  for (const fuzz::WrongKernel& kernel : fuzz::UncheckedKernels()) {
    EXPECT_GT(Failures(*fuzz::MakeWrongKernel(kernel.name)), 0) << kernel.name;
    ++kernels;
  }
  EXPECT_EQ(kernels, 26);
  EXPECT_EQ(Failures(*optimized::MakeOpenBlasCandidate(1)), 0);
}

// Answers every call with wrong arguments in one way.
class Stubborn : public Candidate {
 public:
  explicit Stubborn(AnswerKind kind) : kind_(kind) {}
  const Greeting& greeting() const override { return greeting_; }
  Answer FilterGradient(const Problem&, const Tensor&, const Tensor&) override { return Answer::Of(kind_, "no"); }
  Answer TryArguments(const OpArguments&, const Tensor&, const Tensor&) override { return Answer::Of(kind_, "why"); }

 private:
  Greeting greeting_;
  AnswerKind kind_;
};

TEST(ArgumentSuite, EveryAnswerHasItsOutcome) {
  ArgumentCase call{"strides_0", "a stride of 0 in rows", suites::ArgumentCases().value().front().arguments};
  call.arguments.strides = {1, 0, 1, 1};
  const auto outcome = [&call](AnswerKind kind) {
    Stubborn candidate(kind);
    return oracle::ExamineArguments(call, candidate);
  };
  EXPECT_EQ(outcome(AnswerKind::kRejected).outcome, Outcome::kPass);
  EXPECT_EQ(outcome(AnswerKind::kUnsupported).outcome, Outcome::kUnsupported);
  EXPECT_EQ(outcome(AnswerKind::kError).outcome, Outcome::kFail);
  EXPECT_EQ(outcome(AnswerKind::kDied).outcome, Outcome::kDied);
  const oracle::CaseVerdict accepted = outcome(AnswerKind::kResult);
  EXPECT_EQ(accepted.outcome, Outcome::kFail);
  EXPECT_TRUE(accepted.reason.starts_with("accepted a stride of 0 in rows and returned numbers; the rule: "))
      << accepted.reason;
  EXPECT_EQ(oracle::CaseName(accepted), "arguments/strides_0");
}

}  // namespace
}  // namespace wgrad
