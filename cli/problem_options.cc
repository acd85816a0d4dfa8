#include "cli/problem_options.h"

#include <CLI/CLI.hpp>

#include "cli/selection.h"
#include "core/case.h"

namespace wgrad::cli {
namespace {

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(extent);
  return text + "]";
}

std::vector<std::int64_t> Spatial(bool nhwc, const std::vector<std::int64_t>& pair) {
  const std::int64_t rows = pair.empty() ? 1 : pair[0];
  const std::int64_t columns = pair.empty() ? 1 : pair[1];
  if (nhwc) return {1, rows, columns, 1};
  return {1, 1, rows, columns};
}

// Reads "T,B,L,R". Nothing where the text is something else.
std::optional<std::vector<std::int64_t>> FourNumbers(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const std::string& word : CLI::detail::split(text, ',')) {
    std::int64_t number = 0;
    if (!CLI::detail::lexical_cast(word, number)) return std::nullopt;
    numbers.push_back(number);
  }
  if (numbers.size() != 4) return std::nullopt;
  return numbers;
}

Status SetPadding(const std::string& word, OpArguments& arguments) {
  if (word == "same" || word == "valid") {
    arguments.padding = std::string(word == "same" ? "SAME" : "VALID");
    return Ok();
  }
  const auto pads = FourNumbers(word);
  if (!pads)
    return Error{ErrorCode::kBadText, "--padding is same, valid or TOP,BOTTOM,LEFT,RIGHT, got \"" + word + "\""};
  arguments.padding = std::string("EXPLICIT");
  arguments.explicit_paddings = std::vector<std::int64_t>(8);
  const std::ptrdiff_t first = arguments.data_format == "NHWC" ? 2 : 4;
  std::copy(pads->begin(), pads->end(), arguments.explicit_paddings.begin() + first);
  return Ok();
}

// filter_sizes out of the result's own shape; anything but four axes is left for Validate to refuse.
std::vector<std::int64_t> FilterSizes(const std::vector<std::int64_t>& shape, ResultLayout layout) {
  if (shape.size() != 4 || layout == ResultLayout::kHwio) return shape;
  if (layout == ResultLayout::kOihw) return {shape[2], shape[3], shape[1], shape[0]};
  return {shape[1], shape[2], shape[3], shape[0]};
}

Result<Problem> DeriveProblem(const ProblemWords& words, const GivenTensors& tensors) {
  if (words.padding.empty()) {
    return Error{ErrorCode::kBadText, "--problem or --padding is needed: shapes alone do not tell the padding"};
  }
  OpArguments arguments;
  arguments.data_format = words.data_format;
  arguments.dtype = NameOf(tensors.input.dtype());
  arguments.out_backprop_dtype = NameOf(tensors.out_backprop.dtype());
  if (tensors.actual.dtype() != tensors.input.dtype()) arguments.result_dtype = NameOf(tensors.actual.dtype());
  arguments.input_shape = tensors.input.shape();
  arguments.out_backprop_shape = tensors.out_backprop.shape();
  arguments.filter_sizes = FilterSizes(tensors.actual.shape(), tensors.actual_layout);
  const bool nhwc = words.data_format == "NHWC";
  arguments.strides = Spatial(nhwc, words.strides);
  arguments.dilations = Spatial(nhwc, words.dilations);
  if (Status status = SetPadding(words.padding, arguments); !status.ok()) return status.error();
  return Validate(arguments);
}

}  // namespace

void AddProblemOptions(CLI::App& command, ProblemWords& words) {
  const std::string group = "Which problem";
  CLI::Option* problem = command.add_option("--problem", words.problem, "The problem's text");
  problem->type_name("PROBLEM")->group(group);
  auto instead = [&](CLI::Option* option) { option->group(group)->excludes(problem); };
  instead(command.add_option("--strides", words.strides, "Strides of rows and columns; default 1,1")
              ->type_name("H,W")
              ->delimiter(',')
              ->expected(2));
  instead(command.add_option("--padding", words.padding, "same, valid, or TOP,BOTTOM,LEFT,RIGHT")->type_name("WORD"));
  instead(command.add_option("--dilations", words.dilations, "Dilations of rows and columns; default 1,1")
              ->type_name("H,W")
              ->delimiter(',')
              ->expected(2));
  instead(command.add_option("--data-format", words.data_format, "NHWC (default) or NCHW")->type_name("WORD"));
}

Result<Problem> FindProblem(const ProblemWords& words, const GivenTensors& tensors) {
  Result<Problem> problem = words.problem.empty() ? DeriveProblem(words, tensors) : ParseProblem(words.problem);
  if (!problem.ok() || words.dtype.empty()) return problem;
  const Result<DTypePair> dtypes = ParseDTypeTag(words.dtype);
  if (!dtypes.ok()) return dtypes.error();
  return WithDType(*problem, dtypes->dtype, dtypes->result_dtype);
}

Status CheckTensor(const Problem& problem, const std::string& what, const Tensor& tensor, DType dtype,
                   const std::vector<std::int64_t>& shape) {
  if (tensor.dtype() == dtype && tensor.shape() == shape) return Ok();
  return Error{ErrorCode::kInvalidArgument, what + " is " + ShapeText(tensor.shape()) + " of " +
                                                std::string(NameOf(tensor.dtype())) + ", but " + Format(problem) +
                                                " needs " + ShapeText(shape) + " of " + std::string(NameOf(dtype))};
}

}  // namespace wgrad::cli
