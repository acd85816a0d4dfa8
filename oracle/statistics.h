// Collects the numbers of a case over its elements. None of them decides a verdict. May include: core, oracle.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/problem.h"
#include "oracle/verdict.h"

namespace wgrad::oracle {

/// What one finite element contributes.
struct ElementNumbers {
  double error = 0;           // |actual - exact|
  double ulps = 0;            // error in units of the last place of the exact value
  double bound_ratio = 0;     // error / bound before the store
  double relative_error = 0;  // error / (u_out * (A + n * N_min))
  double norm_error = 0;      // error / (u_out * N2)
  int sign = 0;               // of (actual - exact) * sign(exact)
  bool correctly_rounded = false;
};

class StatisticsCollector {
 public:
  /// `advisories` tells whether the structure of errors is wanted too.
  StatisticsCollector(const Problem& problem, bool advisories);

  void CountElement(std::int64_t terms);
  void Add(const ElementNumbers& numbers, const std::array<std::int64_t, 4>& index);
  void AddCoverage(std::int64_t covered) { statistics_.covered_terms += covered; }
  void SetVacuous() { statistics_.vacuous = true; }

  Statistics Finish() const;
  /// Outlier, bias and structure: findings that never decide (docs/error-bounds.md, section 5).
  std::vector<std::string> Advisories() const;

 private:
  void AddStructure(double relative_error, const std::array<std::int64_t, 4>& index);

  /// Logarithmic histogram, eight equal bins an octave from 2^-40 to 2^88; enough for percentiles.
  class LogHistogram {
   public:
    void Add(double value);
    double Quantile(double share) const;
    std::int64_t count() const { return count_; }

   private:
    static constexpr int kPerOctave = 8;
    static constexpr int kLowest = -40;
    std::array<std::int64_t, 128 * kPerOctave> bins_{};
    std::int64_t zeros_ = 0;
    std::int64_t count_ = 0;
  };
  struct Mean {
    double sum = 0;
    std::int64_t count = 0;
    double value() const { return count == 0 ? 0 : sum / static_cast<double>(count); }
  };

  std::array<std::int64_t, 4> last_;  // largest kh, kw, ic, oc
  int result_precision_;
  bool advisories_;
  Statistics statistics_;
  double sum_ulp_ = 0;
  double sum_square_ulp_ = 0;
  LogHistogram ulps_;
  LogHistogram relative_;
  double largest_relative_ = 0;
  std::array<std::int64_t, 4> largest_index_{};
  Mean inside_;
  std::array<Mean, 3> edges_;  // border taps, last ic, last oc
};

}  // namespace wgrad::oracle
