#include "cli/tally.h"

#include <algorithm>
#include <map>

#include "core/case.h"

namespace wgrad::cli {
namespace {

using oracle::CaseVerdict;
using oracle::Outcome;

// What one dtype's cases have shown so far.
struct DTypeEvidence {
  DTypePair dtypes{};
  oracle::GradeSet grades;
  std::int64_t finite = 0;
  std::int64_t correctly_rounded = 0;
  report::DTypeGrade grade;
};

bool IsCompared(Outcome outcome) { return outcome == Outcome::kPass || outcome == Outcome::kFail; }

void AddEvidence(const CaseVerdict& verdict, DTypeEvidence& evidence) {
  const oracle::Statistics& statistics = verdict.statistics;
  report::DTypeGrade& grade = evidence.grade;
  evidence.dtypes = {verdict.problem->dtype(), verdict.problem->result_dtype()};
  evidence.grades.And(verdict.grades);
  // Without a result no class holds, whatever the verdict's grades were before.
  const bool no_result = !IsCompared(verdict.outcome) || statistics.elements == 0;
  if (IsWrong(verdict.outcome) && no_result) evidence.grades.alive = 0;
  evidence.finite += statistics.finite;
  evidence.correctly_rounded += statistics.correctly_rounded;
  grade.bound_ratio = std::max(grade.bound_ratio, statistics.max_bound_ratio);
  grade.achieved_depth = std::max(grade.achieved_depth, statistics.achieved_depth);
  grade.max_terms = std::max(grade.max_terms, statistics.max_terms);
  grade.judging_class = oracle::Format(verdict.judging.accuracy_class);
  grade.class_source = verdict.judging.class_source;
}

void CountOutcome(const CaseVerdict& verdict, bool known, report::Counts& counts) {
  ++counts.cases;
  counts.elements += verdict.statistics.elements;
  if (known) {
    ++counts.known;
    return;
  }
  switch (verdict.outcome) {
    case Outcome::kPass:
      ++counts.passed;
      break;
    case Outcome::kFail:
      ++counts.failed;
      break;
    case Outcome::kUnsupported:
      ++counts.unsupported;
      break;
    case Outcome::kRejected:
      ++counts.rejected;
      break;
    case Outcome::kDied:
      ++counts.died;
      break;
    case Outcome::kBlind:
      ++counts.blind;
      break;
  }
}

// Patterns that cover a case that passed, and none that went wrong.
std::vector<std::string> PassingPatterns(const std::vector<CaseVerdict>& verdicts, const KnownFailures& known) {
  std::vector<bool> passes(known.patterns().size());
  std::vector<bool> fails(known.patterns().size());
  for (const CaseVerdict& verdict : verdicts) {
    for (const std::size_t pattern : known.Matches(oracle::CaseName(verdict))) {
      if (IsWrong(verdict.outcome)) fails[pattern] = true;
      if (verdict.outcome == Outcome::kPass) passes[pattern] = true;
    }
  }
  std::vector<std::string> passing;
  for (std::size_t pattern = 0; pattern < passes.size(); ++pattern) {
    if (passes[pattern] && !fails[pattern]) passing.push_back(known.patterns()[pattern]);
  }
  return passing;
}

}  // namespace

bool IsKnown(const KnownFailures& known, const CaseVerdict& verdict) {
  return !known.Matches(oracle::CaseName(verdict)).empty();
}

void Tally(report::CandidateReport& candidate, const KnownFailures& known) {
  std::map<std::string, DTypeEvidence> by_dtype;
  for (std::size_t at = 0; at < candidate.verdicts.size(); ++at) {
    const CaseVerdict& verdict = candidate.verdicts[at];
    const bool known_case = IsWrong(verdict.outcome) && IsKnown(known, verdict);
    if (known_case) candidate.known_cases.insert(at);
    CountOutcome(verdict, known_case, candidate.counts);
    if (verdict.call) continue;  // says nothing about arithmetic
    if (IsCompared(verdict.outcome) || IsWrong(verdict.outcome))
      AddEvidence(verdict, by_dtype[DTypeTag(*verdict.problem)]);
  }
  for (auto& [tag, evidence] : by_dtype) {
    evidence.grade.grade = oracle::BestGrade(evidence.grades, evidence.dtypes).value_or("fail");
    if (evidence.finite > 0) {
      evidence.grade.correctly_rounded =
          static_cast<double>(evidence.correctly_rounded) / static_cast<double>(evidence.finite);
    }
    candidate.grades[tag] = evidence.grade;
  }
  if (!known.patterns().empty()) candidate.known_passing = PassingPatterns(candidate.verdicts, known);
}

ExitCode ExitCodeOf(const report::Counts& counts) {
  if (counts.failed + counts.rejected + counts.died > 0) return ExitCode::kFailed;
  if (counts.passed + counts.known == 0) return ExitCode::kNothingCompared;
  return ExitCode::kPass;
}

}  // namespace wgrad::cli
