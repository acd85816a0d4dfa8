// ClassBound: an accuracy class bound to a problem and its data: how far a result may be from the exact sum, and which
// results are allowed at all. The rules of docs/error-bounds.md (E1 to E9) and docs/special-values.md (S1 to S9), in
// exact arithmetic; doubles appear only in certified shortcuts.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/problem.h"
#include "oracle/accuracy_class.h"
#include "oracle/facts.h"
#include "oracle/rational.h"

namespace wgrad::oracle {

/// How the accumulated value becomes the result (rule E4).
enum class Store : std::uint8_t {
  kNone,      // accumulator and result share a format, and the last rounding is counted in the error
  kNearest,   // rounded to nearest once more
  kFaithful,  // rounded in some faithful way
};

/// Everything exact about one element that its allowed set depends on.
struct ElementFacts {
  std::int64_t terms = 0;
  std::uint8_t census = 0;
  Dyadic sum;
  Dyadic abs_sum;
  Dyadic subnormal_abs_sum;
  double input_abs = 0;  // upper bounds of the sums of |input| and |out_backprop|
  double out_backprop_abs = 0;
  Rational norm;                   // N2 or NM, where the class is relative to a norm
  bool channel_nonfinite = false;  // its input channel or out_backprop channel holds a NaN or an infinity
};

/// The results that are right for one element.
struct AllowedSet {
  bool has_range = false;  // values in [low, high], which may end in infinities; compared without the sign of zero
  double low = 0;
  double high = 0;
  bool nan = false;
  bool plus_infinity = false;
  bool minus_infinity = false;
  bool zero = false;           // a flushed result
  bool largest = false;        // +MAX and
  bool most_negative = false;  // -MAX in place of an infinity (saturate)
  Rational error;              // the permitted error before the store, where has_range
  std::string reason;          // what fixes the set, in words

  bool Contains(double actual, DType dtype) const;
  std::string Describe(DType dtype) const;
};

/// error = alpha * A + beta + gamma * (conversion terms), for elements of one term count.
struct Coefficients {
  Rational alpha, beta, gamma;
  bool has_flushed = false;  // a second, sometimes smaller, bound for flushing arithmetic (rule E3)
  Rational flushed_alpha, flushed_beta;
  // Certified doubles: the low ones below every form, the high ones above the first.
  double alpha_low = 0, alpha_high = 0, beta_low = 0, beta_high = 0, gamma_high = 0;
};

/// What the certified shortcut knows of an element.
struct QuickFacts {
  std::int64_t terms = 0;
  double abs_sum = 0;     // within a relative 2^-52 of A
  double conversion = 0;  // at least the element's conversion terms; 0 where the class has none
  double norm = 0;        // within a relative 2^-40 of N2 or NM; 0 where the class has none
};

/// low <= permitted error before the store <= high.
struct ErrorRange {
  double low = 0;
  double high = 0;
};

class ClassBound {
 public:
  ClassBound(const Problem& problem, const AccuracyClass& accuracy_class, const Policy& policy);
  ClassBound(ClassBound&&) noexcept = default;
  ClassBound& operator=(ClassBound&&) noexcept = default;

  /// The data of the run that is judged next: their grid decides where sums are exact (rule E6).
  void SetData(const TensorScan& input, const TensorScan& out_backprop);

  const AccuracyClass& accuracy_class() const { return class_; }
  Store store() const { return store_; }
  const FloatFormat& accumulator() const { return accumulator_; }
  bool relative_to_norm() const { return class_.kind == ClassKind::kChannel || class_.kind == ClassKind::kTensor; }
  bool flushes() const { return flushes_; }
  bool reads_subnormals_as_zero() const { return zeroes_subnormals_; }

  const Coefficients& CoefficientsFor(std::int64_t terms);

  /// Every partial sum of an element with this A is exact in the accumulator, whatever the order (rule E6).
  bool ExactByGrid(double abs_sum) const { return grid_exact_ && abs_sum <= grid_limit_; }
  /// A single term in a class of round-to-nearest operations: RN_out(RN_accumulator(S)) and nothing else (rule E7).
  bool SingleRounding(std::int64_t terms) const { return terms == 1 && single_rounding_; }
  /// The permitted error before the store, enclosed in doubles. Requires sums within overflow_free_limit().
  ErrorRange QuickError(const QuickFacts& facts);
  /// Upper bound of the conversion terms of rule E5 out of doubles.
  double ConversionHigh(std::int64_t terms, double input_abs, double out_backprop_abs, double subnormal_abs_sum) const;
  /// Sums below this certainly overflow nowhere: neither in the accumulator nor at the store.
  double overflow_free_limit() const { return overflow_free_limit_; }

  /// Smallest n with n*u >= 1 in the accumulator, from which on the worst-case bound says little.
  std::int64_t vacuous_from() const;

  AllowedSet Allow(const ElementFacts& facts);
  /// Upper bound of the error before the store, for certificates; infinite where there is none.
  Rational ErrorBeforeStore(const ElementFacts& facts);

 private:
  std::int64_t DepthFor(std::int64_t terms) const;
  Rational AccumulationFactor(std::int64_t terms) const;
  void AddPartialSums(Coefficients& coefficients) const;
  Coefficients MakeCoefficients(std::int64_t terms) const;
  Rational ConversionTerms(const ElementFacts& facts) const;
  Rational NormFactor() const;
  void AllowFinite(const ElementFacts& facts, AllowedSet& set);
  void AllowOverflow(const ElementFacts& facts, const Rational& error, AllowedSet& set) const;
  void AllowInfinite(const ElementFacts& facts, AllowedSet& set);

  Problem problem_;
  AccuracyClass class_;
  Policy policy_;
  DType result_dtype_;
  FloatFormat out_;
  FloatFormat accumulator_;
  Store store_ = Store::kNone;
  bool nearest_operations_ = true;  // v = u; otherwise faithful operations, v = 2u
  bool compensated_ = false;        // wide results of float32 and float64: Dot2 belongs to the class
  bool exact_sum_ = false;          // cr, faithful: no error before the store
  bool flushes_ = false;
  bool zeroes_subnormals_ = false;
  bool single_rounding_ = false;
  bool input_overflows_ = false;  // a converted input may become infinite (rule S5)
  bool grid_exact_ = false;
  double grid_limit_ = 0;
  double overflow_free_limit_ = 0;
  Rational norm_factor_;  // error relative to the norm, where the class has one
  double norm_factor_value_ = 0;
  std::unordered_map<std::int64_t, Coefficients> cache_;
  const Coefficients* last_ = nullptr;  // into cache_
  std::int64_t last_terms_ = 0;
};

}  // namespace wgrad::oracle
