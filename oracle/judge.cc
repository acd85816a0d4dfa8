#include "oracle/judge.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/check.h"
#include "core/random.h"
#include "oracle/finding.h"
#include "oracle/judge_element.h"
#include "reference/filter_gradient.h"
#include "reference/forward_map.h"

namespace wgrad::oracle {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kShown = 5;  // worst elements kept

bool WantsAdvisories(std::optional<Filling> filling) {
  return !filling || filling == Filling::kNormal || filling == Filling::kPositive || filling == Filling::kWide;
}

// Tensor::bits without its checks, for the loop over all elements.
std::uint64_t BitsAt(const Tensor& tensor, std::int64_t offset) {
  const auto at = static_cast<std::size_t>(offset);
  switch (SizeOf(tensor.dtype())) {
    case 2:
      return tensor.values<std::uint16_t>()[at];
    case 4:
      return tensor.values<std::uint32_t>()[at];
    default:
      return tensor.values<std::uint64_t>()[at];
  }
}

double Decode(DType dtype, std::uint64_t bits) {
  if (dtype == DType::kFloat32) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (dtype == DType::kFloat64) return std::bit_cast<double>(bits);
  return DecodeBits(dtype, bits);
}

std::vector<bool> NonFiniteChannels(const Tensor& tensor, std::int64_t channels, std::int64_t inner) {
  std::vector<bool> flags(static_cast<std::size_t>(channels));
  for (std::int64_t at = 0; at < tensor.element_count(); ++at) {
    if (!std::isfinite(tensor.value(at))) flags[static_cast<std::size_t>(at / inner % channels)] = true;
  }
  return flags;
}

}  // namespace

CaseJudge::CaseJudge(const Problem& problem, const Judging& judging, std::optional<Filling> filling)
    : problem_(problem),
      judging_(judging),
      result_dtype_(problem.result_dtype()),
      out_(FormatOf(problem.result_dtype())),
      bound_(problem, judging.accuracy_class, judging.policy),
      statistics_(problem, WantsAdvisories(filling)) {
  for (const Rung& rung : Ladder({problem.dtype(), problem.result_dtype()})) {
    ladder_.push_back({rung, ClassBound(problem, rung.accuracy_class, judging.policy)});
  }
  const std::vector<std::int64_t> sizes = problem.filter_sizes();
  for (std::size_t axis = 0; axis < 4; ++axis) wrong_by_axis_[axis].resize(static_cast<std::size_t>(sizes[axis]));
}

void CaseJudge::Add(const JudgedRun& run, std::uint64_t seed) {
  WGRAD_CHECK(run.actual.shape() == problem_.filter_sizes() && run.actual.dtype() == result_dtype_,
              "a result to judge must be HWIO in the problem's result dtype");
  bool zeroes_subnormals = bound_.reads_subnormals_as_zero();
  for (const Row& row : ladder_) zeroes_subnormals = zeroes_subnormals || row.bound.reads_subnormals_as_zero();
  FactsEngine engine(problem_, run.input, run.out_backprop, {.subnormal_sums = zeroes_subnormals});
  bound_.SetData(engine.input_scan(), engine.out_backprop_scan());
  for (Row& row : ladder_) row.bound.SetData(engine.input_scan(), engine.out_backprop_scan());
  PrepareChannels(run, engine);
  sample_seed_ = seed;
  for (const ElementRange& range : engine.Blocks()) AddBlock(run, engine, range);
}

void CaseJudge::PrepareChannels(const JudgedRun& run, FactsEngine& engine) {
  tensor_norm_ = engine.input_scan().max_abs * engine.out_backprop_scan().max_abs;
  nonfinite_input_channels_.clear();
  nonfinite_out_channels_.clear();
  const bool nhwc = problem_.data_format() == DataFormat::kNhwc;
  if (engine.input_scan().has_nonfinite) {
    const std::int64_t pixels = problem_.rows().input * problem_.columns().input;
    nonfinite_input_channels_ = NonFiniteChannels(run.input, problem_.input_depth(), nhwc ? 1 : pixels);
  }
  if (engine.out_backprop_scan().has_nonfinite) {
    const std::int64_t pixels = problem_.rows().output * problem_.columns().output;
    nonfinite_out_channels_ = NonFiniteChannels(run.out_backprop, problem_.out_depth(), nhwc ? 1 : pixels);
  }
  input_norms_.clear();
  out_backprop_norms_.clear();
  if (run.number != 0 && !bound_.relative_to_norm()) return;  // K_N of the first run is enough to report
  for (std::int64_t c = 0; c < problem_.input_depth(); ++c) {
    input_norms_.push_back(std::sqrt(engine.input_channel_square(c).ToDouble()));
  }
  for (std::int64_t oc = 0; oc < problem_.out_depth(); ++oc) {
    out_backprop_norms_.push_back(std::sqrt(engine.out_backprop_channel_square(oc).ToDouble()));
  }
}

void CaseJudge::AddBlock(const JudgedRun& run, FactsEngine& engine, const ElementRange& range) {
  const std::unique_ptr<FactsBlock> block = engine.Sum(range);
  if (run.number == 0) CheckSample(run, *block);
  std::vector<double> thresholds(static_cast<std::size_t>(range.size()));
  bool undecided = false;
  std::int64_t at = 0;
  for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
    for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc, ++at) {
      const std::uint64_t bits = BitsAt(run.actual, problem_.FilterOffset(range.kh, range.kw, ic, oc));
      Element element{*block,
                      at,
                      {range.kh, range.kw, ic, oc},
                      bits,
                      Decode(result_dtype_, bits),
                      block->terms(at),
                      block->census(at),
                      block->sum(at),
                      block->abs_sum(at)};
      JudgeElement(run, engine, element);
      const double threshold = CountCoverage(element);
      thresholds[static_cast<std::size_t>(at)] = threshold;
      undecided = undecided || std::isfinite(threshold);
    }
  }
  if (!undecided) return;
  for (const std::int64_t covered : engine.CountTermsAbove(range, thresholds)) statistics_.AddCoverage(covered);
}

void CaseJudge::JudgeElement(const JudgedRun& run, FactsEngine& engine, Element& element) {
  statistics_.CountElement(element.terms);
  if (element.terms >= bound_.vacuous_from()) statistics_.SetVacuous();
  const double actual = element.actual;
  const bool padding_is_optional = judging_.policy.pad != PadPolicy::kMultiply || judging_.policy.zero_skip;
  const std::uint8_t harmless = padding_is_optional ? std::uint8_t{kCensusPaddingNonFinite} : std::uint8_t{0};
  element.finite_terms = (element.census & ~harmless) == 0;
  element.quick = element.finite_terms && std::isfinite(actual) && element.terms > 0 &&
                  std::isfinite(element.sum.high) && std::isfinite(element.abs_sum.high) && element.abs_sum.high > 0;
  if (element.quick) {
    // The first difference may round once, the second once more; S itself is known to 2^-100.
    const double difference = (actual - element.sum.high) - element.sum.low;
    const double error = std::fabs(difference);
    element.error = error;
    const double doubt = error * 0x1p-50 + std::fabs(element.sum.high) * 0x1p-98;
    element.error_low = std::max(0.0, error - doubt);
    element.error_high = error + doubt;
    element.gaps = GapsAt(actual, out_);
    // Where S rounds to the result as a double, its low part says on which side it lies.
    const bool outward = actual == 0 || (actual > 0) == (difference < 0);
    element.gap_to_sum = outward ? element.gaps.outward : element.gaps.inward;
  }
  const bool written = element.bits != PoisonBits(result_dtype_);
  const bool wrong = !written || !Accepts(bound_, engine, element);
  UpdateGrades(engine, element);
  AddNumbers(element);
  Remember(run, engine, element, wrong);
}

// Non-finite answers that the census alone decides, for every class.
std::optional<bool> CaseJudge::AcceptsSpecial(const Element& element) const {
  const bool plus = (element.census & kCensusPlusInfinity) != 0;
  const bool minus = (element.census & kCensusMinusInfinity) != 0;
  const bool padding = (element.census & kCensusPaddingNonFinite) != 0;
  const bool must_be_nan = (element.census & kCensusNaN) != 0 || (plus && minus);
  if (std::isnan(element.actual)) {
    if (must_be_nan) return true;
    if (padding && judging_.policy.pad != PadPolicy::kSkip) return true;
  } else if (must_be_nan && !judging_.policy.zero_skip) {
    return false;
  }
  // One infinity among the terms is the sum, whatever the others are (S4).
  const bool multiplies_padding = padding && judging_.policy.pad == PadPolicy::kMultiply;
  const bool one_infinity = plus != minus && !must_be_nan && !multiplies_padding;
  if (one_infinity && std::isinf(element.actual)) return (element.actual > 0) == plus;
  return std::nullopt;
}

// A certain answer out of doubles, or none.
std::optional<bool> CaseJudge::AcceptsQuickly(ClassBound& bound, Element& element) {
  if (!element.quick) return std::nullopt;
  const double reach = std::max(element.abs_sum.high, std::fabs(element.actual));
  const bool may_overflow = reach >= bound.overflow_free_limit();
  const bool may_be_flushed = element.actual == 0;
  if (bound.SingleRounding(element.terms)) {
    // The product rounds in the accumulator as in the result: either one format, or exact there.
    const FloatFormat& in = FormatOf(problem_.dtype());
    const FloatFormat& accumulator = bound.accumulator();
    const bool exact_product =
        accumulator.precision >= 2 * in.precision &&
        element.abs_sum.high >= std::ldexp(1.0, std::max(-1000, accumulator.lowest_exponent() + 2 * in.precision));
    if (may_overflow || (!(accumulator == out_) && !exact_product)) return std::nullopt;
    if (CorrectlyRounded(element)) return true;
    return may_be_flushed || bound.reads_subnormals_as_zero() ? std::nullopt : std::optional<bool>(false);
  }
  const ErrorRange permitted = &bound == &bound_ ? Permitted(element) : bound.QuickError(QuickFactsOf(bound, element));
  if (!std::isfinite(permitted.high)) return std::nullopt;
  const double store = StoreReach(bound, element);
  if (element.error_high < (permitted.low + store) * (1 - 0x1p-50)) return true;
  if (element.error_high <= permitted.low) return true;
  // Sums that are exact on the way: the store alone rounds, if anything does.
  if (permitted.high == 0 && CorrectlyRounded(element)) return true;
  const bool certain = element.error_low > (permitted.high + store) * (1 + 0x1p-50);
  if (certain && !may_be_flushed && !may_overflow) return false;
  return std::nullopt;
}

// Whether RN(S) is inside the class whatever the bound is. Where the store rounds, the ends of the interval are rounded
// from both sides of S; where nothing is stored, a sum beyond the result's range is beyond the accumulator's too.
bool CaseJudge::HoldsCorrectlyRounded(const ClassBound& bound, const Element& element) {
  if (!element.finite_terms || bound.SingleRounding(element.terms)) return false;
  return bound.store() != Store::kNone || std::isinf(element.actual);
}

bool CaseJudge::Accepts(ClassBound& bound, FactsEngine& engine, Element& element) {
  // A transform mixes the other elements of its channels into one without terms.
  if (element.terms == 0 && element.census == 0 && !bound.relative_to_norm()) return element.actual == 0;
  if (const auto special = AcceptsSpecial(element)) return *special;
  if (const auto quick = AcceptsQuickly(bound, element)) return *quick;
  if (HoldsCorrectlyRounded(bound, element) && CorrectlyRounded(element)) return true;
  return bound.Allow(ExactFacts(bound, engine, element)).Contains(element.actual, result_dtype_);
}

const ErrorRange& CaseJudge::Permitted(Element& element) {
  if (!element.permitted) element.permitted = bound_.QuickError(QuickFactsOf(bound_, element));
  return *element.permitted;
}

QuickFacts CaseJudge::QuickFactsOf(const ClassBound& bound, const Element& element) const {
  const FactsBlock& block = element.block;
  const ClassKind kind = bound.accuracy_class().kind;
  QuickFacts facts;
  facts.terms = element.terms;
  facts.abs_sum = element.abs_sum.high;
  const double subnormal = bound.reads_subnormals_as_zero() ? block.exact_subnormal_abs_sum(element.at).ToDouble() : 0;
  if (subnormal != 0 || kind == ClassKind::kInput) {
    facts.conversion = bound.ConversionHigh(element.terms, block.input_abs_bound(element.at),
                                            block.out_backprop_abs_bound(element.at), subnormal);
  }
  if (kind == ClassKind::kTensor) facts.norm = tensor_norm_;
  if (kind == ClassKind::kChannel && !input_norms_.empty()) {
    const std::int64_t oc = element.index[3];
    facts.norm = input_norms_[static_cast<std::size_t>(InputChannel(problem_, element.index[2], oc))] *
                 out_backprop_norms_[static_cast<std::size_t>(oc)];
  }
  return facts;
}

ElementFacts CaseJudge::ExactFacts(const ClassBound& bound, FactsEngine& engine, const Element& element) const {
  const FactsBlock& block = element.block;
  ElementFacts facts;
  facts.terms = element.terms;
  facts.census = element.census;
  facts.sum = block.exact_sum(element.at);
  facts.abs_sum = block.exact_abs_sum(element.at);
  facts.subnormal_abs_sum = block.exact_subnormal_abs_sum(element.at);
  facts.input_abs = block.input_abs_bound(element.at);
  facts.out_backprop_abs = block.out_backprop_abs_bound(element.at);
  const std::int64_t oc = element.index[3];
  const std::int64_t c = InputChannel(problem_, element.index[2], oc);
  if (bound.accuracy_class().kind == ClassKind::kTensor) {
    facts.norm = ToRational(Dyadic::FromDouble(engine.input_scan().max_abs) *
                            Dyadic::FromDouble(engine.out_backprop_scan().max_abs));
  } else if (bound.accuracy_class().kind == ClassKind::kChannel) {
    facts.norm = SquareRootUp(ToRational(engine.input_channel_square(c) * engine.out_backprop_channel_square(oc)));
  }
  const bool any_tensor = bound.accuracy_class().kind == ClassKind::kTensor;
  auto nonfinite = [any_tensor](const std::vector<bool>& flags, std::int64_t channel) {
    return !flags.empty() && (any_tensor || flags[static_cast<std::size_t>(channel)]);
  };
  facts.channel_nonfinite = nonfinite(nonfinite_input_channels_, c) || nonfinite(nonfinite_out_channels_, oc);
  return facts;
}

bool CaseJudge::CorrectlyRounded(Element& element) const {
  if (element.correctly_rounded) return *element.correctly_rounded;
  bool equal = false;
  if (element.quick && element.error_high < std::min(element.gaps.inward, element.gaps.outward) / 2) {
    equal = true;
  } else if (!element.quick || element.error_low <= element.gaps.outward / 2) {
    const std::uint64_t rounded = element.block.exact_sum(element.at).RoundTo(result_dtype_);
    equal = Decode(result_dtype_, rounded) == element.actual;
  }
  element.correctly_rounded = equal;
  return equal;
}

void CaseJudge::Remember(const JudgedRun& run, FactsEngine& engine, Element& element, bool wrong) {
  if (!wrong) return;
  ++wrong_;
  for (std::size_t axis = 0; axis < 4; ++axis) ++wrong_by_axis_[axis][static_cast<std::size_t>(element.index[axis])];
  if (worst_.size() == kShown && element.quick) {
    // Not worth the exact arithmetic of a finding unless it can displace the least of those shown.
    const double bound = Permitted(element).high + element.gap_to_sum;
    const double least = worst_.back().bound_ratio;
    if (!(element.error_high > bound * least * 0.5) || std::isinf(least)) return;
  } else if (worst_.size() == kShown && std::isinf(worst_.back().bound_ratio)) {
    return;
  }
  const ElementFacts facts = ExactFacts(bound_, engine, element);
  const reference::ExactElement again = reference::SumElement(problem_, run.input, run.out_backprop, element.index[0],
                                                              element.index[1], element.index[2], element.index[3]);
  WGRAD_CHECK(again.sum() == facts.sum && again.abs_sum() == facts.abs_sum && again.terms == facts.terms,
              "the fast exact sum of a wrong element differs from the reference's");
  ElementFinding finding = MakeFinding(facts, bound_.Allow(facts), element.bits, result_dtype_);
  finding.index = element.index;
  finding.run = run.number;
  finding.run_label = run.label;
  const auto place =
      std::upper_bound(worst_.begin(), worst_.end(), finding,
                       [](const ElementFinding& a, const ElementFinding& b) { return a.bound_ratio > b.bound_ratio; });
  worst_.insert(place, std::move(finding));
  if (worst_.size() > kShown) worst_.pop_back();
}

void CaseJudge::CheckSample(const JudgedRun& run, const FactsBlock& block) const {
  const ElementRange& range = block.range();
  const std::int64_t tap = range.kh * problem_.columns().filter + range.kw;
  const std::uint64_t draw = SplitMix64(sample_seed_, static_cast<std::uint64_t>(tap));
  const auto elements = static_cast<std::uint64_t>(problem_.filter_depth() * problem_.out_depth());
  const auto chosen = static_cast<std::int64_t>(draw % elements);
  const std::int64_t ic = chosen / problem_.out_depth();
  const std::int64_t oc = chosen % problem_.out_depth();
  if (ic < range.ic_begin || ic >= range.ic_end || oc < range.oc_begin || oc >= range.oc_end) return;
  const std::int64_t at = (ic - range.ic_begin) * (range.oc_end - range.oc_begin) + oc - range.oc_begin;
  // Taps take turns between the two derivations, which share neither loops nor index algebra.
  const reference::ExactElement again =
      tap % 2 == 0 ? reference::SumElement(problem_, run.input, run.out_backprop, range.kh, range.kw, ic, oc)
                   : reference::SumElementByForward(problem_, run.input, run.out_backprop, range.kh, range.kw, ic, oc);
  WGRAD_CHECK(again.sum() == block.exact_sum(at) && again.abs_sum() == block.exact_abs_sum(at) &&
                  again.terms == block.terms(at),
              "a sampled fast exact sum differs from the reference's");
}

void CaseJudge::Finish(CaseVerdict& verdict) const {
  verdict.problem = problem_;
  verdict.judging = judging_;
  verdict.wrong_elements = wrong_;
  verdict.worst = worst_;
  verdict.statistics = statistics_.Finish();
  verdict.grades = grades_;
  verdict.advisories = statistics_.Advisories();
  verdict.pattern = DescribePattern(problem_, wrong_by_axis_, wrong_);
  const Statistics& statistics = verdict.statistics;
  if (wrong_ > 0) {
    verdict.outcome = Outcome::kFail;
    verdict.reason = std::to_string(wrong_) + " of " + std::to_string(statistics.elements) +
                     " elements are wrong: " + worst_.front().rule;
  } else if (statistics.elements == 0) {
    verdict.outcome = Outcome::kBlind;
    verdict.reason = "the result has no elements";
  } else if ((statistics.forced == 0 || bound_.relative_to_norm()) && statistics.covered_terms == 0) {
    verdict.outcome = Outcome::kBlind;
    verdict.reason = "class " + Format(judging_.accuracy_class) + " could lose any single term of this data unseen";
  } else {
    verdict.outcome = Outcome::kPass;
  }
}

}  // namespace wgrad::oracle
