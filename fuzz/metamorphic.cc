#include "fuzz/metamorphic.h"

#include <algorithm>
#include <cmath>

#include "core/case.h"
#include "core/check.h"
#include "fuzz/relations/relation.h"
#include "reference/dyadic.h"

namespace wgrad::fuzz {
namespace {

const std::vector<Property>& AllProperties() {
  static const std::vector<Property> properties = [] {
    std::vector<Property> all = ArithmeticProperties();
    for (const auto family : {BatchAndChannelProperties, GeometryProperties}) {
      for (const Property& property : family()) all.push_back(property);
    }
    return all;
  }();
  return properties;
}

const Property& FindProperty(std::string_view name) {
  const std::vector<Property>& all = AllProperties();
  const auto found =
      std::find_if(all.begin(), all.end(), [name](const Property& property) { return property.name == name; });
  WGRAD_CHECK(found != all.end(), "CheckProperty needs the name of a property");
  return *found;
}

PropertyVerdict NotApplicable(std::string why) {
  return {.outcome = PropertyOutcome::kNotApplicable, .reason = std::move(why)};
}

std::string ValueText(double value) {
  constexpr int kDigits = 20;
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return Dyadic::FromDouble(value).ToDecimal(kDigits);
}

// A relation together with the results of its calls.
class Comparison {
 public:
  Comparison(const Relation& relation, const std::vector<Tensor>& results) : relation_(relation), results_(results) {}

  /// Compares every element; where `only_zeros`, those that are due to be zero.
  void Run(bool only_zeros, PropertyVerdict& verdict) const {
    const Problem& problem = relation_.calls[0].problem;
    for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
      for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
        for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
          for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) Compare({kh, kw, ic, oc}, only_zeros, verdict);
        }
      }
    }
  }

 private:
  double ValueAt(const Share& share) const {
    const Problem& problem = relation_.calls[share.call].problem;
    const Element& at = share.at;
    return results_[share.call].value(problem.FilterOffset(at.kh, at.kw, at.ic, at.oc)) * share.factor;
  }

  void Compare(const Element& element, bool only_zeros, PropertyVerdict& verdict) const {
    const std::vector<Share> shares = relation_.due(element);
    if (only_zeros && !shares.empty()) return;
    const double actual = ValueAt({.call = 0, .at = element});
    double due = 0;  // exact: integers below 2^53 times one power of two
    for (const Share& share : shares) due += ValueAt(share);
    ++verdict.compared;
    if (actual == due) return;
    if (verdict.broken++ == 0) verdict.reason = Sentence(element, actual, shares);
  }

  std::string Sentence(const Element& element, double actual, const std::vector<Share>& shares) const {
    std::string text = NameOf(element) + " is " + ValueText(actual) + " with " + relation_.calls[0].label + " (" +
                       Format(relation_.calls[0].problem) + "), but ";
    if (shares.empty()) return text + "0 is due";
    for (const Share& share : shares) {
      if (&share != &shares.front()) text += " + ";
      text += ValueText(ValueAt(share)) + " with " + relation_.calls[share.call].label + " (" +
              Format(relation_.calls[share.call].problem) + ", " + NameOf(share.at) + ")";
    }
    return text;
  }

  const Relation& relation_;
  const std::vector<Tensor>& results_;
};

// Why no comparison is possible: a call that the candidate does not cover, or data that are not exact.
std::string WhyNotComparable(const Relation& relation, const Candidate& candidate, std::int64_t kept,
                             oracle::ClassBound& bound) {
  if (!relation.inapplicable.empty()) return relation.inapplicable;
  for (const Call& call : relation.calls) {
    if (const auto why = WhyUnsupported(candidate.greeting().capabilities, call.problem)) {
      return "the candidate does not cover " + Format(call.problem) + ": " + *why;
    }
    if (!bound.relative_to_norm() && !SumsAreExact(bound, call.operands, kept)) {
      return "no data are exact under class " + oracle::Format(bound.accuracy_class());
    }
  }
  return "";
}

PropertyVerdict Judge(const Relation& relation, bool only_zeros, Candidate& candidate) {
  PropertyVerdict verdict;
  std::vector<Tensor> results;
  for (const Call& call : relation.calls) {
    ++verdict.calls;
    Answer answer = candidate.FilterGradient(call.problem, call.operands.input, call.operands.out_backprop);
    if (answer.kind != AnswerKind::kResult) {
      verdict.outcome = OutcomeOf(answer.kind);
      verdict.reason = "with " + call.label + " (" + Format(call.problem) + "): " + answer.message;
      return verdict;
    }
    results.push_back(std::move(answer.result));
  }
  Comparison(relation, results).Run(only_zeros, verdict);
  if (verdict.broken > 0) verdict.outcome = PropertyOutcome::kBroken;
  return verdict;
}

}  // namespace

const std::vector<PropertyInfo>& Properties() {
  static const std::vector<PropertyInfo> properties = [] {
    std::vector<PropertyInfo> all;
    for (const Property& property : AllProperties()) all.push_back({property.name, property.description});
    return all;
  }();
  return properties;
}

std::string_view NameOf(PropertyOutcome outcome) {
  static constexpr std::string_view kNames[] = {"holds", "broken", "not applicable", "unsupported", "rejected",
                                                "error", "died"};
  return kNames[static_cast<int>(outcome)];
}

PropertyOutcome OutcomeOf(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kResult:
      return PropertyOutcome::kHolds;
    case AnswerKind::kUnsupported:
      return PropertyOutcome::kUnsupported;
    case AnswerKind::kRejected:
      return PropertyOutcome::kRejected;
    case AnswerKind::kError:
      return PropertyOutcome::kError;
    case AnswerKind::kDied:
      return PropertyOutcome::kDied;
  }
  return PropertyOutcome::kError;
}

bool IsWrong(PropertyOutcome outcome) {
  return outcome == PropertyOutcome::kBroken || outcome == PropertyOutcome::kRejected ||
         outcome == PropertyOutcome::kError || outcome == PropertyOutcome::kDied;
}

PropertyVerdict CheckProperty(std::string_view name, const Problem& problem, std::uint64_t seed, Candidate& candidate,
                              const oracle::Judging& judging) {
  const Property& property = FindProperty(name);
  if (const auto why = WhyUnsupported(candidate.greeting().capabilities, problem)) {
    return {.outcome = PropertyOutcome::kUnsupported, .reason = *why};
  }
  if (problem.filter_count() == 0) return NotApplicable("the filter has no elements");
  oracle::ClassBound bound(problem, judging.accuracy_class, judging.policy);
  const bool only_zeros = bound.relative_to_norm();
  const bool by_channel = judging.accuracy_class.kind == oracle::ClassKind::kChannel;
  if (only_zeros && !(by_channel && property.zeros_hold_by_channel)) {
    return NotApplicable("class " + oracle::Format(judging.accuracy_class) + " makes no sum exact");
  }
  const IntegerPlan plan = PlanIntegers(problem, bound, property.adds_results);
  const Operands operands = DrawIntegers(problem, plan, seed);
  const Relation relation = property.make({problem, operands, plan, bound.accumulator(), seed});
  const std::string why = WhyNotComparable(relation, candidate, plan.kept, bound);
  if (!why.empty()) return NotApplicable(why);
  return Judge(relation, only_zeros, candidate);
}

}  // namespace wgrad::fuzz
