// Accuracy classes: named parameter sets of one composable error bound. docs/error-bounds.md, sections 2 and 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/problem.h"
#include "core/result.h"

namespace wgrad::oracle {

enum class ClassKind : std::uint8_t { kCr, kFaithful, kWide, kDepth, kOrder, kSplit, kInput, kChannel, kTensor };
enum class DepthKind : std::uint8_t { kFixed, kTree, kBlocked, kLanes };
enum class InputFormat : std::uint8_t { kExact, kTf32, kBFloat16, kBFloat16x3 };
enum class ChannelKind : std::uint8_t { kConstant, kFft, kWinogradF3x3_2x2 };

/// A class as written on the command line, not yet bound to a problem.
struct AccuracyClass {
  ClassKind kind = ClassKind::kOrder;
  std::optional<FloatFormat> accumulator;  // nothing: the class's own default for the result's dtype
  bool hardware = false;                   // +hw: 3n operations of 2u, faithful store, flushing allowed
  DepthKind depth = DepthKind::kFixed;
  std::int64_t depth_value = 0;  // N, block or lanes
  std::int64_t splits = 1;       // partial sums kept in the result's format
  InputFormat input = InputFormat::kExact;
  ChannelKind channel = ChannelKind::kConstant;
  double constant = 0;  // C of channel:C and tensor:C; 0 of tensor: Strassen

  friend bool operator==(const AccuracyClass&, const AccuracyClass&) = default;
};

/// NAME[:OPTION,..], lower case (docs/classes.md). Errors name the word and the nearest known one.
Result<AccuracyClass> ParseClass(std::string_view text);
std::string Format(const AccuracyClass& accuracy_class);

/// The default where nothing is declared: float64 and float32 `order`; half and bfloat16 `wide_hw`; a float32 result
/// of half or bfloat16 inputs `order_hw`.
AccuracyClass DefaultClass(const Problem& problem);

struct ClassDescription {
  std::string_view name;
  std::string_view meaning;
  std::string_view example;
};
const std::vector<ClassDescription>& ClassDescriptions();  // for `wgrad list classes`

enum class PadPolicy : std::uint8_t { kSkip, kMultiply, kEither };

/// The points that IEEE 754 and the operator leave open. docs/special-values.md.
struct Policy {
  PadPolicy pad = PadPolicy::kEither;
  bool ftz = false;        // results below the smallest normal number may be flushed to zero
  bool daz = false;        // subnormal inputs may be read as zero
  bool saturate = false;   // the largest finite value may stand for an infinity
  bool zero_skip = false;  // terms with a zero factor may be skipped (0 * Inf, 0 * NaN)

  friend bool operator==(const Policy&, const Policy&) = default;
};
std::string Format(const Policy& policy);  // "pad either" or "pad skip, ftz, daz"

/// What a caller may set; what stays empty comes from the candidate's declaration, then from the default.
struct JudgingChoice {
  std::optional<AccuracyClass> any;                             // --class NAME
  std::vector<std::pair<std::string, AccuracyClass>> by_dtype;  // --class DTYPE=NAME, by DTypeTag
  std::optional<PadPolicy> pad;
  std::optional<bool> ftz, daz, saturate, zero_skip;
};

/// What judges a problem, and why: "command line", "declared by the candidate" or "default".
struct Judging {
  AccuracyClass accuracy_class;
  Policy policy;
  std::string class_source;
  bool deterministic = false;
};
/// Precedence: choice, declaration, default. Errors: a declared text that is no class.
Result<Judging> Resolve(const Problem& problem, const JudgingChoice& choice, const Declaration& declaration);

}  // namespace wgrad::oracle
