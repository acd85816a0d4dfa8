// Gradient checks. L(W) = <conv2d(input, W), out_backprop> is linear in each of its three arguments, so differences
// have no truncation error: in exact arithmetic they equal the filter gradient for every step. docs/gradient-checks.md.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/problem.h"
#include "fuzz/metamorphic.h"
#include "oracle/accuracy_class.h"
#include "oracle/rational.h"

namespace wgrad::fuzz {

using Numbers = std::vector<oracle::Rational>;

/// The three maps that the identities tie together, in exact arithmetic. Orders as in reference/: input [n, h, w, c]
/// and out_backprop [n, oh, ow, oc] in the problem's data format, filters [kh, kw, ic, oc].
struct ExactMaps {
  std::function<Numbers(const Problem& problem, const Numbers& input, const Numbers& filter)> forward;
  std::function<Numbers(const Problem& problem, const Numbers& filter, const Numbers& out_backprop)> input_gradient;
  std::function<Numbers(const Problem& problem, const Tensor& input, const Tensor& out_backprop)> filter_gradient;
};
/// Those of reference/.
ExactMaps ReferenceMaps();

/// The identities, in the order of docs/gradient-checks.md.
enum class Identity : std::uint8_t {
  kBasisProbe,
  kCentralDifference,
  kOneSidedDifference,
  kForwardAdjoint,
  kInputAdjoint,
  kMixedInput,
  kMixedOutBackprop,
  kPureSecond,
  kRounded,
};
inline constexpr int kIdentityCount = 9;
std::string_view NameOf(Identity identity);         // "basis_probe"
std::string_view DescriptionOf(Identity identity);  // in a few words and signs

struct IdentityVerdict {
  std::int64_t comparisons = 0;
  std::int64_t failures = 0;
  double ratio = 0;         // largest error / tolerance; of kRounded, all others permit no error
  std::string reason = {};  // the first failure in a sentence, or why nothing was compared
};

/// What the usual check would have said of the same candidate: a central difference in float32 with step 1e-3, passed
/// where |a - d| <= 1e-3 * max(1, |a|, |d|) for the gradient's element a and the difference d. It decides nothing.
struct ClassicVerdict {
  bool ran = false;
  bool passed = false;
  double error = 0;  // the largest |a - d| / max(1, |a|, |d|)
  std::int64_t elements = 0;
};
inline constexpr double kClassicStep = 1e-3;
inline constexpr double kClassicTolerance = 1e-3;

struct GradientVerdict {
  /// kNotApplicable: nothing was compared. For an answer that is no result, what it was.
  PropertyOutcome outcome = PropertyOutcome::kHolds;
  std::string reason = {};  // in a sentence, for all but kHolds
  std::vector<IdentityVerdict> identities{kIdentityCount};
  ClassicVerdict classic = {};
};

/// Multiply-adds of one call above which exact maps take too long.
inline constexpr std::int64_t kMaxGradientWork = 200'000;

/// Checks the filter gradient of `candidate` against exact forward and input gradient maps: equality on data whose
/// results are exact under the class of `judging`, and the derived tolerance of that class on random data. Data depend
/// on (problem, seed). Requires multiply_adds() <= kMaxGradientWork.
GradientVerdict CheckGradient(const Problem& problem, std::uint64_t seed, Candidate& candidate,
                              const oracle::Judging& judging, const ExactMaps& maps = ReferenceMaps());

/// Checks three exact maps against each other, and the correctly rounded result by the tolerance of class cr.
GradientVerdict CheckMaps(const Problem& problem, std::uint64_t seed, const ExactMaps& maps = ReferenceMaps());

}  // namespace wgrad::fuzz
