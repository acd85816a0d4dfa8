#include "oracle/statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wgrad::oracle {
namespace {

constexpr std::array<const char*, 3> kEdgeNames = {"the filter's border taps", "the last input channel",
                                                   "the last output channel"};

int ExponentOf(double positive) { return static_cast<int>(std::bit_cast<std::uint64_t>(positive) >> 52) - 1023; }

template <std::size_t N>
void AddToHistogram(std::array<std::int64_t, N>& bins, double value, int lowest) {
  if (!(value > 0) || std::isinf(value)) return;
  ++bins[static_cast<std::size_t>(std::clamp(ExponentOf(value) - lowest, 0, static_cast<int>(N) - 1))];
}

std::string Ratio(double value) {
  std::string text = std::to_string(std::llround(value));
  return text + " times";
}

}  // namespace

void StatisticsCollector::LogHistogram::Add(double value) {
  ++count_;
  if (!(value > 0)) {
    ++zeros_;
    return;
  }
  // Exponent and leading fraction bits of a double, read as one integer, count eighths of octaves.
  const int position = static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 49) - (1023 + kLowest) * kPerOctave;
  ++bins_[static_cast<std::size_t>(std::clamp(position, 0, static_cast<int>(bins_.size()) - 1))];
}

double StatisticsCollector::LogHistogram::Quantile(double share) const {
  std::int64_t rest = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(count_))) - zeros_;
  if (rest <= 0) return 0;
  for (std::size_t bin = 0; bin < bins_.size(); ++bin) {
    rest -= bins_[bin];
    if (rest <= 0) {
      const int octave = kLowest + static_cast<int>(bin) / kPerOctave;
      return std::ldexp(1 + (static_cast<double>(bin % kPerOctave) + 0.5) / kPerOctave, octave);
    }
  }
  return 0;
}

StatisticsCollector::StatisticsCollector(const Problem& problem, bool advisories)
    : last_{problem.rows().filter - 1, problem.columns().filter - 1, problem.filter_depth() - 1,
            problem.out_depth() - 1},
      result_precision_(FormatOf(problem.result_dtype()).precision),
      advisories_(advisories) {}

void StatisticsCollector::CountElement(std::int64_t terms) {
  ++statistics_.elements;
  if (terms == 0) ++statistics_.forced;
  statistics_.terms += terms;
  statistics_.max_terms = std::max(statistics_.max_terms, terms);
}

void StatisticsCollector::Add(const ElementNumbers& numbers, const std::array<std::int64_t, 4>& index) {
  ++statistics_.finite;
  if (numbers.correctly_rounded) ++statistics_.correctly_rounded;
  statistics_.max_ulp = std::max(statistics_.max_ulp, numbers.ulps);
  sum_ulp_ += numbers.ulps;
  sum_square_ulp_ += numbers.ulps * numbers.ulps;
  ulps_.Add(numbers.ulps);
  statistics_.max_bound_ratio = std::max(statistics_.max_bound_ratio, numbers.bound_ratio);
  statistics_.max_k_a = std::max(statistics_.max_k_a, numbers.relative_error);
  statistics_.max_k_n = std::max(statistics_.max_k_n, numbers.norm_error);
  if (numbers.sign > 0) ++statistics_.above;
  if (numbers.sign < 0) ++statistics_.below;
  AddToHistogram(statistics_.ulp_histogram, numbers.ulps, -8);
  AddToHistogram(statistics_.ratio_histogram, numbers.bound_ratio, -20);

  if (advisories_) AddStructure(numbers.relative_error, index);
}

void StatisticsCollector::AddStructure(double relative_error, const std::array<std::int64_t, 4>& index) {
  relative_.Add(relative_error);
  if (relative_error > largest_relative_) {
    largest_relative_ = relative_error;
    largest_index_ = index;
  }
  const bool border =
      last_[0] > 0 && last_[1] > 0 && (index[0] == 0 || index[1] == 0 || index[0] == last_[0] || index[1] == last_[1]);
  const std::array<bool, 3> at_edge = {border, last_[2] > 0 && index[2] == last_[2],
                                       last_[3] > 0 && index[3] == last_[3]};
  bool anywhere = false;
  for (std::size_t edge = 0; edge < at_edge.size(); ++edge) {
    if (!at_edge[edge]) continue;
    anywhere = true;
    edges_[edge].sum += relative_error;
    ++edges_[edge].count;
  }
  if (anywhere) return;
  inside_.sum += relative_error;
  ++inside_.count;
}

Statistics StatisticsCollector::Finish() const {
  Statistics statistics = statistics_;
  const double count = static_cast<double>(std::max<std::int64_t>(1, statistics.finite));
  statistics.mean_ulp = sum_ulp_ / count;
  statistics.rms_ulp = std::sqrt(sum_square_ulp_ / count);
  statistics.p50_ulp = ulps_.Quantile(0.50);
  statistics.p90_ulp = ulps_.Quantile(0.90);
  statistics.p99_ulp = ulps_.Quantile(0.99);
  // K_A counts roundings in the result's format: E(D, u) = Du / (1 - Du/2) >= K_A u solved for the least D.
  const double u = std::ldexp(1.0, -result_precision_);
  const double k = statistics.max_k_a;
  statistics.achieved_depth =
      std::isfinite(k) ? static_cast<std::int64_t>(std::min(9e18, std::ceil(k / (1 + k * u / 2)))) : 0;
  statistics.effective_bits = k > 0 ? result_precision_ - std::log2(k) : result_precision_;
  const std::int64_t signs = statistics.above + statistics.below;
  if (signs > 0)
    statistics.bias_z =
        static_cast<double>(statistics.above - statistics.below) / std::sqrt(static_cast<double>(signs));
  return statistics;
}

std::vector<std::string> StatisticsCollector::Advisories() const {
  std::vector<std::string> advisories;
  if (!advisories_) return advisories;
  // Thresholds measured over right implementations: outliers stayed below 9.4 times the median, |z| below 2.4 with
  // rounding to nearest; flags stand well above.
  constexpr double kOutlier = 25;
  constexpr double kBias = 6.1;
  constexpr double kStructure = 8;
  constexpr std::int64_t kEnough = 32;
  const double median = relative_.Quantile(0.5);
  if (relative_.count() >= kEnough && median > 0 && largest_relative_ > kOutlier * median) {
    advisories.push_back("outlier: filter_backprop[" + std::to_string(largest_index_[0]) + ", " +
                         std::to_string(largest_index_[1]) + ", " + std::to_string(largest_index_[2]) + ", " +
                         std::to_string(largest_index_[3]) + "] is off by " + Ratio(largest_relative_ / median) +
                         " the median error");
  }
  const double z = Finish().bias_z;
  if (std::fabs(z) > kBias) {
    const std::int64_t signs = statistics_.above + statistics_.below;
    advisories.push_back(std::string("bias: ") + std::to_string(z > 0 ? statistics_.above : statistics_.below) +
                         " of " + std::to_string(signs) + " errors point " + (z > 0 ? "away from" : "towards") +
                         " zero, as with a truncating or stagnating accumulator");
  }
  for (std::size_t edge = 0; edge < edges_.size(); ++edge) {
    if (edges_[edge].count < kEnough || inside_.count < kEnough || inside_.value() == 0) continue;
    const double ratio = edges_[edge].value() / inside_.value();
    if (ratio > kStructure) {
      advisories.push_back(std::string("structure: errors at ") + kEdgeNames[edge] + " are " + Ratio(ratio) +
                           " those elsewhere");
    }
  }
  return advisories;
}

}  // namespace wgrad::oracle
