#include "oracle/examine.h"

#include <bit>
#include <chrono>
#include <cmath>

#include "core/check.h"
#include "oracle/judge.h"
#include "oracle/repeat.h"

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

// The first run of a case, and what came of it.
struct FirstCall {
  Run run;
  Tensor result;
};

// What a call without a result makes of the verdict. Who has answered calls of this problem before cannot step back
// from it, and a wrong result stays one.
void NoResult(const Answer& answer, bool answered_before, CaseVerdict& verdict) {
  if (verdict.outcome == Outcome::kFail) return;
  verdict.outcome = OutcomeOf(answer.kind);
  verdict.reason = answer.message;
  verdict.detail = answer.detail;
  const bool steps_back = answer.kind == AnswerKind::kUnsupported || answer.kind == AnswerKind::kRejected;
  if (!answered_before || !steps_back) return;
  verdict.outcome = Outcome::kFail;
  verdict.reason = "answered this problem before, then not any more: " + answer.message;
}

// A result that differs from the first one is judged too: each of them may be right, or only one.
BitDifference JudgeAgain(const Answer& again, const FirstCall& first, CaseVerdict& verdict, CaseJudge& judge,
                         std::uint64_t seed) {
  if (again.kind != AnswerKind::kResult) return {};
  ++verdict.repeats.compared;
  const BitDifference difference = CompareBits(first.result, again.result);
  if (difference.elements == 0) return difference;
  ++verdict.repeats.differing;
  const std::string label = first.run.label + (first.run.label.empty() ? "" : ", ") + "called again";
  judge.Add({verdict.runs, label, first.run.input, first.run.out_backprop, again.result}, seed);
  return difference;
}

// Tensors of a call with wrong arguments: small integers, as far as a shape lets one be made.
Tensor PlaceholderFor(const std::vector<std::int64_t>& shape, const std::string& dtype_name) {
  constexpr std::int64_t kMost = 1'000'000;
  const DType dtype = DTypeFromName(dtype_name).value_or(DType::kFloat32);
  const auto count = CheckedElementCount(shape);
  Tensor tensor(dtype, count && *count <= kMost ? shape : std::vector<std::int64_t>{0});
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) tensor.set_value(i, static_cast<double>(i % 5 - 2));
  return tensor;
}

}  // namespace

void AddDifference(const std::string& where, const BitDifference& difference, const Tensor& result,
                   CaseVerdict& verdict) {
  const std::string finding = Format(difference, result) + " " + where;
  verdict.advisories.push_back("repeatability: " + finding);
  if (!verdict.judging.deterministic || IsWrong(verdict.outcome)) return;
  verdict.outcome = Outcome::kFail;
  verdict.reason = "determinism is declared, but " + finding;
}

std::string_view NameOf(Outcome outcome) {
  static constexpr std::string_view kNames[] = {"pass", "fail", "unsupported", "rejected", "died", "blind"};
  return kNames[static_cast<int>(outcome)];
}

bool IsWrong(Outcome outcome) {
  return outcome == Outcome::kFail || outcome == Outcome::kRejected || outcome == Outcome::kDied;
}

std::string CaseName(const ArgumentCase& call) { return "arguments/" + call.name; }

std::string CaseName(const CaseVerdict& verdict) {
  if (verdict.c) return Format(*verdict.c);
  if (verdict.call) return CaseName(*verdict.call);
  return verdict.problem ? Format(*verdict.problem) : "";
}

CaseVerdict Examine(const Case& c, Candidate& candidate, const Judging& judging, bool keep_first_result) {
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
  FirstCall first;
  CaseVerdict relation_verdict;
  for (int number = 0; number < filled.run_count(); ++number) {
    Run run = filled.MakeRun(number);
    Answer answer = candidate.FilterGradient(c.problem, run.input, run.out_backprop);
    ++verdict.runs;
    if (answer.kind != AnswerKind::kResult) {
      judge.Finish(verdict);
      NoResult(answer, number > 0, verdict);
      verdict.seconds = SecondsSince(start);
      return verdict;
    }
    judge.Add({number, run.label, run.input, run.out_backprop, answer.result}, c.seed);
    if (number == 0) {
      first = {std::move(run), std::move(answer.result)};
    } else if (relations_decide) {
      CheckRelations(c, filled.relations(), number, first.result, answer.result, relation_verdict);
    }
  }
  Answer again = candidate.FilterGradient(c.problem, first.run.input, first.run.out_backprop);
  const BitDifference difference = JudgeAgain(again, first, verdict, judge, c.seed);
  judge.Finish(verdict);
  if (again.kind != AnswerKind::kResult) NoResult(again, true, verdict);
  if (difference.elements > 0) AddDifference("in a second call", difference, first.result, verdict);
  if (relation_verdict.outcome == Outcome::kFail && verdict.outcome != Outcome::kFail) {
    verdict.outcome = Outcome::kFail;
    verdict.reason = relation_verdict.reason;
  }
  if (c.filling == Filling::kCoded) NameElementsRead(c, verdict.worst);
  if (keep_first_result) verdict.first_result = std::move(first.result);
  verdict.seconds = SecondsSince(start);
  return verdict;
}

CaseVerdict ExamineArguments(const ArgumentCase& call, Candidate& candidate) {
  const Clock::time_point start = Clock::now();
  const Result<Problem> problem = Validate(call.arguments);
  WGRAD_CHECK(!problem.ok(), "right arguments make a case, not a call that must be refused");
  CaseVerdict verdict;
  verdict.call = call;
  const Greeting& greeting = candidate.greeting();
  const Answer answer =
      greeting.capabilities.unavailable.empty()
          ? candidate.TryArguments(call.arguments, PlaceholderFor(call.arguments.input_shape, call.arguments.dtype),
                                   PlaceholderFor(call.arguments.out_backprop_shape, call.arguments.out_backprop_dtype))
          : Answer::Of(AnswerKind::kUnsupported, greeting.capabilities.unavailable);
  verdict.runs = 1;
  verdict.seconds = SecondsSince(start);
  verdict.detail = answer.detail;
  if (answer.kind == AnswerKind::kRejected) return verdict;
  verdict.outcome = answer.kind == AnswerKind::kResult ? Outcome::kFail : OutcomeOf(answer.kind);
  verdict.reason = answer.message;
  if (answer.kind == AnswerKind::kResult) verdict.reason = "accepted " + call.why + " and returned numbers";
  if (answer.kind == AnswerKind::kError) verdict.reason = "gave up on " + call.why + ": " + answer.message;
  if (answer.kind == AnswerKind::kDied) verdict.reason = "with " + call.why + ", " + answer.message;
  verdict.reason += "; the rule: " + problem.error().message;
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
    if (IsWrong(verdict.outcome)) return false;
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
