#include "cli/foreign_calls.h"

#include <span>
#include <vector>

namespace wgrad::cli {
namespace {

std::string Joined(std::span<const std::int64_t> values) {
  std::string text;
  for (const std::int64_t value : values) text += (text.empty() ? "" : ", ") + std::to_string(value);
  return text;
}

std::string List(std::span<const std::int64_t> values) { return "[" + Joined(values) + "]"; }
std::string Tuple(std::int64_t rows, std::int64_t columns) {
  return "(" + std::to_string(rows) + ", " + std::to_string(columns) + ")";
}

std::string PythonDType(DType dtype) {
  static constexpr const char* kNames[] = {"float16", "bfloat16", "float32", "float64"};
  return kNames[static_cast<int>(dtype)];
}

}  // namespace

std::string TensorFlowCall(const Problem& problem) {
  const OpArguments arguments = problem.arguments();
  const std::string dtype = "tf." + PythonDType(problem.dtype());
  std::string text = "import tensorflow as tf\n";
  text += "input = tf.cast(tf.random.normal(" + List(arguments.input_shape) + "), " + dtype + ")\n";
  text += "out_backprop = tf.cast(tf.random.normal(" + List(arguments.out_backprop_shape) + "), " + dtype + ")\n";
  text += "filter_backprop = tf.raw_ops.Conv2DBackpropFilter(\n";
  text += "    input=input, filter_sizes=" + List(arguments.filter_sizes) + ", out_backprop=out_backprop,\n";
  text += "    strides=" + List(arguments.strides) + ", padding=\"" + std::get<std::string>(arguments.padding) +
          "\", explicit_paddings=" + List(arguments.explicit_paddings) + ",\n";
  text += "    data_format=\"" + arguments.data_format + "\", dilations=" + List(arguments.dilations) + ")\n";
  if (problem.result_dtype() != problem.dtype()) {
    text += "# TensorFlow writes filter_backprop in the inputs' dtype, not in " + PythonDType(problem.result_dtype()) +
            ".\n";
  }
  return text;
}

std::string PyTorchCall(const Problem& problem) {
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  const std::vector<std::int64_t> input = {problem.batch(), problem.input_depth(), rows.input, columns.input};
  const std::vector<std::int64_t> out_backprop = {problem.batch(), problem.out_depth(), rows.output, columns.output};
  const std::vector<std::int64_t> weight = {problem.out_depth(), problem.filter_depth(), rows.filter, columns.filter};
  const std::string dtype = "torch." + PythonDType(problem.dtype());
  std::string text = "import torch\nimport torch.nn.functional as F\n";
  text += "input = torch.randn(" + List(input) + ").to(" + dtype + ")  # NCHW\n";
  text += "out_backprop = torch.randn(" + List(out_backprop) + ").to(" + dtype + ")\n";
  std::string padding = Tuple(rows.pad_before, columns.pad_before);
  if (rows.pad_before != rows.pad_after || columns.pad_before != columns.pad_after) {
    const std::vector<std::int64_t> sides = {columns.pad_before, columns.pad_after, rows.pad_before, rows.pad_after};
    text += "input = F.pad(input, (" + Joined(sides) + "))  # left, right, top, bottom\n";
    padding = Tuple(0, 0);
  }
  text += "filter_backprop = torch.nn.grad.conv2d_weight(\n";
  text += "    input, " + List(weight) + ", out_backprop, stride=" + Tuple(rows.stride, columns.stride) +
          ", padding=" + padding + ",\n";
  text += "    dilation=" + Tuple(rows.dilation, columns.dilation) + ", groups=" + std::to_string(problem.groups()) +
          ")  # OIHW\n";
  return text;
}

std::string BenchdnnCall(const Problem& problem) {
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  const std::string dtype(NameOf(problem.dtype()));
  const std::string tag = problem.data_format() == DataFormat::kNhwc ? "axb" : "abx";
  auto part = [](const char* key, std::int64_t value) { return key + std::to_string(value); };
  std::string text = "benchdnn --conv --dir=BWD_W --dt=" + dtype + ":" + std::string(NameOf(problem.result_dtype())) +
                     ":" + dtype + " --stag=" + tag + " --wtag=" + (problem.groups() > 1 ? "hwigo" : "hwio") +
                     " --dtag=" + tag + " ";
  if (problem.groups() > 1) text += part("g", problem.groups());
  text += part("mb", problem.batch()) + part("ic", problem.input_depth()) + part("ih", rows.input) +
          part("iw", columns.input) + part("oc", problem.out_depth()) + part("oh", rows.output) +
          part("ow", columns.output) + part("kh", rows.filter) + part("kw", columns.filter) + part("sh", rows.stride) +
          part("sw", columns.stride) + part("ph", rows.pad_before) + part("pw", columns.pad_before);
  // benchdnn counts the gaps between taps: no dilation is 0.
  text += part("dh", rows.dilation - 1) + part("dw", columns.dilation - 1) + "\n";
  if (problem.dtype() == DType::kFloat64) text += "# oneDNN has no float64 convolution: benchdnn skips it.\n";
  return text;
}

}  // namespace wgrad::cli
