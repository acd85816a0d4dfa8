// The allowed set of one element: the interval of the bound, overflow, and the special values (rules S1 to S9).
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "oracle/bound.h"

namespace wgrad::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The smallest magnitude that round-to-nearest sends to infinity.
Rational OverflowThreshold(const FloatFormat& format) {
  return (2 - PowerOfTwo(-format.precision)) * PowerOfTwo(format.max_exponent);
}

double RoundTo(const Rational& value, DType dtype, Rounding rounding) {
  return DecodeBits(dtype, ToSticky(value).RoundTo(dtype, rounding));
}

double LargestFinite(DType dtype) { return DecodeBits(dtype, LargestFiniteBits(dtype, false)); }

std::string Text(double value) {
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 40> buffer{};
  const auto [stop, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return status == std::errc() ? std::string(buffer.data(), stop) : "?";
}

}  // namespace

bool AllowedSet::Contains(double actual, DType dtype) const {
  if (std::isnan(actual)) return nan;
  if (actual == kInfinity && plus_infinity) return true;
  if (actual == -kInfinity && minus_infinity) return true;
  if (actual == 0 && zero) return true;
  if (largest && actual == LargestFinite(dtype)) return true;
  if (most_negative && actual == -LargestFinite(dtype)) return true;
  return has_range && low <= actual && actual <= high;
}

std::string AllowedSet::Describe(DType dtype) const {
  std::string text;
  auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " or ") + part; };
  if (has_range && low <= high) add(low == high ? Text(low) : "[" + Text(low) + ", " + Text(high) + "]");
  if (plus_infinity && !(has_range && high == kInfinity)) add("+Inf");
  if (minus_infinity && !(has_range && low == -kInfinity)) add("-Inf");
  if (largest) add(Text(LargestFinite(dtype)));
  if (most_negative) add(Text(-LargestFinite(dtype)));
  if (zero && !(has_range && low <= 0 && 0 <= high)) add("0");
  if (nan) add("NaN");
  return text.empty() ? "nothing representable" : text;
}

void ClassBound::AllowOverflow(const ElementFacts& facts, const Rational& error, AllowedSet& set) const {
  if (exact_sum_) return;  // rounds the exact sum once: infinities come from the store alone
  const Rational abs_sum = ToRational(facts.abs_sum);
  const Rational sum = ToRational(facts.sum);
  // Dot2 sums in the result's format, and so do partial sums that are kept in it.
  const bool in_result_format = compensated_ || class_.splits > 1;
  const Rational threshold = in_result_format ? std::min(OverflowThreshold(accumulator_), OverflowThreshold(out_))
                                              : OverflowThreshold(accumulator_);
  bool up = (abs_sum + sum) / 2 + error >= threshold;
  bool down = (abs_sum - sum) / 2 + error >= threshold;
  bool invalid = up && down;
  // Transforms hold values up to their norm, whatever the sum; converted inputs may be infinite (S5, S6).
  if ((relative_to_norm() && facts.norm * 1024 >= threshold) || input_overflows_) up = down = invalid = true;
  set.plus_infinity = set.plus_infinity || up;
  set.minus_infinity = set.minus_infinity || down;
  set.nan = set.nan || invalid;
}

void ClassBound::AllowFinite(const ElementFacts& facts, AllowedSet& set) {
  set.has_range = true;
  if (facts.terms == 0 && !relative_to_norm()) {
    set.reason = "no non-zero term: the result must be zero";
    return;
  }
  const Rational sum = ToRational(facts.sum);
  const Rational error = ErrorBeforeStore(facts);
  set.error = error;
  const bool exact = !exact_sum_ && ExactByGrid(facts.abs_sum.ToDouble());
  if (SingleRounding(facts.terms) && !exact) {
    const DType accumulator_dtype = accumulator_ == kHalfFormat       ? DType::kFloat16
                                    : accumulator_ == kBFloat16Format ? DType::kBFloat16
                                    : accumulator_ == kFloat32Format  ? DType::kFloat32
                                                                      : DType::kFloat64;
    const double product = RoundTo(sum, accumulator_dtype, Rounding::kNearest);
    set.low = set.high = DecodeBits(result_dtype_, EncodeNearest(result_dtype_, product));
    set.reason = "one term: its product rounded once";
  } else if (store_ == Store::kNone) {
    set.low = RoundTo(sum - error, result_dtype_, Rounding::kUp);
    set.high = RoundTo(sum + error, result_dtype_, Rounding::kDown);
    // Without a store to round at, an infinity can only come from an overflow on the way (S4).
    set.low = std::max(set.low, -LargestFinite(result_dtype_));
    set.high = std::min(set.high, LargestFinite(result_dtype_));
  } else {
    const bool nearest = store_ == Store::kNearest;
    set.low = RoundTo(sum - error, result_dtype_, nearest ? Rounding::kNearest : Rounding::kDown);
    set.high = RoundTo(sum + error, result_dtype_, nearest ? Rounding::kNearest : Rounding::kUp);
  }
  if (exact) set.reason = "every partial sum is exact on this data: the result must be the exact sum, stored";
  if (set.reason.empty()) {
    set.reason = exact_sum_ ? "the exact sum, rounded as class " + Format(class_) + " demands"
                            : "the bound of class " + Format(class_);
  }
  const Rational normal = PowerOfTwo(out_.min_exponent);
  if (flushes_ && sum - error < normal && sum + error > -normal) set.zero = true;
  AllowOverflow(facts, error, set);
  if (zeroes_subnormals_ && single_rounding_ && facts.terms == 1 && !facts.subnormal_abs_sum.is_zero()) set.zero = true;
}

void ClassBound::AllowInfinite(const ElementFacts& facts, AllowedSet& set) {
  const bool plus = (facts.census & kCensusPlusInfinity) != 0;
  (plus ? set.plus_infinity : set.minus_infinity) = true;
  set.reason = plus ? "a product is +Inf" : "a product is -Inf";
  const Rational threshold = OverflowThreshold(accumulator_);
  const Rational abs_sum = ToRational(facts.abs_sum);
  const Rational sum = ToRational(facts.sum);
  const Rational opposite = (plus ? Rational(abs_sum - sum) : Rational(abs_sum + sum)) / 2 + ErrorBeforeStore(facts);
  const bool meets_opposite = !exact_sum_ && opposite >= threshold;
  const bool reads_zero = (facts.census & kCensusSubnormalTimesInfinity) != 0 && zeroes_subnormals_;
  const bool converts = class_.kind == ClassKind::kInput;
  if (meets_opposite || reads_zero || converts || relative_to_norm()) set.nan = true;
}

AllowedSet ClassBound::Allow(const ElementFacts& facts) {
  AllowedSet set;
  const std::uint8_t census = facts.census;
  const bool plus = (census & kCensusPlusInfinity) != 0;
  const bool minus = (census & kCensusMinusInfinity) != 0;
  const bool padding = (census & kCensusPaddingNonFinite) != 0;
  const bool invalid = (census & kCensusNaN) != 0;
  const bool skippable = policy_.zero_skip && (census & kCensusNaNTimesNonZero) == 0;
  if (invalid || (plus && minus)) {
    set.nan = true;
    set.reason = plus && minus ? "infinities of both signs meet" : "a NaN, or 0 * Inf, is among the terms";
    if ((plus && minus) || !skippable) return set;
  }
  if (padding && policy_.pad == PadPolicy::kMultiply && !policy_.zero_skip) {
    set.nan = true;
    set.reason = "a non-finite out_backprop meets padding, which this policy multiplies";
    return set;
  }
  if (padding && policy_.pad != PadPolicy::kSkip) set.nan = true;
  if (relative_to_norm() && facts.channel_nonfinite) set.nan = true;
  if (plus || minus) {
    AllowInfinite(facts, set);
  } else {
    AllowFinite(facts, set);
  }
  if (policy_.saturate) {
    set.largest = set.plus_infinity || (set.has_range && set.high == kInfinity);
    set.most_negative = set.minus_infinity || (set.has_range && set.low == -kInfinity);
  }
  return set;
}

}  // namespace wgrad::oracle
