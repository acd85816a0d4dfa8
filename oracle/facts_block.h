// A block of facts as FactsEngine hands it out, and the data of a run that blocks share.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "oracle/facts.h"
#include "oracle/facts_range.h"

namespace wgrad::oracle {

/// Products with a subnormal factor come out of two pairs of tensors: the subnormal input with all of out_backprop, and
/// the rest of the input with the subnormal out_backprop.
struct SubnormalPlanes {
  Planes subnormal_input;
  Planes other_input;
  Planes subnormal_out_backprop;
};

struct RunData {
  Problem problem;
  Planes input;
  Planes out_backprop;
  std::optional<SubnormalPlanes> subnormals;  // where A_sub is asked for and not zero throughout

  RunPlanes planes() const { return {problem, input, out_backprop}; }
  bool has_nonfinite() const { return input.tensor_scan().has_nonfinite || out_backprop.tensor_scan().has_nonfinite; }
};

/// Sums `range` at once.
std::unique_ptr<FactsBlock> MakeBlock(std::shared_ptr<const RunData> data, const ElementRange& range);

}  // namespace wgrad::oracle
