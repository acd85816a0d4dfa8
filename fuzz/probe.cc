#include "fuzz/probe.h"

#include <algorithm>
#include <utility>

#include "oracle/repeat.h"

namespace wgrad::fuzz {
namespace {

constexpr int kMaxRuns = 50;      // that measure how often a case fails
constexpr int kSureRuns = 10;     // failures in a row after which it is taken to fail always
constexpr int kMaxRepeats = 200;  // of one question about a case that fails in some runs only
constexpr int kExpectedFailures = 5;

oracle::Outcome OutcomeOf(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kResult:
      return oracle::Outcome::kPass;
    case AnswerKind::kUnsupported:
      return oracle::Outcome::kUnsupported;
    case AnswerKind::kRejected:
      return oracle::Outcome::kRejected;
    case AnswerKind::kError:
      return oracle::Outcome::kFail;
    case AnswerKind::kDied:
      return oracle::Outcome::kDied;
  }
  return oracle::Outcome::kFail;
}

CallOutcome WithoutResult(const CallData& data, const oracle::Judging& judging, const Answer& answer) {
  CallOutcome outcome;
  outcome.verdict.problem = data.problem;
  outcome.verdict.judging = judging;
  outcome.verdict.outcome = OutcomeOf(answer.kind);
  outcome.verdict.reason = answer.message;
  outcome.verdict.detail = answer.detail;
  return outcome;
}

}  // namespace

Probe::Probe(ProbeOptions options) : options_(std::move(options)), candidate_(options_.make()) {}

bool Probe::OutOfTime() const {
  return std::chrono::steady_clock::now() >= options_.deadline || (options_.stop != nullptr && options_.stop());
}

Candidate& Probe::Instance() {
  if (options_.fresh_instances) candidate_ = options_.make();
  return *candidate_;
}

oracle::Judging Probe::JudgingOf(const Problem& problem) {
  return oracle::Resolve(problem, options_.choice, candidate_->greeting().declaration).value();
}

oracle::CaseVerdict Probe::Run(const Case& c) { return oracle::Examine(c, Instance(), JudgingOf(c.problem)); }

CallOutcome Probe::Run(const CallData& data) {
  Candidate& candidate = Instance();
  const oracle::Judging judging = JudgingOf(data.problem);
  if (const auto why = WhyUnsupported(candidate.greeting().capabilities, data.problem)) {
    return WithoutResult(data, judging, Answer::Of(AnswerKind::kUnsupported, *why));
  }
  Answer first = candidate.FilterGradient(data.problem, data.input, data.out_backprop);
  if (first.kind != AnswerKind::kResult) return WithoutResult(data, judging, first);
  CallOutcome outcome;
  outcome.verdict = oracle::JudgeResult(data.problem, data.input, data.out_backprop, first.result, judging);
  Answer again = candidate.FilterGradient(data.problem, data.input, data.out_backprop);
  if (!IsWrong(outcome.verdict.outcome) && again.kind != AnswerKind::kResult) {
    return WithoutResult(data, judging, again);
  }
  if (again.kind == AnswerKind::kResult) {
    const oracle::BitDifference difference = oracle::CompareBits(first.result, again.result);
    if (difference.elements > 0 && !IsWrong(outcome.verdict.outcome)) {
      outcome.verdict = oracle::JudgeResult(data.problem, data.input, data.out_backprop, again.result, judging);
      if (IsWrong(outcome.verdict.outcome)) {
        outcome.verdict.reason += ", in the second of two equal calls";
        std::swap(first.result, again.result);
      }
      oracle::AddDifference("in a second call", difference, first.result, outcome.verdict);
    }
  }
  outcome.result = std::move(first.result);
  return outcome;
}

FailureRate Probe::Measure(const Case& c) {
  FailureRate rate;
  while (rate.runs < kMaxRuns && !(rate.runs > 0 && OutOfTime())) {
    rate.failed += IsWrong(Run(c).outcome) ? 1 : 0;
    ++rate.runs;
    if (rate.runs == kSureRuns && rate.always()) break;
  }
  return rate;
}

void Probe::RepeatFor(const FailureRate& rate) {
  repeats_ = rate.always() || rate.never() ? 1 : std::min(kMaxRepeats, kExpectedFailures * rate.runs / rate.failed + 1);
}

std::optional<oracle::CaseVerdict> Probe::Fails(const Case& c) {
  for (int repeat = 0; repeat < repeats_ && !OutOfTime(); ++repeat) {
    oracle::CaseVerdict verdict = Run(c);
    if (IsWrong(verdict.outcome)) return verdict;
  }
  return std::nullopt;
}

std::optional<CallOutcome> Probe::Fails(const CallData& data) {
  for (int repeat = 0; repeat < repeats_ && !OutOfTime(); ++repeat) {
    CallOutcome outcome = Run(data);
    if (IsWrong(outcome.verdict.outcome)) return outcome;
  }
  return std::nullopt;
}

}  // namespace wgrad::fuzz
