#include "oracle/finding.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wgrad::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kDigits = 20;      // of an exact value: more than any dtype has
constexpr int kShortDigits = 6;  // of an error or a bound

std::uint64_t ExactBits(const ElementFacts& facts, DType dtype) {
  const bool plus = (facts.census & kCensusPlusInfinity) != 0;
  const bool minus = (facts.census & kCensusMinusInfinity) != 0;
  if ((facts.census & kCensusNaN) != 0 || (plus && minus)) return EncodeNearest(dtype, std::nan(""));
  if (plus || minus) return InfinityBits(dtype, minus);
  return facts.sum.RoundTo(dtype);
}

std::string DecimalOf(double value, std::uint64_t bits, DType dtype) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "+inf" : "-inf";
  if (value == 0) return IsNegative(dtype, bits) ? "-0" : "0";
  return Dyadic::FromDouble(value).ToDecimal(kDigits);
}

std::string RuleFor(const AllowedSet& allowed, std::uint64_t actual_bits, double actual, DType dtype) {
  if (actual_bits == PoisonBits(dtype)) return "the candidate never wrote this element";
  if (std::isnan(actual)) return "NaN, where none is allowed (" + allowed.reason + ")";
  const bool only_nan = allowed.nan && !allowed.has_range && !allowed.plus_infinity && !allowed.minus_infinity;
  if (only_nan) return "NaN swallowed (" + allowed.reason + ")";
  if (std::isinf(actual)) return "infinite, where it may not be (" + allowed.reason + ")";
  if (!allowed.has_range) return "finite, where it may not be (" + allowed.reason + ")";
  return "outside what is allowed (" + allowed.reason + ")";
}

void AddError(const ElementFacts& facts, const AllowedSet& allowed, double actual, DType dtype,
              ElementFinding& finding) {
  const Dyadic difference = Dyadic::FromDouble(actual) - facts.sum;
  const Rational error = ToRational(Abs(difference));
  finding.error_decimal = Abs(difference).ToDecimal(kShortDigits);
  if (!allowed.has_range) return;
  // The permitted error on actual's side: to the end of the allowed interval, store included.
  const bool above = difference.sign() >= 0;
  const double end = above ? allowed.high : allowed.low;
  if (!std::isfinite(end)) return;
  Rational permitted = ToRational(Dyadic::FromDouble(end) - facts.sum);
  if (!above) permitted = -permitted;
  if (permitted < 0) permitted = 0;
  finding.bound_decimal = ToSticky(permitted).ToDecimal(kShortDigits, Rounding::kUp);
  if (permitted > 0) finding.bound_ratio = ToDouble(Rational(error / permitted));
  const double exact = DecodeBits(dtype, facts.sum.RoundTo(dtype));
  const FloatFormat& format = FormatOf(dtype);
  if (std::isfinite(exact)) {
    const int exponent = exact == 0 ? format.min_exponent : std::max(std::ilogb(exact), format.min_exponent);
    finding.ulps = ToDouble(Rational(error / PowerOfTwo(exponent - format.precision + 1)));
  }
}

std::string AxisPattern(const char* name, const std::vector<std::int64_t>& wrong) {
  const auto hit = [&wrong](std::size_t index) { return wrong[index] > 0; };
  std::size_t first = 0;
  while (!hit(first)) ++first;
  std::size_t last = wrong.size() - 1;
  while (!hit(last)) --last;
  bool contiguous = true;
  for (std::size_t index = first; index <= last; ++index) contiguous = contiguous && hit(index);
  if (first == 0 && last == wrong.size() - 1) return "";
  const std::string axis(name);
  if (first == last) return axis + " = " + std::to_string(first);
  if (!contiguous) return "";
  if (last == wrong.size() - 1) return axis + " >= " + std::to_string(first);
  if (first == 0) return axis + " <= " + std::to_string(last);
  return axis + " from " + std::to_string(first) + " to " + std::to_string(last);
}

}  // namespace

ElementFinding MakeFinding(const ElementFacts& facts, const AllowedSet& allowed, std::uint64_t actual_bits,
                           DType dtype) {
  ElementFinding finding;
  const double actual = DecodeBits(dtype, actual_bits);
  finding.actual_bits = actual_bits;
  finding.exact_bits = ExactBits(facts, dtype);
  finding.actual_decimal = DecimalOf(actual, actual_bits, dtype);
  const double exact = DecodeBits(dtype, finding.exact_bits);
  const bool finite_sum = (facts.census & (kCensusNaN | kCensusPlusInfinity | kCensusMinusInfinity)) == 0;
  finding.exact_decimal = finite_sum ? facts.sum.ToDecimal(kDigits) : DecimalOf(exact, finding.exact_bits, dtype);
  finding.terms = facts.terms;
  finding.wrong = true;
  finding.rule = RuleFor(allowed, actual_bits, actual, dtype);
  finding.allowed = allowed.Describe(dtype);
  finding.bound_ratio = kInfinity;
  if (!facts.abs_sum.is_zero()) {
    finding.condition =
        facts.sum.is_zero() ? kInfinity : ToDouble(ToRational(facts.abs_sum) / ToRational(Abs(facts.sum)));
  }
  if (finite_sum && std::isfinite(actual) && actual_bits != PoisonBits(dtype))
    AddError(facts, allowed, actual, dtype, finding);
  return finding;
}

std::string DescribePattern(const Problem& problem, const std::array<std::vector<std::int64_t>, 4>& wrong_by_axis,
                            std::int64_t wrong) {
  if (wrong == 0 || problem.filter_count() < 2) return "";
  static constexpr std::array<const char*, 4> kAxes = {"kh", "kw", "ic", "oc"};
  std::string text;
  for (std::size_t axis = 0; axis < 4; ++axis) {
    const std::string part = AxisPattern(kAxes[axis], wrong_by_axis[axis]);
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  if (text.empty()) return "";
  return (wrong == 1 ? "the wrong element has " : "all wrong elements have ") + text;
}

}  // namespace wgrad::oracle
