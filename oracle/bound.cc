#include "oracle/bound.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/check.h"

namespace wgrad::oracle {
namespace {

Rational UnitRoundoff(const FloatFormat& format) { return PowerOfTwo(-format.precision); }
Rational SmallestSubnormal(const FloatFormat& format) { return PowerOfTwo(format.lowest_exponent()); }
Rational SmallestNormal(const FloatFormat& format) { return PowerOfTwo(format.min_exponent); }

std::int64_t CeilLog2(std::int64_t value) {
  return value <= 1 ? 0 : static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(value - 1)));
}

std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

Rational Power(Rational base, std::int64_t exponent) {
  Rational result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result *= base;
    base *= base;
  }
  return result;
}

// E1(k, v) >= (1 + v)^k - 1 with kv given: rule E1. Above 8 a power of two that is larger still
// (1.5 > log2 e); from 2^4400 on every finite value of every dtype is inside anyhow.
Rational DepthFactor(const Rational& kv) {
  if (kv <= 1) return kv / (1 - kv / 2);
  if (kv <= 8) {
    const auto m = static_cast<std::int64_t>(std::ceil(8 * ToDouble(kv)));
    const Rational t = kv / m;
    return Power((1 + t / 2) / (1 - t / 2), m) - 1;
  }
  return PowerOfTwo(static_cast<int>(std::min(4400.0, std::ceil(1.5 * ToDouble(kv) + 1)))) - 1;
}

// E(k, u; N): the smaller of E1 and the linear bound (2N - 1)u of round-to-nearest operations, rule E2.
Rational NearestFactor(std::int64_t depth, std::int64_t terms, const Rational& u) {
  if (depth == 0) return 0;
  return std::min<Rational>(DepthFactor(depth * u), (2 * terms - 1) * u);
}

bool IsNarrow(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// The accumulator where the class does not name one.
FloatFormat DefaultAccumulator(const AccuracyClass& c, DType result) {
  const bool keeps_result_format = c.kind == ClassKind::kOrder || c.kind == ClassKind::kDepth;
  if (IsNarrow(result)) return keeps_result_format ? FormatOf(result) : kFloat32Format;
  if (c.kind == ClassKind::kWide || c.kind == ClassKind::kCr || c.kind == ClassKind::kFaithful) return kFloat64Format;
  return FormatOf(result);
}

// split and input stand on another class: the dtype's default accumulator, on hardware where that is the default.
bool OnHardware(const AccuracyClass& c, DType result) {
  return c.hardware || c.kind == ClassKind::kInput || (c.kind == ClassKind::kSplit && IsNarrow(result));
}

Store StoreFor(const AccuracyClass& c, const FloatFormat& accumulator, const FloatFormat& out, bool hardware) {
  switch (c.kind) {
    case ClassKind::kCr:
      return Store::kNearest;
    case ClassKind::kFaithful:
      return Store::kFaithful;
    case ClassKind::kSplit:
      return Store::kNone;  // the partial sums are results of the format already
    case ClassKind::kWide:
      return hardware ? Store::kFaithful : Store::kNearest;
    default:
      break;
  }
  // Every value of the accumulator is one of the result's: storing changes nothing.
  const bool embeds = accumulator.precision <= out.precision && accumulator.max_exponent <= out.max_exponent &&
                      accumulator.lowest_exponent() >= out.lowest_exponent();
  if (embeds) return Store::kNone;
  return hardware ? Store::kFaithful : Store::kNearest;
}

}  // namespace

ClassBound::ClassBound(const Problem& problem, const AccuracyClass& accuracy_class, const Policy& policy)
    : problem_(problem),
      class_(accuracy_class),
      policy_(policy),
      result_dtype_(problem.result_dtype()),
      out_(FormatOf(problem.result_dtype())),
      accumulator_(accuracy_class.accumulator.value_or(DefaultAccumulator(accuracy_class, problem.result_dtype()))) {
  const bool hardware = OnHardware(class_, result_dtype_);
  exact_sum_ = class_.kind == ClassKind::kCr || class_.kind == ClassKind::kFaithful;
  nearest_operations_ = !hardware;
  compensated_ = class_.kind == ClassKind::kWide && !IsNarrow(result_dtype_);
  store_ = StoreFor(class_, accumulator_, out_, hardware);
  flushes_ = policy_.ftz || hardware;
  zeroes_subnormals_ = policy_.daz || hardware;
  // Dot2 adds a product's error to it, and may lose that error to underflow.
  single_rounding_ = nearest_operations_ && !exact_sum_ && !compensated_ && class_.splits == 1 && !relative_to_norm();
  if (relative_to_norm()) norm_factor_ = NormFactor();
  norm_factor_value_ = ToDouble(norm_factor_);
  const int largest = std::min({accumulator_.max_exponent, out_.max_exponent, 1000});
  overflow_free_limit_ = std::ldexp(1.0, largest - 2);
}

void ClassBound::SetData(const TensorScan& input, const TensorScan& out_backprop) {
  grid_exact_ = false;
  input_overflows_ = false;
  if (relative_to_norm() || exact_sum_) return;
  if (class_.kind == ClassKind::kInput) {
    const FloatFormat& format = class_.input == InputFormat::kTf32 ? kTf32Format : kBFloat16Format;
    const double threshold = std::ldexp(2.0 - std::ldexp(1.0, -format.precision), format.max_exponent);
    for (const TensorScan* scan : {&input, &out_backprop}) {
      if (scan->max_abs >= threshold) input_overflows_ = true;
      if (scan->max_significant_bits > format.precision) return;
      if (scan->max_abs != 0 && scan->min_abs < std::ldexp(1.0, format.min_exponent)) return;
    }
  }
  if (zeroes_subnormals_ && (input.has_subnormal || out_backprop.has_subnormal)) return;
  // Partial sums that are kept, and Dot2, live in the result's format.
  const bool in_result_format = class_.splits > 1 || compensated_;
  const auto lowest = [&](const FloatFormat& format) {
    return flushes_ ? format.min_exponent : format.lowest_exponent();
  };
  const int grid = input.lowest_bit + out_backprop.lowest_bit;
  if (grid < lowest(accumulator_) || (in_result_format && grid < lowest(out_))) return;
  const int precision = in_result_format ? std::min(accumulator_.precision, out_.precision) : accumulator_.precision;
  const int top = std::min(grid + precision, std::min(accumulator_.max_exponent, out_.max_exponent));
  if (top > 1000 || top < -1000) return;
  grid_exact_ = true;
  grid_limit_ = std::ldexp(1.0, top);
  // At 53 bits the next sum, 2^53 + 1 steps of the grid, would round onto the limit itself.
  if (precision == 53) grid_limit_ = std::nextafter(grid_limit_, 0.0);
}

std::int64_t ClassBound::DepthFor(std::int64_t terms) const {
  const std::int64_t positions = problem_.positions();
  const std::int64_t operations = class_.input == InputFormat::kBFloat16x3 ? 3 * terms : terms;
  if (!nearest_operations_) return 3 * operations;
  if (class_.kind != ClassKind::kDepth) return operations;
  switch (class_.depth) {
    case DepthKind::kFixed:
      return std::min(terms, class_.depth_value);
    case DepthKind::kTree:
      return std::min(terms, 1 + CeilLog2(positions));
    case DepthKind::kBlocked:
      return std::min(terms, class_.depth_value + CeilDiv(positions, class_.depth_value));
    case DepthKind::kLanes:
      return std::min(terms, CeilDiv(positions, class_.depth_value) + CeilLog2(class_.depth_value) + 1);
  }
  return terms;
}

Rational ClassBound::AccumulationFactor(std::int64_t terms) const {
  const std::int64_t products = class_.input == InputFormat::kBFloat16x3 ? 3 * terms : terms;
  const Rational unit = UnitRoundoff(accumulator_);
  const Rational chain =
      nearest_operations_ ? NearestFactor(DepthFor(terms), products, unit) : DepthFactor(DepthFor(terms) * 2 * unit);
  if (!compensated_) return chain;
  // Dot2: gamma_n^2 in the result's format, where n*u < 1 (rule E8). float64 has no wider accumulator beside it.
  const Rational nu = (nearest_operations_ ? terms : 6 * terms) * UnitRoundoff(out_);
  const Rational dot2 = nu < 1 ? Rational((nu / (1 - nu)) * (nu / (1 - nu))) : Rational(0);
  if (out_ == kFloat64Format) return nu < 1 ? dot2 : chain;
  return std::max(chain, dot2);
}

void ClassBound::AddPartialSums(Coefficients& coefficients) const {
  if (class_.splits <= 1) return;
  const Rational unit = UnitRoundoff(out_);
  const Rational factor =
      nearest_operations_ ? NearestFactor(class_.splits, class_.splits, unit) : DepthFactor(class_.splits * 2 * unit);
  const Rational loss = class_.splits * SmallestSubnormal(out_) / (nearest_operations_ ? 2 : 1);
  coefficients.alpha += factor * (1 + coefficients.alpha);
  coefficients.beta += factor * coefficients.beta + loss;
  coefficients.gamma += factor * coefficients.gamma;
}

Coefficients ClassBound::MakeCoefficients(std::int64_t terms) const {
  Coefficients c;
  if (exact_sum_ || terms == 0) return c;
  // Relative error of a product through the conversion of its factors; truncation is covered, so u_i is the format's
  // ulp.
  Rational conversion = 0;
  if (class_.input == InputFormat::kTf32 || class_.input == InputFormat::kBFloat16) {
    const Rational u = 2 * UnitRoundoff(class_.input == InputFormat::kTf32 ? kTf32Format : kBFloat16Format);
    conversion = 2 * u + u * u;
  } else if (class_.input == InputFormat::kBFloat16x3) {
    const Rational u = UnitRoundoff(kBFloat16Format);
    conversion = 3 * u * u + 4 * u * u * u;
  }
  const std::int64_t products = class_.input == InputFormat::kBFloat16x3 ? 3 * terms : terms;
  const Rational factor = AccumulationFactor(terms);
  const Rational gradual = products * SmallestSubnormal(accumulator_) / (nearest_operations_ ? 2 : 1);
  const Rational underflow = flushes_ ? Rational(3 * products * SmallestNormal(accumulator_)) : gradual;
  c.alpha = conversion + factor * (1 + conversion);
  c.beta = factor * underflow + underflow;
  c.gamma = 1 + factor;
  if (compensated_) c.beta += 5 * terms * (flushes_ ? SmallestNormal(out_) : SmallestSubnormal(out_));
  if (flushes_ && conversion == 0 && class_.splits == 1) {
    c.has_flushed = true;
    c.flushed_alpha = std::max<Rational>(factor, 1);
    c.flushed_beta = (1 + factor) * gradual;
  }
  AddPartialSums(c);

  constexpr double kDown = 1 - 0x1p-48;
  constexpr double kUp = 1 + 0x1p-48;
  const double alpha = ToDouble(c.alpha);
  const double beta = ToDouble(c.beta);
  c.alpha_low = std::min(alpha, c.has_flushed ? ToDouble(c.flushed_alpha) : alpha) * kDown;
  c.beta_low = std::min(beta, c.has_flushed ? ToDouble(c.flushed_beta) : beta) * kDown;
  c.alpha_high = alpha * kUp;
  c.gamma_high = ToDouble(c.gamma) * kUp;
  c.beta_high = std::nextafter(beta * kUp, std::numeric_limits<double>::infinity());
  return c;
}

ErrorRange ClassBound::QuickError(const QuickFacts& facts) {
  const bool no_error = facts.terms == 0 && !relative_to_norm();
  if (no_error || exact_sum_ || ExactByGrid(facts.abs_sum)) return {};
  const Coefficients& c = CoefficientsFor(facts.terms);
  constexpr double kDown = 1 - 0x1p-38;
  constexpr double kUp = 1 + 0x1p-38;
  const double norm_error = norm_factor_value_ * facts.norm;
  const double low = std::max(c.alpha_low * facts.abs_sum + c.beta_low, norm_error);
  const double high =
      std::max(c.alpha_high * facts.abs_sum + c.beta_high + c.gamma_high * facts.conversion, norm_error);
  return {low * kDown, high * kUp + std::numeric_limits<double>::denorm_min()};
}

double ClassBound::ConversionHigh(std::int64_t terms, double input_abs, double out_backprop_abs,
                                  double subnormal_abs_sum) const {
  double conversion = zeroes_subnormals_ ? subnormal_abs_sum : 0;
  if (class_.kind == ClassKind::kInput) {
    const FloatFormat& format = class_.input == InputFormat::kTf32 ? kTf32Format : kBFloat16Format;
    const double step = std::ldexp(1.0, format.min_exponent);
    conversion += step * (input_abs + out_backprop_abs) + static_cast<double>(terms) * step * step;
  }
  return std::nextafter(conversion * (1 + 0x1p-48), std::numeric_limits<double>::infinity());
}

const Coefficients& ClassBound::CoefficientsFor(std::int64_t terms) {
  // Neighbours mostly have equally many terms. Elements of the map stay where they are.
  if (last_ != nullptr && last_terms_ == terms) return *last_;
  const auto found = cache_.find(terms);
  last_ = found != cache_.end() ? &found->second : &cache_.emplace(terms, MakeCoefficients(terms)).first->second;
  last_terms_ = terms;
  return *last_;
}

std::int64_t ClassBound::vacuous_from() const { return std::int64_t{1} << std::min(accumulator_.precision, 62); }

Rational ClassBound::ConversionTerms(const ElementFacts& facts) const {
  Rational terms = ToRational(facts.subnormal_abs_sum);
  if (!zeroes_subnormals_) terms = 0;
  if (class_.kind != ClassKind::kInput) return terms;
  const FloatFormat& format = class_.input == InputFormat::kTf32 ? kTf32Format : kBFloat16Format;
  // Subnormals of the input format: lost whole where it flushes, which hardware may.
  const Rational step = class_.input == InputFormat::kBFloat16x3 ? SmallestSubnormal(format) : SmallestNormal(format);
  const Rational sums =
      ToRational(Dyadic::FromDouble(facts.input_abs)) + ToRational(Dyadic::FromDouble(facts.out_backprop_abs));
  return terms + step * sums + facts.terms * step * step;
}

Rational ClassBound::NormFactor() const {
  const Rational u = UnitRoundoff(accumulator_);
  if (class_.kind == ClassKind::kTensor) {
    if (class_.constant > 0) return ToRational(Dyadic::FromDouble(class_.constant)) * u;
    // Strassen on the implicit GEMM, recursing down to blocks of 128 (rule E9).
    constexpr std::int64_t kBlock = 128;
    const std::int64_t size = std::max({problem_.positions(), problem_.out_depth_per_group(),
                                        problem_.rows().filter * problem_.columns().filter * problem_.filter_depth()});
    const std::int64_t levels = CeilLog2(CeilDiv(std::max<std::int64_t>(size, 1), kBlock));
    return Power(12, levels) * (kBlock * kBlock + 5 * kBlock) * u;
  }
  switch (class_.channel) {
    case ChannelKind::kConstant:
      return ToRational(Dyadic::FromDouble(class_.constant)) * u;
    case ChannelKind::kFft: {
      const std::int64_t height = problem_.rows().input + problem_.rows().pad_before + problem_.rows().pad_after;
      const std::int64_t width =
          problem_.columns().input + problem_.columns().pad_before + problem_.columns().pad_after;
      return (32 * (CeilLog2(height) + CeilLog2(width) + 1) + problem_.batch()) * u;
    }
    case ChannelKind::kWinogradF3x3_2x2: {
      // Points 0, 1, -1 and infinity: w = 10.5, two overlapping tiles per axis, 20 roundings around the T tile sums.
      const std::int64_t tiles =
          problem_.batch() * CeilDiv(problem_.rows().output, 2) * CeilDiv(problem_.columns().output, 2);
      return DepthFactor((20 + tiles) * u) * 21;
    }
  }
  return 0;
}

Rational ClassBound::ErrorBeforeStore(const ElementFacts& facts) {
  if ((facts.terms == 0 && !relative_to_norm()) || exact_sum_) return 0;
  if (ExactByGrid(facts.abs_sum.ToDouble())) return 0;
  const Coefficients& c = CoefficientsFor(facts.terms);
  const Rational abs_sum = ToRational(facts.abs_sum);
  const Rational conversion = ConversionTerms(facts);
  Rational error = c.alpha * abs_sum + c.beta + c.gamma * conversion;
  if (c.has_flushed)
    error = std::min<Rational>(error, c.flushed_alpha * abs_sum + c.flushed_beta + c.gamma * conversion);
  if (relative_to_norm()) error = std::max<Rational>(error, norm_factor_ * facts.norm);
  return error;
}

}  // namespace wgrad::oracle
