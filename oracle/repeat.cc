#include "oracle/repeat.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "core/check.h"
#include "oracle/fillings.h"
#include "oracle/judge.h"

namespace wgrad::oracle {
namespace {

// The place of a value among all values of its dtype in order, both zeros at 0. As a double: places reach 2^63.
double Place(DType dtype, std::uint64_t bits) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * SizeOf(dtype) - 1);
  const auto magnitude = static_cast<double>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

double UlpsBetween(DType dtype, std::uint64_t a, std::uint64_t b) {
  if (std::isnan(DecodeBits(dtype, a)) || std::isnan(DecodeBits(dtype, b))) {
    return std::numeric_limits<double>::infinity();
  }
  return std::fabs(Place(dtype, a) - Place(dtype, b));
}

bool Differ(DType dtype, std::uint64_t a, std::uint64_t b) {
  return a != b && !(std::isnan(DecodeBits(dtype, a)) && std::isnan(DecodeBits(dtype, b)));
}

// Judges a result that another instance gave, by itself.
void JudgeOther(const Instance& instance, const Run& run, const Tensor& result, CaseVerdict& verdict) {
  CaseJudge judge(*verdict.problem, verdict.judging, verdict.c->filling);
  judge.Add({0, instance.where, run.input, run.out_backprop, result}, verdict.c->seed);
  CaseVerdict other;
  other.judging = verdict.judging;
  judge.Finish(other);
  verdict.grades.And(other.grades);
  if (other.outcome != Outcome::kFail || IsWrong(verdict.outcome)) return;
  verdict.outcome = Outcome::kFail;
  verdict.reason = instance.where + ": " + other.reason;
  verdict.wrong_elements = other.wrong_elements;
  verdict.worst = other.worst;
  verdict.pattern = other.pattern;
}

}  // namespace

BitDifference CompareBits(const Tensor& first, const Tensor& again) {
  WGRAD_CHECK(first.dtype() == again.dtype() && first.shape() == again.shape(), "results of one call differ in shape");
  BitDifference difference;
  if (std::ranges::equal(first.bytes(), again.bytes())) return difference;
  for (std::int64_t i = 0; i < first.element_count(); ++i) {
    const std::uint64_t a = first.bits(i);
    const std::uint64_t b = again.bits(i);
    if (!Differ(first.dtype(), a, b)) continue;
    ++difference.elements;
    difference.max_ulps = std::max(difference.max_ulps, UlpsBetween(first.dtype(), a, b));
  }
  return difference;
}

std::string Format(const BitDifference& difference, const Tensor& result) {
  std::ostringstream text;
  text << difference.elements << " of " << result.element_count() << " elements differ";
  if (std::isinf(difference.max_ulps)) {
    text << ", NaN among them,";
  } else {
    text << " by up to " << difference.max_ulps << " ulp";
  }
  return text.str();
}

void CompareInstances(std::span<const Instance> instances, CaseVerdict& verdict) {
  WGRAD_CHECK(verdict.first_result && verdict.c, "nothing to compare other instances with");
  const Run run = FilledCase(*verdict.c).MakeRun(0);
  const bool was_wrong = IsWrong(verdict.outcome);
  for (const Instance& instance : instances) {
    const Answer answer = instance.candidate->FilterGradient(*verdict.problem, run.input, run.out_backprop);
    ++verdict.repeats.compared;
    if (answer.kind != AnswerKind::kResult) {
      ++verdict.repeats.differing;
      if (IsWrong(verdict.outcome)) continue;
      verdict.outcome = answer.kind == AnswerKind::kDied ? Outcome::kDied : Outcome::kFail;
      verdict.reason = instance.where + ": " + answer.message;
      verdict.detail = answer.detail;
      continue;
    }
    const BitDifference difference = CompareBits(*verdict.first_result, answer.result);
    if (difference.elements == 0) continue;
    ++verdict.repeats.differing;
    JudgeOther(instance, run, answer.result, verdict);
    AddDifference(instance.where, difference, *verdict.first_result, verdict);
  }
  verdict.repeats.elsewhere = !was_wrong && IsWrong(verdict.outcome);
}

}  // namespace wgrad::oracle
