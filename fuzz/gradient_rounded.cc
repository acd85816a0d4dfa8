#include "fuzz/gradient_rounded.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/case.h"
#include "fuzz/gradient_numbers.h"
#include "oracle/bound.h"
#include "oracle/facts.h"
#include "oracle/fillings.h"

namespace wgrad::fuzz {
namespace {

using oracle::Rational;
using oracle::ToRational;

constexpr std::int64_t kClassicElements = 64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Rational Exact(double value) { return ToRational(Dyadic::FromDouble(value)); }
Rational Magnitude(const Rational& value) { return value < 0 ? Rational(-value) : value; }

double RatioOf(const Rational& error, const Rational& permitted) {
  if (error == 0) return 0;
  return permitted == 0 ? kInfinity : oracle::ToDouble(Rational(error / permitted));
}

struct Tolerance {
  Rational sum = 0;
  double worst = -1;  // error / permitted error of an element
  std::string worst_text;

  void Remember(const Element& element, const Rational& due, const Rational& actual, const Rational& permitted) {
    const double ratio = RatioOf(Magnitude(actual - due), permitted);
    if (ratio <= worst) return;
    worst = ratio;
    worst_text = NameOf(element) + " is " + Text(actual) + ", but " + Text(due) + " is due";
  }
};

// The errors that a class permits in the elements of one run, the store included.
class PermittedErrors {
 public:
  PermittedErrors(const Problem& problem, const RoundedData& data, const oracle::Judging& judging)
      : problem_(problem),
        bound_(problem, judging.accuracy_class, judging.policy),
        engine_(problem, data.input, data.out_backprop, {.subnormal_sums = bound_.reads_subnormals_as_zero()}) {
    bound_.SetData(engine_.input_scan(), engine_.out_backprop_scan());
  }

  // Adds up |weight| * permitted error over the elements, and keeps the element of `actual` that is furthest off in
  // terms of what it is permitted; nothing where an element may be infinite.
  std::optional<Tolerance> Weigh(const std::vector<float>& filter, const Tensor& actual) {
    Tolerance tolerance;
    for (const oracle::ElementRange& range : engine_.Blocks()) {
      const auto block = engine_.Sum(range);
      std::int64_t at = 0;
      for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
        for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc, ++at) {
          const Element element{range.kh, range.kw, ic, oc};
          const oracle::ElementFacts facts = FactsOf(*block, at, element);
          const Rational due = ToRational(facts.sum);
          const std::optional<Rational> error = ErrorOf(bound_.Allow(facts), due);
          if (!error) return std::nullopt;
          const std::int64_t offset = problem_.FilterOffset(element.kh, element.kw, ic, oc);
          tolerance.sum += *error * Exact(std::fabs(filter[static_cast<std::size_t>(offset)]));
          tolerance.Remember(element, due, Exact(actual.value(offset)), *error);
        }
      }
    }
    return tolerance;
  }

 private:
  oracle::ElementFacts FactsOf(const oracle::FactsBlock& block, std::int64_t at, const Element& element) {
    oracle::ElementFacts facts;
    facts.terms = block.terms(at);
    facts.census = block.census(at);
    facts.sum = block.exact_sum(at);
    facts.abs_sum = block.exact_abs_sum(at);
    facts.subnormal_abs_sum = block.exact_subnormal_abs_sum(at);
    facts.input_abs = block.input_abs_bound(at);
    facts.out_backprop_abs = block.out_backprop_abs_bound(at);
    if (bound_.relative_to_norm()) facts.norm = NormOf(element);
    return facts;
  }

  Rational NormOf(const Element& element) {
    if (bound_.accuracy_class().kind == oracle::ClassKind::kTensor) {
      return Exact(engine_.input_scan().max_abs) * Exact(engine_.out_backprop_scan().max_abs);
    }
    const std::int64_t group = element.oc / problem_.out_depth_per_group();
    const std::int64_t channel = group * problem_.filter_depth() + element.ic;
    return oracle::SquareRootUp(ToRational(engine_.input_channel_square(channel)) *
                                ToRational(engine_.out_backprop_channel_square(element.oc)));
  }

  static std::optional<Rational> ErrorOf(const oracle::AllowedSet& allowed, const Rational& sum) {
    if (!allowed.has_range || std::isinf(allowed.low) || std::isinf(allowed.high)) return std::nullopt;
    Rational error = std::max(Magnitude(sum - Exact(allowed.low)), Magnitude(Exact(allowed.high) - sum));
    if (allowed.zero) error = std::max(error, Magnitude(sum));
    return error;
  }

  const Problem& problem_;
  oracle::ClassBound bound_;
  oracle::FactsEngine engine_;
};

// L in float32 throughout, as the usual check has it.
class FloatLoss {
 public:
  FloatLoss(const Problem& problem, const RoundedData& data) : problem_(problem) {
    for (const double value : ToDoubles(data.input)) input_.push_back(static_cast<float>(value));
    for (const double value : ToDoubles(data.out_backprop)) out_backprop_.push_back(static_cast<float>(value));
  }

  float operator()(const std::vector<float>& filter) const {
    float loss = 0;
    for (std::int64_t n = 0; n < problem_.batch(); ++n) {
      for (std::int64_t oh = 0; oh < problem_.rows().output; ++oh) {
        for (std::int64_t ow = 0; ow < problem_.columns().output; ++ow) {
          for (std::int64_t oc = 0; oc < problem_.out_depth(); ++oc) {
            const auto at = static_cast<std::size_t>(problem_.OutBackpropOffset(n, oh, ow, oc));
            loss += Output(filter, n, oh, ow, oc) * out_backprop_[at];
          }
        }
      }
    }
    return loss;
  }

 private:
  static std::int64_t Position(const Axis& axis, std::int64_t o, std::int64_t k) {
    return o * axis.stride + k * axis.dilation - axis.pad_before;
  }

  float Output(const std::vector<float>& filter, std::int64_t n, std::int64_t oh, std::int64_t ow,
               std::int64_t oc) const {
    float sum = 0;
    const std::int64_t first = oc / problem_.out_depth_per_group() * problem_.filter_depth();
    for (std::int64_t kh = 0; kh < problem_.rows().filter; ++kh) {
      const std::int64_t ih = Position(problem_.rows(), oh, kh);
      if (ih < 0 || ih >= problem_.rows().input) continue;
      for (std::int64_t kw = 0; kw < problem_.columns().filter; ++kw) {
        const std::int64_t iw = Position(problem_.columns(), ow, kw);
        if (iw < 0 || iw >= problem_.columns().input) continue;
        for (std::int64_t ic = 0; ic < problem_.filter_depth(); ++ic) {
          sum += input_[static_cast<std::size_t>(problem_.InputOffset(n, ih, iw, first + ic))] *
                 filter[static_cast<std::size_t>(problem_.FilterOffset(kh, kw, ic, oc))];
        }
      }
    }
    return sum;
  }

  const Problem& problem_;
  std::vector<float> input_;
  std::vector<float> out_backprop_;
};

}  // namespace

RoundedData DrawRounded(const Problem& problem, std::uint64_t seed) {
  constexpr std::int64_t kParts = 256;
  oracle::Run run = oracle::FilledCase({problem, Filling::kNormal, seed}).MakeRun(0);
  RoundedData data{std::move(run.input), std::move(run.out_backprop), {}};
  Draws draws(seed);
  for (std::int64_t at = 0; at < problem.filter_count(); ++at) {
    data.filter.push_back(static_cast<float>(draws.Below(2 * kParts + 1) - kParts) / static_cast<float>(kParts));
  }
  return data;
}

IdentityVerdict CheckRounded(const Problem& problem, const RoundedData& data, const oracle::Judging& judging,
                             const Rational& exact_loss, const Tensor& actual) {
  IdentityVerdict verdict{.comparisons = 1};
  for (std::int64_t at = 0; at < actual.element_count(); ++at) {
    if (std::isfinite(actual.value(at))) continue;
    verdict.failures = 1;
    verdict.ratio = kInfinity;
    verdict.reason = NameOf(ElementAt(problem, at)) + " is " + std::to_string(actual.value(at)) + " on random data";
    return verdict;
  }
  const std::optional<Tolerance> tolerance = PermittedErrors(problem, data, judging).Weigh(data.filter, actual);
  if (!tolerance) return {.reason = "class " + oracle::Format(judging.accuracy_class) + " permits an infinite result"};
  Rational product = 0;
  for (std::int64_t at = 0; at < actual.element_count(); ++at) {
    product += Exact(actual.value(at)) * Exact(data.filter[static_cast<std::size_t>(at)]);
  }
  const Rational error = Magnitude(product - exact_loss);
  verdict.ratio = RatioOf(error, tolerance->sum);
  if (error <= tolerance->sum) return verdict;
  verdict.failures = 1;
  verdict.reason = Text(exact_loss) + " is due, the gradient gives " + Text(product) + ", and only " +
                   Text(tolerance->sum) + " between them is permitted; " + tolerance->worst_text;
  return verdict;
}

ClassicVerdict CheckClassic(const Problem& problem, const RoundedData& data, const Tensor& actual) {
  const FloatLoss loss(problem, data);
  const auto step = static_cast<float>(kClassicStep);
  ClassicVerdict verdict{.ran = problem.filter_count() > 0, .passed = true};
  verdict.elements = std::min(problem.filter_count(), kClassicElements);
  std::vector<float> filter = data.filter;
  for (std::int64_t i = 0; i < verdict.elements; ++i) {
    const std::int64_t at = problem.filter_count() * i / verdict.elements;
    float& weight = filter[static_cast<std::size_t>(at)];
    const float before = weight;
    weight = before + step;
    const float above = loss(filter);
    weight = before - step;
    const float below = loss(filter);
    weight = before;
    const auto difference = static_cast<double>((above - below) / (2 * step));
    const double gradient = actual.value(at);
    const double scale = std::max({1.0, std::fabs(gradient), std::fabs(difference)});
    const double error = std::fabs(gradient - difference) / scale;
    if (!(error <= kClassicTolerance)) verdict.passed = false;  // NaN too
    verdict.error = std::isnan(error) ? kInfinity : std::max(verdict.error, error);
  }
  return verdict;
}

}  // namespace wgrad::fuzz
