// ProblemDraft: a problem with its fields open, what generators build and shrinking takes apart.
#pragma once

#include <cstdint>
#include <optional>

#include "core/case.h"
#include "core/problem.h"

namespace wgrad::fuzz {

/// One spatial axis before its output size is known. Pads count under explicit padding alone.
struct AxisDraft {
  std::int64_t input = 1;
  std::int64_t filter = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pad_before = 0;
  std::int64_t pad_after = 0;

  std::int64_t dilated_filter() const { return filter == 0 ? 0 : (filter - 1) * dilation + 1; }
  friend bool operator==(const AxisDraft&, const AxisDraft&) = default;
};

/// Defaults are the plainest problem: one product.
struct ProblemDraft {
  DTypePair dtypes = {DType::kFloat32, DType::kFloat32};
  DataFormat data_format = DataFormat::kNhwc;
  Padding padding = Padding::kValid;
  std::int64_t batch = 1;
  std::int64_t groups = 1;
  std::int64_t filter_depth = 1;
  std::int64_t out_per_group = 1;
  AxisDraft rows = {};
  AxisDraft columns = {};

  friend bool operator==(const ProblemDraft&, const ProblemDraft&) = default;
};

ProblemDraft DraftOf(const Problem& problem);

/// The problem, or nothing where the operator refuses it.
std::optional<Problem> ToProblem(const ProblemDraft& draft);

}  // namespace wgrad::fuzz
