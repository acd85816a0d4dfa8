// Metamorphic properties: how the results of two or more calls must relate, whatever the right result is. No reference
// is computed; a right candidate of any accuracy class has all of them. docs/properties.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/problem.h"
#include "oracle/accuracy_class.h"

namespace wgrad::fuzz {

struct PropertyInfo {
  std::string_view name;         // "batch_split"
  std::string_view description;  // the relation in a sentence
};

/// All of them, in the order of docs/properties.md.
const std::vector<PropertyInfo>& Properties();

enum class PropertyOutcome : std::uint8_t {
  kHolds,
  kBroken,
  kNotApplicable,  // the problem, the class or the candidate's capabilities leave nothing to compare
  kUnsupported,    // what the candidate answered to one of the calls, in place of a result
  kRejected,
  kError,
  kDied,
};
std::string_view NameOf(PropertyOutcome outcome);  // holds, broken, not applicable, unsupported, ..
/// kHolds for a result.
PropertyOutcome OutcomeOf(AnswerKind kind);
/// broken, rejected, error or died
bool IsWrong(PropertyOutcome outcome);

struct PropertyVerdict {
  PropertyOutcome outcome = PropertyOutcome::kHolds;
  /// For a broken one the first element and both values; for the others what happened. Empty where it holds.
  std::string reason = {};
  std::int64_t compared = 0;  // elements
  std::int64_t broken = 0;    // of them
  int calls = 0;              // of the candidate
};

/// Calls `candidate` on data of `seed` whose sums are exact under the class of `judging`, so that equality is due bit
/// for bit (-0 being 0). Requires a name out of Properties().
PropertyVerdict CheckProperty(std::string_view name, const Problem& problem, std::uint64_t seed, Candidate& candidate,
                              const oracle::Judging& judging);

}  // namespace wgrad::fuzz
