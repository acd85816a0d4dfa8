#include "fuzz/problem_draft.h"

#include <string>

namespace wgrad::fuzz {
namespace {

AxisDraft AxisDraftOf(const Axis& axis, Padding padding) {
  AxisDraft draft{axis.input, axis.filter, axis.stride, axis.dilation};
  if (padding != Padding::kExplicit) return draft;
  draft.pad_before = axis.pad_before;
  draft.pad_after = axis.pad_after;
  return draft;
}

std::int64_t OutputOf(const AxisDraft& draft, Padding padding) {
  Axis axis{draft.input, draft.filter, draft.stride, draft.dilation};
  if (padding == Padding::kExplicit) {
    axis.pad_before = draft.pad_before;
    axis.pad_after = draft.pad_after;
  }
  return ComputeAxis(axis, padding).output;
}

// A list of one entry an axis, in the data format's order.
std::vector<std::int64_t> InOrder(DataFormat format, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                                  std::int64_t depth) {
  if (format == DataFormat::kNhwc) return {batch, rows, columns, depth};
  return {batch, depth, rows, columns};
}

std::vector<std::int64_t> ExplicitPaddings(const ProblemDraft& draft) {
  const AxisDraft& rows = draft.rows;
  const AxisDraft& columns = draft.columns;
  if (draft.data_format == DataFormat::kNhwc) {
    return {0, 0, rows.pad_before, rows.pad_after, columns.pad_before, columns.pad_after, 0, 0};
  }
  return {0, 0, 0, 0, rows.pad_before, rows.pad_after, columns.pad_before, columns.pad_after};
}

std::string WordOf(Padding padding) {
  if (padding == Padding::kSame) return "SAME";
  return padding == Padding::kValid ? "VALID" : "EXPLICIT";
}

}  // namespace

ProblemDraft DraftOf(const Problem& problem) {
  return {{problem.dtype(), problem.result_dtype()},
          problem.data_format(),
          problem.padding(),
          problem.batch(),
          problem.groups(),
          problem.filter_depth(),
          problem.out_depth_per_group(),
          AxisDraftOf(problem.rows(), problem.padding()),
          AxisDraftOf(problem.columns(), problem.padding())};
}

std::optional<Problem> ToProblem(const ProblemDraft& draft) {
  const std::int64_t output_rows = OutputOf(draft.rows, draft.padding);
  const std::int64_t output_columns = OutputOf(draft.columns, draft.padding);
  if (output_rows < 0 || output_columns < 0) return std::nullopt;
  const DataFormat format = draft.data_format;
  const std::int64_t out_depth = draft.groups * draft.out_per_group;
  OpArguments arguments;
  arguments.dtype = arguments.out_backprop_dtype = NameOf(draft.dtypes.dtype);
  if (draft.dtypes.result_dtype != draft.dtypes.dtype) arguments.result_dtype = NameOf(draft.dtypes.result_dtype);
  arguments.data_format = format == DataFormat::kNhwc ? "NHWC" : "NCHW";
  arguments.input_shape =
      InOrder(format, draft.batch, draft.rows.input, draft.columns.input, draft.groups * draft.filter_depth);
  arguments.filter_sizes = {draft.rows.filter, draft.columns.filter, draft.filter_depth, out_depth};
  arguments.out_backprop_shape = InOrder(format, draft.batch, output_rows, output_columns, out_depth);
  arguments.strides = InOrder(format, 1, draft.rows.stride, draft.columns.stride, 1);
  arguments.dilations = InOrder(format, 1, draft.rows.dilation, draft.columns.dilation, 1);
  arguments.padding = WordOf(draft.padding);
  if (draft.padding == Padding::kExplicit) arguments.explicit_paddings = ExplicitPaddings(draft);
  const Result<Problem> problem = Validate(arguments);
  if (!problem.ok()) return std::nullopt;
  return *problem;
}

}  // namespace wgrad::fuzz
