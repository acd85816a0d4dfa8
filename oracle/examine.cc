#include "oracle/examine.h"

#include <bit>
#include <chrono>
#include <cmath>

#include "core/check.h"
#include "oracle/judge.h"

namespace wgrad::oracle {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Outcome OutcomeOf(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kResult:
      return Outcome::kPass;
    case AnswerKind::kUnsupported:
      return Outcome::kUnsupported;
    case AnswerKind::kRejected:
      return Outcome::kRejected;
    case AnswerKind::kError:
      return Outcome::kFail;
    case AnswerKind::kDied:
      return Outcome::kDied;
  }
  return Outcome::kFail;
}

std::string PlaceInInput(const Problem& problem, std::int64_t offset) {
  const bool nhwc = problem.data_format() == DataFormat::kNhwc;
  const std::int64_t height = problem.rows().input;
  const std::int64_t width = problem.columns().input;
  const std::int64_t depth = problem.input_depth();
  const std::int64_t c = nhwc ? offset % depth : offset / (height * width) % depth;
  const std::int64_t pixel =
      nhwc ? offset / depth : offset % (height * width) + offset / (height * width * depth) * (height * width);
  const std::int64_t n = pixel / (height * width);
  const std::int64_t ih = pixel % (height * width) / width;
  const std::int64_t iw = pixel % width;
  return "input[n=" + std::to_string(n) + ", ih=" + std::to_string(ih) + ", iw=" + std::to_string(iw) +
         ", c=" + std::to_string(c) + "]";
}

std::string WhatCodeSays(const Case& coded, int run, std::uint64_t bits) {
  const double value = DecodeBits(coded.problem.result_dtype(), bits);
  if (value == 0) return "nothing";
  const auto offset = DecodeInputOffset(coded, run, value);
  return offset ? PlaceInInput(coded.problem, *offset) : "no single input element";
}

// In a coded case each result is an input element's code: names the element that stands in a wrong place.
void NameElementsRead(const Case& coded, std::vector<ElementFinding>& findings) {
  for (ElementFinding& finding : findings) {
    finding.read = "holds " + WhatCodeSays(coded, finding.run, finding.actual_bits) + ", due is " +
                   WhatCodeSays(coded, finding.run, finding.exact_bits);
  }
}

// Whether relation bits may decide: a deterministic candidate whose accumulator keeps clear of underflow on this data.
bool RelationsDecide(const Case& c, const Judging& judging) {
  if (!judging.deterministic) return false;
  const ClassBound bound(c.problem, judging.accuracy_class, judging.policy);
  return bound.accumulator().min_exponent <= kFloat32Format.min_exponent;
}

/// The first element of `result` whose bits are not factor times those of `base`, or nothing.
std::optional<std::int64_t> FirstBrokenRelation(const Tensor& base, const Tensor& result, double factor) {
  const double smallest = std::ldexp(1.0, FormatOf(base.dtype()).min_exponent);
  for (std::int64_t at = 0; at < base.element_count(); ++at) {
    const double from = base.value(at);
    const double to = result.value(at);
    const double due = from * factor;
    const bool comparable = std::isfinite(from) && std::isfinite(to) && (from == 0 || std::fabs(from) >= smallest) &&
                            (due == 0 || std::fabs(due) >= smallest) &&
                            DecodeBits(base.dtype(), EncodeNearest(base.dtype(), due)) == due;
    if (comparable && to != due) return at;
  }
  return std::nullopt;
}

std::string ElementName(const Problem& problem, std::int64_t offset) {
  const std::vector<std::int64_t> sizes = problem.filter_sizes();
  const std::int64_t oc = offset % sizes[3];
  const std::int64_t ic = offset / sizes[3] % sizes[2];
  const std::int64_t kw = offset / (sizes[3] * sizes[2]) % sizes[1];
  const std::int64_t kh = offset / (sizes[3] * sizes[2] * sizes[1]);
  return "filter_backprop[kh=" + std::to_string(kh) + ", kw=" + std::to_string(kw) + ", ic=" + std::to_string(ic) +
         ", oc=" + std::to_string(oc) + "]";
}

void CheckRelations(const Case& c, const std::vector<BitRelation>& relations, int run, const Tensor& base,
                    const Tensor& result, CaseVerdict& verdict) {
  for (const BitRelation& relation : relations) {
    if (relation.run != run || verdict.outcome == Outcome::kFail) continue;
    const auto broken = FirstBrokenRelation(base, result, relation.factor);
    if (!broken) continue;
    verdict.outcome = Outcome::kFail;
    verdict.reason =
        std::string(relation.factor < 0 ? "negating out_backprop must negate" : "scaling by powers of two must scale") +
        " the result bit for bit (determinism is declared); it does not at " + ElementName(c.problem, *broken);
  }
}

CaseVerdict VerdictFor(const Problem& problem, const Judging& judging) {
  CaseVerdict verdict;
  verdict.problem = problem;
  verdict.judging = judging;
  return verdict;
}

}  // namespace

std::string_view NameOf(Outcome outcome) {
  static constexpr std::string_view kNames[] = {"pass", "fail", "unsupported", "rejected", "died", "blind"};
  return kNames[static_cast<int>(outcome)];
}

CaseVerdict Examine(const Case& c, Candidate& candidate, const Judging& judging) {
  const Clock::time_point start = Clock::now();
  CaseVerdict verdict = VerdictFor(c.problem, judging);
  verdict.c = c;
  if (const auto why = WhyUnsupported(candidate.greeting().capabilities, c.problem)) {
    verdict.outcome = Outcome::kUnsupported;
    verdict.reason = *why;
    return verdict;
  }
  const FilledCase filled(c);
  CaseJudge judge(c.problem, judging, c.filling);
  const bool relations_decide = !filled.relations().empty() && RelationsDecide(c, judging);
  Tensor base;
  CaseVerdict relation_verdict;
  for (int number = 0; number < filled.run_count(); ++number) {
    const Run run = filled.MakeRun(number);
    Answer answer = candidate.FilterGradient(c.problem, run.input, run.out_backprop);
    ++verdict.runs;
    if (answer.kind != AnswerKind::kResult) {
      judge.Finish(verdict);
      verdict.outcome = OutcomeOf(answer.kind);
      verdict.reason = answer.message;
      verdict.seconds = SecondsSince(start);
      return verdict;
    }
    judge.Add({number, run.label, run.input, run.out_backprop, answer.result}, c.seed);
    if (!relations_decide) continue;
    if (number == 0)
      base = std::move(answer.result);
    else
      CheckRelations(c, filled.relations(), number, base, answer.result, relation_verdict);
  }
  judge.Finish(verdict);
  if (relation_verdict.outcome == Outcome::kFail && verdict.outcome != Outcome::kFail) {
    verdict.outcome = Outcome::kFail;
    verdict.reason = relation_verdict.reason;
  }
  if (c.filling == Filling::kCoded) NameElementsRead(c, verdict.worst);
  verdict.seconds = SecondsSince(start);
  return verdict;
}

CaseVerdict JudgeResult(const Problem& problem, const Tensor& input, const Tensor& out_backprop, const Tensor& actual,
                        const Judging& judging) {
  const Clock::time_point start = Clock::now();
  CaseVerdict verdict = VerdictFor(problem, judging);
  verdict.runs = 1;
  CaseJudge judge(problem, judging, std::nullopt);
  const std::string no_label;
  judge.Add({0, no_label, input, out_backprop, actual}, 1);
  judge.Finish(verdict);
  verdict.seconds = SecondsSince(start);
  return verdict;
}

bool BatteryVerdict::passed() const {
  bool any_passed = false;
  for (const CaseVerdict& verdict : cases) {
    if (verdict.outcome == Outcome::kFail || verdict.outcome == Outcome::kRejected || verdict.outcome == Outcome::kDied)
      return false;
    any_passed = any_passed || verdict.outcome == Outcome::kPass;
  }
  return any_passed;
}

BatteryVerdict ExamineBattery(const Problem& problem, Candidate& candidate, const JudgingChoice& choice,
                              std::uint64_t seed) {
  BatteryVerdict battery;
  const Result<Judging> judging = Resolve(problem, choice, candidate.greeting().declaration);
  WGRAD_CHECK(judging.ok(), judging.ok() ? "" : judging.error().message.c_str());
  bool failed = false;
  for (const Filling filling : Battery(problem, {.deterministic = judging->deterministic})) {
    battery.cases.push_back(Examine({problem, filling, seed}, candidate, *judging));
    failed = failed || battery.cases.back().outcome == Outcome::kFail;
  }
  if (failed) battery.cases.push_back(Examine({problem, Filling::kCoded, seed}, candidate, *judging));
  return battery;
}

}  // namespace wgrad::oracle
