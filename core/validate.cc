// Validate: the numbered rules V0 to V26 of docs/spec.md, in order. All break with InvalidArgument.
#include <algorithm>
#include <string>

#include "core/problem.h"
#include "core/tensor.h"

namespace wgrad {
namespace {

using List = std::vector<std::int64_t>;

Error Broken(int rule, const std::string& sentence) {
  return {ErrorCode::kInvalidArgument, "V" + std::to_string(rule) + ": " + sentence, rule};
}

std::string Text(std::int64_t value) { return std::to_string(value); }

std::string Text(const List& list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(list[i]);
  return text + "]";
}

// Where n, h, w, c stand in a list of four.
struct AxisPositions {
  std::size_t height;
  std::size_t width;
  std::size_t depth;
};

AxisPositions PositionsOf(DataFormat format) {
  return format == DataFormat::kNhwc ? AxisPositions{1, 2, 3} : AxisPositions{2, 3, 1};
}

// The wrapper's list of pairs becomes the raw op's EXPLICIT form (V0).
Result<OpArguments> ToRawForm(OpArguments arguments) {
  const auto* pairs = std::get_if<PaddingPairs>(&arguments.padding);
  if (pairs == nullptr) {
    if (std::get<std::string>(arguments.padding) == "EXPLICIT" && arguments.explicit_paddings.empty()) {
      return Broken(0, "padding \"EXPLICIT\" needs its list, explicit_paddings or a list of four pairs, got none");
    }
    return arguments;
  }
  if (!arguments.explicit_paddings.empty()) {
    return Broken(0, "explicit_paddings must be empty where padding is a list of pairs, got " +
                         Text(arguments.explicit_paddings));
  }
  List flat;
  for (const List& pair : *pairs) {
    if (pair.size() != 2) return Broken(0, "each element of padding must be a pair (before, after), got " + Text(pair));
    flat.insert(flat.end(), pair.begin(), pair.end());
  }
  if (pairs->size() != 4)
    return Broken(0, "padding as a list must hold 4 pairs, got " + Text(std::int64_t(pairs->size())));
  arguments.padding = std::string("EXPLICIT");
  arguments.explicit_paddings = flat;
  return arguments;
}

// V3 to V5, and V8 to V10 with another name.
struct SpatialPair {
  std::int64_t height;
  std::int64_t width;
};

Result<SpatialPair> CheckSpatialList(const char* name, const List& list, AxisPositions at, int first_rule) {
  if (list.size() != 4) {
    return Broken(first_rule, std::string(name) + " must have 4 entries, got " + Text(list));
  }
  if (list[0] != 1 || list[at.depth] != 1) {
    return Broken(first_rule + 1, std::string(name) + " of batch and depth must be 1, got " + Text(list));
  }
  if (list[at.height] < 1 || list[at.width] < 1) {
    return Broken(first_rule + 2, std::string(name) + " of rows and columns must be at least 1, got " + Text(list));
  }
  return SpatialPair{list[at.height], list[at.width]};
}

// V7.
Status CheckExplicitList(const List& list, Padding padding, AxisPositions at) {
  if (padding != Padding::kExplicit) {
    if (list.empty()) return Ok();
    return Broken(7, "explicit_paddings must be empty unless padding is EXPLICIT, got " + Text(list));
  }
  if (list.size() != 8) {
    return Broken(7, "explicit_paddings must have 8 entries when padding is EXPLICIT, got " + Text(list));
  }
  for (const std::int64_t pad : list) {
    if (pad < 0) return Broken(7, "explicit_paddings must not be negative, got " + Text(list));
  }
  for (const std::size_t axis : {std::size_t{0}, at.depth}) {
    if (list[2 * axis] != 0 || list[2 * axis + 1] != 0) {
      return Broken(7, "explicit_paddings of batch and depth must be 0, got " + Text(list));
    }
  }
  return Ok();
}

// V11 to V13.
Status CheckFilterSizes(const OpArguments& arguments) {
  if (arguments.filter_sizes_rank != 1) {
    return Broken(11, "filter_sizes must be a vector, got a tensor of rank " + Text(arguments.filter_sizes_rank));
  }
  std::int64_t product = 1;
  bool overflow = false;
  for (const std::int64_t size : arguments.filter_sizes) {
    if (size < 0) return Broken(12, "entries of filter_sizes must be at least 0, got " + Text(arguments.filter_sizes));
    overflow = overflow || __builtin_mul_overflow(product, size, &product);
  }
  if (overflow)
    return Broken(13, "the product of filter_sizes must be below 2^63, got " + Text(arguments.filter_sizes));
  return Ok();
}

// V14 to V16.
Status CheckRanks(const OpArguments& arguments) {
  if (arguments.input_shape.size() != 4) {
    return Broken(14, "input must have rank 4, got shape " + Text(arguments.input_shape));
  }
  if (arguments.filter_sizes.size() != 4) {
    return Broken(15, "filter_sizes must have 4 entries, got " + Text(arguments.filter_sizes));
  }
  if (arguments.out_backprop_shape.size() != 4) {
    return Broken(16, "out_backprop must have rank 4, got shape " + Text(arguments.out_backprop_shape));
  }
  return Ok();
}

// V17 to V21.
Status CheckDepths(const OpArguments& arguments, AxisPositions at) {
  const std::int64_t batch = arguments.input_shape[0];
  const std::int64_t out_batch = arguments.out_backprop_shape[0];
  const std::int64_t depth = arguments.input_shape[at.depth];
  const std::int64_t filter_depth = arguments.filter_sizes[2];
  const std::int64_t out_depth = arguments.filter_sizes[3];
  if (batch != out_batch) {
    return Broken(17,
                  "input and out_backprop must have the same batch, got " + Text(batch) + " and " + Text(out_batch));
  }
  if (filter_depth <= 0) return Broken(18, "filter depth must be greater than 0, got " + Text(filter_depth));
  if (depth <= 0 || depth % filter_depth != 0) {
    return Broken(
        19, "input depth must be a positive multiple of filter depth " + Text(filter_depth) + ", got " + Text(depth));
  }
  if (out_depth != arguments.out_backprop_shape[at.depth]) {
    return Broken(20, "filter_sizes and out_backprop must have the same out depth, got " + Text(out_depth) + " and " +
                          Text(arguments.out_backprop_shape[at.depth]));
  }
  if (out_depth % (depth / filter_depth) != 0) {
    return Broken(
        21, "out depth must be a multiple of the " + Text(depth / filter_depth) + " groups, got " + Text(out_depth));
  }
  return Ok();
}

// V22 and V23 for rows, V24 and V25 for columns.
Result<Axis> CheckAxis(const char* name, const Axis& given, Padding padding, std::int64_t out_backprop,
                       int first_rule) {
  const Axis axis = ComputeAxis(given, padding);
  if (axis.output == -1) {
    return Broken(first_rule, std::string(name) + ": the computed output size must not be negative, got input " +
                                  Text(axis.input) + ", filter " + Text(axis.filter) + ", stride " + Text(axis.stride) +
                                  ", dilation " + Text(axis.dilation));
  }
  if (axis.output == -2) return Broken(26, std::string(name) + ": the padded size leaves 63 bits");
  if (axis.output != out_backprop) {
    return Broken(first_rule + 1, std::string(name) + ": out_backprop must have the computed size " +
                                      Text(axis.output) + ", got " + Text(out_backprop));
  }
  return axis;
}

// V26: every tensor, and the number of multiply-adds, below 2^63 with room for 8 bytes an element. An extent of 0
// counts as 1, so that no order of multiplication overflows on the way to 0.
bool SizeFits(List extents) {
  for (std::int64_t& extent : extents) extent = std::max<std::int64_t>(extent, 1);
  return CheckedElementCount(extents).has_value();
}

Status CheckSizes(const Problem& problem) {
  for (const List& shape : {problem.input_shape(), problem.out_backprop_shape(), problem.filter_sizes()}) {
    if (!SizeFits(shape)) return Broken(26, "a tensor must have fewer than 2^60 elements, got shape " + Text(shape));
  }
  const List work = {problem.rows().filter, problem.columns().filter, problem.filter_depth(),  problem.out_depth(),
                     problem.batch(),       problem.rows().output,    problem.columns().output};
  if (!SizeFits(work)) return Broken(26, "the number of multiply-adds must be below 2^60");
  return Ok();
}

}  // namespace

Result<Problem> Validate(const OpArguments& given) {
  Result<OpArguments> raw = ToRawForm(given);
  if (!raw.ok()) return raw.error();
  const OpArguments& arguments = *raw;
  Problem problem;

  const auto dtype = DTypeFromName(arguments.dtype);
  if (!dtype) return Broken(1, "dtype must be half, bfloat16, float32 or float64, got \"" + arguments.dtype + "\"");
  if (DTypeFromName(arguments.out_backprop_dtype) != dtype) {
    return Broken(1, "input and out_backprop must have one dtype, got \"" + arguments.dtype + "\" and \"" +
                         arguments.out_backprop_dtype + "\"");
  }
  problem.dtype_ = problem.result_dtype_ = *dtype;
  if (!arguments.result_dtype.empty()) {
    const auto result_dtype = DTypeFromName(arguments.result_dtype);
    const bool widens = result_dtype == DType::kFloat32 && (*dtype == DType::kFloat16 || *dtype == DType::kBFloat16);
    if (!result_dtype || (result_dtype != *dtype && !widens)) {
      return Broken(1, "the result's dtype must be the inputs', or float32 beside half and bfloat16, got \"" +
                           arguments.result_dtype + "\" beside \"" + arguments.dtype + "\"");
    }
    problem.result_dtype_ = *result_dtype;
  }

  if (arguments.data_format != "NHWC" && arguments.data_format != "NCHW") {
    return Broken(2, "data_format must be \"NHWC\" or \"NCHW\", got \"" + arguments.data_format + "\"");
  }
  problem.data_format_ = arguments.data_format == "NHWC" ? DataFormat::kNhwc : DataFormat::kNchw;
  const AxisPositions at = PositionsOf(problem.data_format_);

  const auto strides = CheckSpatialList("strides", arguments.strides, at, 3);
  if (!strides.ok()) return strides.error();

  const std::string& word = std::get<std::string>(arguments.padding);
  if (word != "SAME" && word != "VALID" && word != "EXPLICIT") {
    return Broken(6, "padding must be \"SAME\", \"VALID\" or a list of four pairs, got \"" + word + "\"");
  }
  problem.padding_ = word == "SAME" ? Padding::kSame : word == "VALID" ? Padding::kValid : Padding::kExplicit;
  if (const Status status = CheckExplicitList(arguments.explicit_paddings, problem.padding_, at); !status.ok()) {
    return status.error();
  }

  const auto dilations = CheckSpatialList("dilations", arguments.dilations, at, 8);
  if (!dilations.ok()) return dilations.error();
  if (const Status status = CheckFilterSizes(arguments); !status.ok()) return status.error();
  if (const Status status = CheckRanks(arguments); !status.ok()) return status.error();
  for (const List* shape : {&arguments.input_shape, &arguments.out_backprop_shape}) {
    for (const std::int64_t extent : *shape) {
      if (extent < 0) return Broken(26, "a tensor's extents must be at least 0, got shape " + Text(*shape));
    }
  }
  if (const Status status = CheckDepths(arguments, at); !status.ok()) return status.error();

  Axis rows{arguments.input_shape[at.height], arguments.filter_sizes[0], strides->height, dilations->height};
  Axis columns{arguments.input_shape[at.width], arguments.filter_sizes[1], strides->width, dilations->width};
  if (problem.padding_ == Padding::kExplicit) {
    rows.pad_before = arguments.explicit_paddings[2 * at.height];
    rows.pad_after = arguments.explicit_paddings[2 * at.height + 1];
    columns.pad_before = arguments.explicit_paddings[2 * at.width];
    columns.pad_after = arguments.explicit_paddings[2 * at.width + 1];
  }
  const auto checked_rows = CheckAxis("rows", rows, problem.padding_, arguments.out_backprop_shape[at.height], 22);
  if (!checked_rows.ok()) return checked_rows.error();
  const auto checked_columns =
      CheckAxis("columns", columns, problem.padding_, arguments.out_backprop_shape[at.width], 24);
  if (!checked_columns.ok()) return checked_columns.error();
  problem.rows_ = *checked_rows;
  problem.columns_ = *checked_columns;
  problem.batch_ = arguments.input_shape[0];
  problem.filter_depth_ = arguments.filter_sizes[2];
  problem.out_depth_ = arguments.filter_sizes[3];
  problem.groups_ = arguments.input_shape[at.depth] / problem.filter_depth_;

  if (const Status status = CheckSizes(problem); !status.ok()) return status.error();
  return problem;
}

}  // namespace wgrad
