#include "fuzz/space.h"

#include <algorithm>
#include <set>

#include "fuzz/problem_draft.h"

namespace wgrad::fuzz {
namespace {

std::string Joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Error Empty(const std::string& why) { return {ErrorCode::kInvalidArgument, "no case satisfies " + why}; }

}  // namespace

Result<Space> MakeSpace(const Capabilities& capabilities, const SpaceLimits& limits) {
  if (!capabilities.unavailable.empty()) return Error{ErrorCode::kUnavailable, capabilities.unavailable};
  Space space{capabilities, {}, limits.max_size, std::min(limits.max_work, capabilities.max_work)};
  for (const std::string& tag : capabilities.dtypes) {
    if (limits.dtype.empty() || limits.dtype == tag) space.dtypes.push_back(DTypePairFromTag(tag).value());
  }
  if (space.dtypes.empty()) {
    return Empty("--dtype " + limits.dtype + ": the candidate's dtypes are " + Joined(capabilities.dtypes));
  }
  if (limits.max_size < 1) return Empty("--max-size " + std::to_string(limits.max_size) + ": the least is 1");
  if (space.max_work < 1) return Empty("--max-work " + std::to_string(limits.max_work) + ": the least is 1");
  // The plainest problem of all must be one that the candidate has, in one of its layouts and paddings.
  std::string why;
  for (const DTypePair& dtypes : space.dtypes) {
    for (const DataFormat format : {DataFormat::kNhwc, DataFormat::kNchw}) {
      for (const Padding padding : {Padding::kValid, Padding::kSame, Padding::kExplicit}) {
        ProblemDraft draft;
        draft.dtypes = dtypes;
        draft.data_format = format;
        draft.padding = padding;
        const auto unsupported = WhyUnsupported(capabilities, ToProblem(draft).value());
        if (!unsupported) return space;
        why = *unsupported;
      }
    }
  }
  return Empty("the candidate's capabilities: " + why);
}

}  // namespace wgrad::fuzz
