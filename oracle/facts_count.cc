#include <algorithm>
#include <cmath>
#include <limits>

#include "oracle/facts_range.h"

namespace wgrad::oracle {
namespace {

// What a threshold asks of a pair of rows, in the units of the rows as they are stored.
struct Question {
  enum class Answer : std::uint8_t { kNone, kEveryTerm, kByProduct };
  Answer answer = Answer::kNone;
  double threshold = 0;
};

// `threshold` divided by 2^shift, rounded up.
double ShiftUp(double threshold, int shift) {
  if (shift == 0) return threshold;
  const double shifted = std::ldexp(threshold, -shift);
  const bool rounded_down = std::ldexp(shifted, shift) < threshold;
  return rounded_down ? std::nextafter(shifted, std::numeric_limits<double>::infinity()) : shifted;
}

// Rounding is monotone: a rounded product above a double is above it exactly, too.
Question Ask(const RowScan& input, const RowScan& out_backprop, double threshold) {
  if (std::isnan(threshold) || input.nonzeros == 0 || out_backprop.nonzeros == 0) return {};
  if (threshold <= 0 || input.min_abs * out_backprop.min_abs > threshold) return {Question::Answer::kEveryTerm, 0};
  if (!(input.max_abs * out_backprop.max_abs > threshold)) return {};
  return {Question::Answer::kByProduct, threshold};
}

}  // namespace

std::vector<std::int64_t> CountAbove(const RunPlanes& run, const ElementRange& range, const Kernels& kernels,
                                     std::span<const double> thresholds) {
  using Answer = Question::Answer;
  RangeRows rows(run, range, kernels);
  std::vector<Question> questions;
  questions.reserve(thresholds.size());
  bool any = false;
  for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
    for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc) {
      const double threshold = ShiftUp(thresholds[questions.size()], rows.shift(ic, oc));
      questions.push_back(Ask(rows.input_scan(ic), rows.out_scan(oc), threshold));
      any = any || questions.back().answer != Answer::kNone;
    }
  }
  std::vector<std::int64_t> counts(thresholds.size());
  const std::int64_t positions = any ? run.problem.positions() : 0;
  for (std::int64_t begin = 0; begin < positions; begin += kChunk) {
    rows.Load(begin, std::min(positions, begin + kChunk));
    for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
      for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc) {
        const auto i = static_cast<std::size_t>(rows.IndexOf(ic, oc));
        const Question& question = questions[i];
        if (question.answer == Answer::kEveryTerm) {
          counts[i] += rows.CountTerms(ic, oc);
        } else if (question.answer == Answer::kByProduct) {
          counts[i] += kernels.count_above(rows.input_row(ic), rows.out_row(oc), rows.padded(), question.threshold);
        }
      }
    }
  }
  return counts;
}

}  // namespace wgrad::oracle
