// `wgrad describe`: what a problem's text means, and how to pose it elsewhere.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/foreign_calls.h"
#include "cli/memory.h"
#include "cli/terminal.h"
#include "core/case.h"
#include "oracle/bound.h"
#include "oracle/fillings.h"

namespace wgrad::cli {
namespace {

struct Extremes {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

// Over the taps of one axis: how many outputs read a position inside the image.
Extremes ReadsPerTap(const Axis& axis) {
  if (axis.filter == 0) return {};
  Extremes extremes{axis.output, 0};
  for (std::int64_t tap = 0; tap < axis.filter; ++tap) {
    const std::int64_t offset = tap * axis.dilation - axis.pad_before;
    auto outputs_before = [&](std::int64_t position) {  // outputs whose input position lies before `position`
      const std::int64_t distance = position - offset;
      return std::clamp<std::int64_t>(distance <= 0 ? 0 : (distance - 1) / axis.stride + 1, 0, axis.output);
    };
    const std::int64_t reads = outputs_before(axis.input) - outputs_before(0);
    extremes.least = std::min(extremes.least, reads);
    extremes.most = std::max(extremes.most, reads);
  }
  return extremes;
}

std::string ShapeText(const std::vector<std::int64_t>& shape, DType dtype, const char* axes) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "[" : ", ") + std::to_string(extent);
  return text + "] " + std::string(NameOf(dtype)) + " (" + axes + ")";
}

std::string PadText(const Problem& problem) {
  static constexpr const char* kWords[] = {"SAME", "VALID", "EXPLICIT"};
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  return "top " + std::to_string(rows.pad_before) + ", bottom " + std::to_string(rows.pad_after) + ", left " +
         std::to_string(columns.pad_before) + ", right " + std::to_string(columns.pad_after) + " (" +
         kWords[static_cast<int>(problem.padding())] + ")";
}

std::string FillingsText(const Problem& problem) {
  std::string text;
  for (const Filling filling : oracle::Battery(problem, {})) {
    text += (text.empty() ? "" : ", ") + std::string(NameOf(filling));
  }
  return text;
}

std::string ClassText(const Problem& problem, std::int64_t terms) {
  const oracle::AccuracyClass accuracy_class = oracle::DefaultClass(problem);
  oracle::ClassBound bound(problem, accuracy_class, oracle::Policy());
  const int unit = -bound.accumulator().precision;
  const oracle::Rational factor = bound.CoefficientsFor(terms).alpha / oracle::PowerOfTwo(unit);
  char number[32];
  std::snprintf(number, sizeof number, "%.6g", oracle::ToDouble(factor));
  return oracle::Format(accuracy_class) + ", for " + std::to_string(terms) + " terms an error of at most " + number +
         " u * sum of |terms|, u = 2^" + std::to_string(unit) +
         (bound.store() == oracle::Store::kNone ? "" : ", then rounded to the result's dtype");
}

std::string Describe(const Problem& problem) {
  const bool nhwc = problem.data_format() == DataFormat::kNhwc;
  const Extremes rows = ReadsPerTap(problem.rows());
  const Extremes columns = ReadsPerTap(problem.columns());
  const std::int64_t least = problem.batch() * rows.least * columns.least;
  const std::int64_t most = problem.batch() * rows.most * columns.most;
  const char* axes = nhwc ? "n, h, w, c" : "n, c, h, w";
  std::string text = "problem          " + Format(problem) + "\n";
  text += "input            " + ShapeText(problem.input_shape(), problem.dtype(), axes) + "\n";
  text += "out_backprop     " + ShapeText(problem.out_backprop_shape(), problem.dtype(), axes) + "\n";
  text += "filter_backprop  " + ShapeText(problem.filter_sizes(), problem.result_dtype(), "kh, kw, ic, oc") + "\n";
  text += "padding          " + PadText(problem) + "\n";
  text += "output           " + std::to_string(problem.rows().output) + " x " +
          std::to_string(problem.columns().output) + "\n";
  text += "terms            " + std::to_string(least) + " to " + std::to_string(most) +
          " an element, by its tap; products with padding are left out\n";
  text += "multiply-adds    " + std::to_string(problem.multiply_adds()) + ", padding included\n";
  text += "memory           about " + FormatBytes(EstimatedBytes(problem)) + " while a case runs\n";
  text += "fillings         " + FillingsText(problem) + "\n";
  text += "default class    " + ClassText(problem, most) + "\n";
  text += "\nTensorFlow:\n" + TensorFlowCall(problem);
  text += "\nPyTorch:\n" + PyTorchCall(problem);
  text += "\noneDNN:\n" + BenchdnnCall(problem);
  return text;
}

}  // namespace

void AddDescribeCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("describe", "Show what a problem's text means");
  auto text = std::make_shared<std::string>();
  command->add_option("PROBLEM", *text, "The problem, e.g. n2_i5x7_c6_k3x2_o4_same_f32")->required();
  command->footer("Example:\n  wgrad describe n8_i28x28_c32_k3x3_o32_s2x2_same_f32");
  command->callback([text, &exit_code] {
    const Result<Problem> problem = ParseProblem(*text);
    if (!problem.ok()) {
      exit_code = Refuse(problem.error());
    } else {
      Print(Describe(*problem));
    }
  });
}

}  // namespace wgrad::cli
