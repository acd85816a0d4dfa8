// The regions of the argument space where weight gradients have gone wrong, by name. Uniform sampling meets some of
// them once in hundreds of problems; here each is steered into, and counted in what a run says of its coverage.
#pragma once

#include <string_view>
#include <vector>

#include "core/problem.h"
#include "fuzz/problem_draft.h"

namespace wgrad::fuzz {

class Draw;

struct Region {
  std::string_view name;         // "stride_above_filter"
  std::string_view description;  // "a stride larger than the filter: pixels that no tap reads"
  bool (*contains)(const Problem& problem);
  /// Changes a freely drawn problem such that it probably lies inside.
  void (*steer)(ProblemDraft& draft, Draw& draw);
};

const std::vector<Region>& Regions();

/// Whether tap `k` of the axis meets the image at no output position.
bool TapSeesOnlyPadding(const Axis& axis, std::int64_t k);

/// Input cells behind the last window, padding included.
std::int64_t Remainder(const Axis& axis);

}  // namespace wgrad::fuzz
