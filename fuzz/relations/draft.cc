#include "fuzz/relations/draft.h"

#include <algorithm>

namespace wgrad::fuzz {
namespace {

std::vector<std::int64_t> InOrder(DataFormat format, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  if (format == DataFormat::kNhwc) return {n, h, w, c};
  return {n, c, h, w};
}

std::vector<std::int64_t> PadList(DataFormat format, const Axis& rows, const Axis& columns) {
  std::vector<std::int64_t> list(8);
  const std::size_t first = format == DataFormat::kNhwc ? 2 : 4;
  list[first] = rows.pad_before;
  list[first + 1] = rows.pad_after;
  list[first + 2] = columns.pad_before;
  list[first + 3] = columns.pad_after;
  return list;
}

std::string PaddingWord(Padding padding) {
  switch (padding) {
    case Padding::kSame:
      return "SAME";
    case Padding::kValid:
      return "VALID";
    case Padding::kExplicit:
      break;
  }
  return "EXPLICIT";
}

}  // namespace

Draft::Draft(const Problem& problem)
    : dtype(problem.dtype()),
      result_dtype(problem.result_dtype()),
      data_format(problem.data_format()),
      padding(problem.padding()),
      batch(problem.batch()),
      groups(problem.groups()),
      filter_depth(problem.filter_depth()),
      out_depth(problem.out_depth()),
      rows(problem.rows()),
      columns(problem.columns()) {}

Draft& Draft::WithExplicitPads() {
  padding = Padding::kExplicit;
  return *this;
}

std::optional<Problem> Draft::Build() const {
  OpArguments arguments;
  arguments.dtype = arguments.out_backprop_dtype = NameOf(dtype);
  if (result_dtype != dtype) arguments.result_dtype = NameOf(result_dtype);
  arguments.data_format = data_format == DataFormat::kNhwc ? "NHWC" : "NCHW";
  arguments.input_shape = InOrder(data_format, batch, rows.input, columns.input, groups * filter_depth);
  arguments.filter_sizes = {rows.filter, columns.filter, filter_depth, out_depth};
  arguments.out_backprop_shape = InOrder(data_format, batch, rows.output, columns.output, out_depth);
  arguments.strides = InOrder(data_format, 1, rows.stride, columns.stride, 1);
  arguments.dilations = InOrder(data_format, 1, rows.dilation, columns.dilation, 1);
  arguments.padding = PaddingWord(padding);
  if (padding == Padding::kExplicit) arguments.explicit_paddings = PadList(data_format, rows, columns);
  Result<Problem> problem = Validate(arguments);
  if (!problem.ok()) return std::nullopt;
  return std::move(problem).value();
}

std::int64_t ReachedExtent(const Axis& axis) {
  if (axis.output == 0 || axis.filter == 0) return 0;
  return (axis.output - 1) * axis.stride + (axis.filter - 1) * axis.dilation + 1;
}

std::optional<Axis> FittedAxis(const Axis& axis) {
  Axis fitted = axis;
  const std::int64_t reached = ReachedExtent(axis) - axis.pad_before;
  if (reached <= 0 || axis.input == 0) return std::nullopt;
  fitted.input = std::min(axis.input, reached);
  fitted.pad_after = reached - fitted.input;
  return fitted;
}

}  // namespace wgrad::fuzz
