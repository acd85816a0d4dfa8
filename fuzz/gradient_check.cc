#include "fuzz/gradient_check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "core/case.h"
#include "core/check.h"
#include "fuzz/gradient_numbers.h"
#include "fuzz/gradient_rounded.h"
#include "reference/exact_map.h"
#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

using oracle::Rational;

// Streams of a check's seed.
constexpr std::uint64_t kData = 1, kSteps = 2, kFilters = 3, kProbes = 4, kPoints = 5, kRandom = 6;
constexpr std::int64_t kProbeWork = 200'000;  // multiply-adds of all basis probes of a check
constexpr std::int64_t kFewestProbes = 4;

struct IdentityWords {
  std::string_view name;
  std::string_view description;
};
constexpr std::array<IdentityWords, kIdentityCount> kWords = {{
    {"basis_probe", "L(e_j) = G_j"},
    {"central_difference", "(L(W+hE) - L(W-hE)) / 2h = <E, G>, h = 1, 1/3, 10^6, 2^-20"},
    {"one_sided_difference", "(L(W+hE) - L(W)) / h = <E, G>, the same h"},
    {"forward_adjoint", "<conv(x, W), dy> = <W, G>"},
    {"input_adjoint", "<x, input gradient(W, dy)> = <W, G>"},
    {"mixed_input", "mixed difference of L in W, x = hk <E, G(F, dy)>"},
    {"mixed_out_backprop", "mixed difference of L in W, dy = hk <E, G(x, F)>"},
    {"pure_second", "second differences in one argument = 0"},
    {"rounded", "<conv(x, W), dy> = <W, G> within the class, random data"},
}};

// One check while it runs. A call that answers no result, or a number that is none, ends it.
class Check {
 public:
  Check(const Problem& problem, std::uint64_t seed, const ExactMaps& maps, Candidate* candidate,
        const oracle::Judging& judging)
      : problem_(problem), seed_(seed), maps_(maps), candidate_(candidate), judging_(judging) {}

  GradientVerdict Run() {
    if (RunExact() || verdict_.outcome == PropertyOutcome::kBroken) RunRounded();
    Finish();
    return std::move(verdict_);
  }

 private:
  IdentityVerdict& Of(Identity identity) { return verdict_.identities[static_cast<std::size_t>(identity)]; }
  std::uint64_t Stream(std::uint64_t stream) const { return DeriveSeed(seed_, stream); }

  Rational Loss(const Numbers& input, const Numbers& filter, const Numbers& out_backprop) const {
    return Dot(maps_.forward(problem_, input, filter), out_backprop);
  }

  // G on operands that make it exact, or nothing where the check is over.
  std::optional<Numbers> Gradient(const Tensor& input, const Tensor& out_backprop) {
    if (candidate_ == nullptr) return maps_.filter_gradient(problem_, input, out_backprop);
    Answer answer = candidate_->FilterGradient(problem_, input, out_backprop);
    if (!Take(answer)) return std::nullopt;
    for (std::int64_t at = 0; at < answer.result.element_count(); ++at) {
      if (std::isfinite(answer.result.value(at))) continue;
      const std::string due = Text(maps_.filter_gradient(problem_, input, out_backprop)[static_cast<std::size_t>(at)]);
      const bool unwritten = answer.result.bits(at) == PoisonBits(answer.result.dtype());
      End(PropertyOutcome::kBroken,
          NameOf(ElementAt(problem_, at)) + " " +
              (unwritten ? "was never written" : "is " + std::to_string(answer.result.value(at))) + ", but " + due +
              " is due");
      return std::nullopt;
    }
    return reference::ExactValues<Rational>(answer.result);
  }

  bool Take(const Answer& answer) {
    if (answer.kind == AnswerKind::kResult) return true;
    End(OutcomeOf(answer.kind), answer.message);
    return false;
  }

  void End(PropertyOutcome outcome, std::string reason) {
    verdict_.outcome = outcome;
    verdict_.reason = std::move(reason);
  }

  void Compare(Identity identity, const Rational& due, const Rational& got, const auto& explain) {
    IdentityVerdict& verdict = Of(identity);
    ++verdict.comparisons;
    if (due == got) return;
    if (verdict.failures++ == 0) verdict.reason = explain();
  }

  // Compares <direction, gradient> where `due` is due; a failure also names an element that is to blame.
  void CompareProduct(Identity identity, const Rational& due, const Rational& got, const std::string& where,
                      const Operands& operands, const Numbers& gradient) {
    Compare(identity, due, got, [&] {
      return where + (where.empty() ? "" : ": ") + Text(due) + " is due, the gradient gives " + Text(got) +
             Culprit(operands, gradient);
    });
  }

  std::string Culprit(const Operands& operands, const Numbers& gradient) const {
    const Numbers right = ReferenceMaps().filter_gradient(problem_, operands.input, operands.out_backprop);
    for (std::size_t at = 0; at < right.size(); ++at) {
      if (right[at] == gradient[at]) continue;
      return "; " + NameOf(ElementAt(problem_, static_cast<std::int64_t>(at))) + " is " + Text(gradient[at]) +
             ", but " + Text(right[at]) + " is due";
    }
    return "; the filter gradient itself equals its definition, so another map is wrong";
  }

  // What all exact identities start from.
  bool Prepare() {
    oracle::ClassBound bound(problem_, judging_.accuracy_class, judging_.policy);
    const IntegerPlan plan = PlanIntegers(problem_, bound, true);
    operands_ = DrawIntegers(problem_, plan, Stream(kData));
    steps_ = DrawIntegers(problem_, plan, Stream(kSteps));
    for (const Operands& of :
         {operands_, Operands{steps_.input, operands_.out_backprop}, Operands{operands_.input, steps_.out_backprop}}) {
      if (SumsAreExact(bound, of, plan.kept)) continue;
      for (IdentityVerdict& identity : verdict_.identities) {
        identity.reason = "class " + oracle::Format(judging_.accuracy_class) + " makes no sum exact";
      }
      Of(Identity::kRounded).reason.clear();
      return false;
    }
    input_ = reference::ExactValues<Rational>(operands_.input);
    out_backprop_ = reference::ExactValues<Rational>(operands_.out_backprop);
    filter_ = DrawFilter(problem_.filter_count(), Stream(kFilters));
    direction_ = DrawFilter(problem_.filter_count(), Stream(kFilters) + 1);
    return true;
  }

  // False where the check is over.
  bool RunExact() {
    if (!Prepare()) return true;
    const std::optional<Numbers> gradient = Gradient(operands_.input, operands_.out_backprop);
    if (!gradient) return false;
    ProbeBasis(*gradient);
    FirstDifferences(*gradient);
    Adjoints(*gradient);
    if (candidate_ == nullptr) PureInFilter();
    return MixedInput() && MixedOutBackprop() && PureInInput(*gradient) && PureInOutBackprop(*gradient);
  }

  void ProbeBasis(const Numbers& gradient) {
    const std::int64_t count = problem_.filter_count();
    const std::int64_t affordable = kProbeWork / std::max<std::int64_t>(1, problem_.multiply_adds());
    const std::int64_t probes = std::min(count, std::max(kFewestProbes, affordable));
    Draws draws(Stream(kProbes));
    Numbers basis(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < probes; ++i) {
      const std::int64_t begin = count * i / probes;
      const std::int64_t at = begin + draws.Below(count * (i + 1) / probes - begin);
      basis[static_cast<std::size_t>(at)] = 1;
      const Rational due = Loss(input_, basis, out_backprop_);
      basis[static_cast<std::size_t>(at)] = 0;
      CompareElement(Identity::kBasisProbe, at, due, gradient[static_cast<std::size_t>(at)], "");
    }
  }

  void CompareElement(Identity identity, std::int64_t at, const Rational& due, const Rational& got,
                      const std::string& what) {
    Compare(identity, due, got, [&] {
      return what + NameOf(ElementAt(problem_, at)) + " is " + Text(got) + ", but " + Text(due) + " is due";
    });
  }

  void FirstDifferences(const Numbers& gradient) {
    const Rational got = Dot(direction_, gradient);
    const Rational here = Loss(input_, filter_, out_backprop_);
    for (const Rational& h : StepSizes()) {
      const Rational above = Loss(input_, Along(filter_, h, direction_), out_backprop_);
      const Rational below = Loss(input_, Along(filter_, -h, direction_), out_backprop_);
      const std::string where = "step h = " + Text(h);
      CompareProduct(Identity::kCentralDifference, (above - below) / (2 * h), got, where, operands_, gradient);
      CompareProduct(Identity::kOneSidedDifference, (above - here) / h, got, where, operands_, gradient);
    }
  }

  void Adjoints(const Numbers& gradient) {
    const Rational got = Dot(filter_, gradient);
    const Rational forward = Loss(input_, filter_, out_backprop_);
    const Rational backward = Dot(input_, maps_.input_gradient(problem_, filter_, out_backprop_));
    CompareProduct(Identity::kForwardAdjoint, forward, got, "", operands_, gradient);
    CompareProduct(Identity::kInputAdjoint, backward, got, "", operands_, gradient);
  }

  // Mixed differences: the operands of G are those that the difference leaves.
  bool MixedInput() {
    const Operands operands{steps_.input, operands_.out_backprop};
    const Numbers step = reference::ExactValues<Rational>(steps_.input);
    return Mixed(Identity::kMixedInput, operands, [&](const Numbers& filter, const Rational& k) {
      return Loss(Along(input_, k, step), filter, out_backprop_);
    });
  }

  bool MixedOutBackprop() {
    const Operands operands{operands_.input, steps_.out_backprop};
    const Numbers step = reference::ExactValues<Rational>(steps_.out_backprop);
    return Mixed(Identity::kMixedOutBackprop, operands, [&](const Numbers& filter, const Rational& k) {
      return Loss(input_, filter, Along(out_backprop_, k, step));
    });
  }

  bool Mixed(Identity identity, const Operands& operands, const auto& loss) {
    const std::optional<Numbers> gradient = Gradient(operands.input, operands.out_backprop);
    if (!gradient) return false;
    const Rational h = Rational(1) / 3, k = 1000;
    const Numbers ahead = Along(filter_, h, direction_);
    const Rational due = loss(ahead, k) - loss(ahead, 0) - loss(filter_, k) + loss(filter_, 0);
    CompareProduct(identity, due, Rational(h * k * Dot(direction_, *gradient)), "", operands, *gradient);
    return true;
  }

  // Of the forward map alone.
  void PureInFilter() {
    for (const Rational& h : StepSizes()) {
      const Rational second = Loss(input_, Along(filter_, 2 * h, direction_), out_backprop_) -
                              2 * Loss(input_, Along(filter_, h, direction_), out_backprop_) +
                              Loss(input_, filter_, out_backprop_);
      Compare(Identity::kPureSecond, 0, second,
              [&] { return "the forward map's second difference with step h = " + Text(h) + " is " + Text(second); });
    }
  }

  bool PureInInput(const Numbers& gradient) {
    const auto [first, middle] = PointsBefore(operands_.input, Stream(kPoints));
    return Pure("input", gradient, {first, operands_.out_backprop}, {middle, operands_.out_backprop});
  }

  bool PureInOutBackprop(const Numbers& gradient) {
    const auto [first, middle] = PointsBefore(operands_.out_backprop, Stream(kPoints));
    return Pure("out_backprop", gradient, {operands_.input, first}, {operands_.input, middle});
  }

  bool Pure(const std::string& argument, const Numbers& end, const Operands& first, const Operands& middle) {
    const std::optional<Numbers> a = Gradient(first.input, first.out_backprop);
    const std::optional<Numbers> b = a ? Gradient(middle.input, middle.out_backprop) : std::nullopt;
    if (!b) return false;
    for (std::size_t at = 0; at < end.size(); ++at) {
      CompareElement(Identity::kPureSecond, static_cast<std::int64_t>(at), 0, (*a)[at] - 2 * (*b)[at] + end[at],
                     "the second difference in " + argument + " of ");
    }
    return true;
  }

  void RunRounded() {
    const RoundedData data = DrawRounded(problem_, Stream(kRandom));
    const Answer answer = candidate_ == nullptr
                              ? Answer::Of(reference::RoundedFilterGradient(problem_, data.input, data.out_backprop))
                              : candidate_->FilterGradient(problem_, data.input, data.out_backprop);
    if (!Take(answer)) return;
    Numbers filter;
    for (const float weight : data.filter) filter.emplace_back(weight);
    const Rational loss =
        Loss(reference::ExactValues<Rational>(data.input), filter, reference::ExactValues<Rational>(data.out_backprop));
    Of(Identity::kRounded) = CheckRounded(problem_, data, judging_, loss, answer.result);
    verdict_.classic = CheckClassic(problem_, data, answer.result);
  }

  // The first broken identity speaks for the check.
  void Finish() {
    if (verdict_.outcome != PropertyOutcome::kHolds) return;
    std::int64_t comparisons = 0;
    for (int i = 0; i < kIdentityCount; ++i) {
      const IdentityVerdict& identity = verdict_.identities[static_cast<std::size_t>(i)];
      comparisons += identity.comparisons;
      if (identity.failures == 0) continue;
      const auto which = static_cast<Identity>(i);
      return End(PropertyOutcome::kBroken, std::string(NameOf(which)) + ": " + identity.reason);
    }
    if (comparisons == 0) End(PropertyOutcome::kNotApplicable, verdict_.identities.front().reason);
  }

  const Problem& problem_;
  std::uint64_t seed_;
  const ExactMaps& maps_;
  Candidate* candidate_;
  const oracle::Judging& judging_;
  GradientVerdict verdict_;
  Operands operands_;
  Operands steps_;  // of differences
  Numbers input_, out_backprop_, filter_, direction_;
};

void RequireAffordable(const Problem& problem) {
  WGRAD_CHECK(problem.multiply_adds() <= kMaxGradientWork, "too large a problem for exact maps");
}

}  // namespace

std::string_view NameOf(Identity identity) { return kWords[static_cast<std::size_t>(identity)].name; }
std::string_view DescriptionOf(Identity identity) { return kWords[static_cast<std::size_t>(identity)].description; }

GradientVerdict CheckGradient(const Problem& problem, std::uint64_t seed, Candidate& candidate,
                              const oracle::Judging& judging, const ExactMaps& maps) {
  RequireAffordable(problem);
  if (const auto why = WhyUnsupported(candidate.greeting().capabilities, problem)) {
    return {.outcome = PropertyOutcome::kUnsupported, .reason = *why};
  }
  if (problem.filter_count() == 0) {
    return {.outcome = PropertyOutcome::kNotApplicable, .reason = "the filter has no elements"};
  }
  return Check(problem, seed, maps, &candidate, judging).Run();
}

GradientVerdict CheckMaps(const Problem& problem, std::uint64_t seed, const ExactMaps& maps) {
  RequireAffordable(problem);
  if (problem.filter_count() == 0) {
    return {.outcome = PropertyOutcome::kNotApplicable, .reason = "the filter has no elements"};
  }
  oracle::Judging judging;
  judging.accuracy_class.kind = oracle::ClassKind::kCr;
  return Check(problem, seed, maps, nullptr, judging).Run();
}

}  // namespace wgrad::fuzz
