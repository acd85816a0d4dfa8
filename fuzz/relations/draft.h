// Draft: a problem that can still be changed. Problems are made by Validate alone, out of arguments; a draft writes
// those.
#pragma once

#include <optional>

#include "core/problem.h"

namespace wgrad::fuzz {

struct Draft {
  explicit Draft(const Problem& problem);

  DType dtype;
  DType result_dtype;
  DataFormat data_format;
  Padding padding;
  std::int64_t batch;
  std::int64_t groups;
  std::int64_t filter_depth;
  std::int64_t out_depth;  // of all groups
  Axis rows;               // `output` is what the problem must have; pads are read for EXPLICIT only
  Axis columns;

  /// EXPLICIT with the pads that the axes hold.
  Draft& WithExplicitPads();
  /// The problem; nothing where the operator refuses it.
  std::optional<Problem> Build() const;
};

/// The padded rows (or columns) that windows reach: from the first one's start to the last one's end. 0 without
/// outputs.
std::int64_t ReachedExtent(const Axis& axis);

/// `axis` with explicit pads such that its last window ends where the padding ends. Trailing input that no window
/// reaches is dropped from `input`. Nothing where no window reaches any input.
std::optional<Axis> FittedAxis(const Axis& axis);

}  // namespace wgrad::fuzz
