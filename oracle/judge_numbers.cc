// What an element adds to a case beside right or wrong: grades, statistics, term coverage.
#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/judge.h"
#include "oracle/judge_element.h"

namespace wgrad::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

void CaseJudge::UpdateGrades(FactsEngine& engine, Element& element) {
  if (ladder_.empty()) return;
  if (element.bits == PoisonBits(result_dtype_)) {
    ladder_.clear();
    grades_.alive = 0;
    return;
  }
  // A correctly rounded result is inside every class of the ladder.
  if (element.finite_terms && CorrectlyRounded(element)) return;
  for (std::size_t i = 0; i < ladder_.size();) {
    Row& row = ladder_[i];
    const bool holds = Accepts(row.bound, engine, element);
    // Everything below `order` contains it, except where a narrow result puts other accumulators below it.
    const bool plain_order = row.rung.accuracy_class.kind == ClassKind::kOrder && !row.rung.accuracy_class.hardware;
    if (holds && plain_order && out_.precision >= kFloat32Format.precision) return;
    if (holds) {
      ++i;
      continue;
    }
    grades_.alive &= ~(std::uint32_t{1} << row.rung.bit);
    ladder_.erase(ladder_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void CaseJudge::AddNumbers(Element& element) {
  if (!element.quick) {
    if (element.terms == 0 && element.census == 0 && element.actual == 0) {
      statistics_.Add({.correctly_rounded = true}, element.index);
    }
    return;
  }
  ElementNumbers numbers;
  numbers.correctly_rounded = CorrectlyRounded(element);
  numbers.error = element.error;
  numbers.ulps = numbers.error / GapsAt(element.sum.high, out_).outward;
  const double unit = std::ldexp(1.0, -out_.precision);
  // Underflow loses up to n * u * N_min, which is no property of the order of summation.
  const double underflow = static_cast<double>(element.terms) * std::ldexp(1.0, out_.min_exponent);
  numbers.relative_error = numbers.error / (unit * (element.abs_sum.high + underflow));
  if (!input_norms_.empty()) {
    const double norm =
        input_norms_[static_cast<std::size_t>(InputChannel(problem_, element.index[2], element.index[3]))] *
        out_backprop_norms_[static_cast<std::size_t>(element.index[3])];
    if (norm > 0 && std::isfinite(norm)) numbers.norm_error = numbers.error / (unit * norm);
  }
  const double difference = (element.actual - element.sum.high) - element.sum.low;
  const double signed_error = element.sum.high < 0 ? -difference : difference;
  numbers.sign = signed_error > 0 ? 1 : signed_error < 0 ? -1 : 0;
  if (!numbers.correctly_rounded || bound_.store() == Store::kNone) {
    const double bound = Permitted(element).high;
    const double excess = std::max(0.0, numbers.error - StoreReach(bound_, element));
    numbers.bound_ratio = excess == 0 ? 0 : bound > 0 ? excess / bound : kInfinity;
  }
  statistics_.Add(numbers, element.index);
}

double CaseJudge::StoreReach(const ClassBound& bound, const Element& element) {
  if (bound.store() == Store::kNone) return 0;
  return bound.store() == Store::kNearest ? element.gap_to_sum / 2 : element.gap_to_sum;
}

double CaseJudge::CoverageThreshold(Element& element) {
  const double permitted = Permitted(element).high;
  if (bound_.store() == Store::kNone) return 2 * permitted;
  // A lost p moves the sum by |p|; once that exceeds twice the error and the widest gap on the way, the stored values
  // differ.
  const double steps = bound_.store() == Store::kNearest ? 1 : 2;
  const double share = steps * std::ldexp(1.0, 1 - out_.precision);
  const double lowest = std::ldexp(1.0, std::max(-1074, out_.lowest_exponent()));
  const double gap = share * (std::fabs(element.sum.high) + permitted) + steps * lowest;
  return (2 * permitted + gap) / (1 - share) * (1 + 0x1p-40);
}

double CaseJudge::CountCoverage(Element& element) {
  if (element.terms == 0 || element.census != 0) return kInfinity;
  if (!std::isfinite(element.abs_sum.high) || !std::isfinite(element.sum.high)) return kInfinity;
  const double threshold = CoverageThreshold(element);
  if (threshold == 0) {
    statistics_.AddCoverage(element.terms);
  } else if (element.terms == 1) {
    if (element.abs_sum.high * (1 - 0x1p-50) > threshold) statistics_.AddCoverage(1);
  } else if (threshold < tensor_norm_ * (1 + 0x1p-50)) {
    return threshold;
  }
  return kInfinity;
}

}  // namespace wgrad::oracle
