// Facts: the exact sums of filter_backprop's elements, fast enough for whole layers. Vectorised error-free
// extraction and superaccumulators of our own; no BLAS, since the judge of an OpenBLAS path may not rest on one.
// Facts come in blocks of elements and are dropped when judged, so memory does not grow with the filter.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/problem.h"
#include "core/tensor.h"
#include "reference/dyadic.h"

namespace wgrad::oracle {

/// A rectangle of filter elements of one tap: ic in [ic_begin, ic_end), oc in [oc_begin, oc_end), one group only.
struct ElementRange {
  std::int64_t kh = 0, kw = 0;
  std::int64_t ic_begin = 0, ic_end = 0;
  std::int64_t oc_begin = 0, oc_end = 0;
  std::int64_t size() const { return (ic_end - ic_begin) * (oc_end - oc_begin); }
};

/// Which non-finite (or daz-sensitive) products an element has. Bits of ElementFacts::census.
enum CensusBits : std::uint8_t {
  kCensusNaN = 1,                      // NaN factor or 0 * Inf, inside the image
  kCensusPlusInfinity = 2,             // a product +Inf out of an infinite factor
  kCensusMinusInfinity = 4,            // likewise -Inf
  kCensusPaddingNonFinite = 8,         // NaN or Inf in out_backprop whose input position is padding
  kCensusSubnormalTimesInfinity = 16,  // a subnormal factor met an infinity
  kCensusNaNTimesNonZero = 32,         // a NaN factor met a non-zero one: NaN also where zero factors are skipped
};

/// What a whole tensor looks like. Over finite, non-zero values; all 0 / empty where there are none.
struct TensorScan {
  double max_abs = 0;
  double min_abs = 0;            // smallest non-zero magnitude
  int lowest_bit = 0;            // every value is a multiple of 2^lowest_bit
  int max_significant_bits = 0;  // widest significand, trailing zeros not counted
  bool has_zero = false;
  bool has_subnormal = false;
  bool has_nonfinite = false;
};
TensorScan Scan(const Tensor& tensor);

/// The facts of one range of elements. Index i counts ic-major: i = (ic - ic_begin) * (oc_end - oc_begin) + oc -
/// oc_begin.
class FactsBlock {
 public:
  virtual ~FactsBlock() = default;
  virtual const ElementRange& range() const = 0;
  /// Non-zero finite products inside the image (n).
  virtual std::int64_t terms(std::int64_t i) const = 0;
  virtual std::uint8_t census(std::int64_t i) const = 0;
  virtual DoubleDouble sum(std::int64_t i) const = 0;      // S
  virtual DoubleDouble abs_sum(std::int64_t i) const = 0;  // A
  virtual Dyadic exact_sum(std::int64_t i) const = 0;
  virtual Dyadic exact_abs_sum(std::int64_t i) const = 0;
  /// Sum of |products| that have a subnormal factor (A_sub); zero unless the engine was asked for it.
  virtual Dyadic exact_subnormal_abs_sum(std::int64_t i) const = 0;
  /// Upper bounds of the sums of |input| and of |out_backprop| over element i's positions inside the image.
  virtual double input_abs_bound(std::int64_t i) const = 0;
  virtual double out_backprop_abs_bound(std::int64_t i) const = 0;
};

/// Sums the elements of one run. Copies what it needs of the tensors.
class FactsEngine {
 public:
  struct Options {
    bool subnormal_sums = false;  // also A_sub
  };
  FactsEngine(const Problem& problem, const Tensor& input, const Tensor& out_backprop, Options options);
  ~FactsEngine();
  FactsEngine(FactsEngine&&) noexcept;

  const TensorScan& input_scan() const;
  const TensorScan& out_backprop_scan() const;

  /// A partition of the filter's elements; empty where the filter has none.
  std::vector<ElementRange> Blocks() const;
  std::unique_ptr<FactsBlock> Sum(const ElementRange& range);
  /// For each element i of the range, how many finite products are certainly larger in magnitude than thresholds[i].
  /// Never counts too many (products are compared as doubles rounded down).
  std::vector<std::int64_t> CountTermsAbove(const ElementRange& range, std::span<const double> thresholds);

  /// Exact squares of the channel norms, non-finite entries left out: sum over n, ih, iw of input[.., c]^2, and of
  /// out_backprop[.., oc]^2. Computed on first use.
  const Dyadic& input_channel_square(std::int64_t c);
  const Dyadic& out_backprop_channel_square(std::int64_t oc);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace wgrad::oracle
