// `wgrad judge`: judges one result that was computed elsewhere.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "cli/commands.h"
#include "cli/judging_options.h"
#include "cli/memory.h"
#include "cli/problem_options.h"
#include "cli/report_files.h"
#include "cli/tally.h"
#include "cli/tensor_files.h"
#include "cli/terminal.h"
#include "oracle/examine.h"
#include "report/report.h"

namespace wgrad::cli {
namespace {

struct JudgeOptions {
  ProblemWords problem;
  JudgingWords judging;
  std::string input;
  std::string out_backprop;
  std::string actual;
  std::string layout = "hwio";
  ReportPaths reports;
};

struct JudgeRequest {
  Problem problem;
  oracle::Judging judging;
  Tensor input;
  Tensor out_backprop;
  Tensor actual;  // HWIO
};

Status CheckShapes(const Problem& problem, const GivenTensors& tensors) {
  if (Status status = CheckTensor(problem, "input", tensors.input, problem.dtype(), problem.input_shape());
      !status.ok())
    return status;
  if (Status status =
          CheckTensor(problem, "out_backprop", tensors.out_backprop, problem.dtype(), problem.out_backprop_shape());
      !status.ok())
    return status;
  return CheckTensor(problem, "the actual result", tensors.actual, problem.result_dtype(),
                     ResultShape(problem, tensors.actual_layout));
}

Result<JudgeRequest> Prepare(const JudgeOptions& options) {
  const Result<oracle::JudgingChoice> choice = ToJudgingChoice(options.judging);
  if (!choice.ok()) return choice.error();
  const auto layout = ResultLayoutFromName(options.layout);
  if (!layout) {
    return Error{ErrorCode::kBadText, "--actual-layout is hwio, oihw or ohwi, got \"" + options.layout + "\""};
  }
  if (Status status = CheckWritable(options.reports); !status.ok()) return status.error();
  const Result<WantedDTypes> wanted = ReadWantedDTypes(options.problem.problem, options.problem.dtype);
  if (!wanted.ok()) return wanted.error();
  const Result<Tensor> input = ReadTensor(options.input, wanted->operands);
  if (!input.ok()) return input.error();
  const Result<Tensor> out_backprop = ReadTensor(options.out_backprop, wanted->operands);
  if (!out_backprop.ok()) return out_backprop.error();
  const Result<Tensor> actual = ReadTensor(options.actual, wanted->result);
  if (!actual.ok()) return actual.error();

  const GivenTensors tensors{*input, *out_backprop, *actual, *layout};
  const Result<Problem> problem = FindProblem(options.problem, tensors);
  if (!problem.ok()) return problem.error();
  if (Status status = CheckShapes(*problem, tensors); !status.ok()) return status.error();
  if (Status status = CheckMemory(std::span(&*problem, 1), 1); !status.ok()) return status.error();
  const Result<oracle::Judging> judging = oracle::Resolve(*problem, *choice, Declaration());
  if (!judging.ok()) return judging.error();
  return JudgeRequest{*problem, *judging, *input, *out_backprop, ToHwio(*problem, *layout, *actual)};
}

ExitCode Judge(const JudgeOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const Result<JudgeRequest> request = Prepare(options);
  if (!request.ok()) return Refuse(request.error());

  report::CandidateReport candidate;
  candidate.argument = options.actual;
  candidate.greeting.name = options.actual;
  candidate.verdicts.push_back(
      oracle::JudgeResult(request->problem, request->input, request->out_backprop, request->actual, request->judging));
  Tally(candidate, KnownFailures());
  report::CheckReport report;
  report.environment = report::CurrentEnvironment();
  report.command = CommandLine();
  report.candidate = options.actual;
  report.policy = oracle::Format(request->judging.policy);
  report.candidates.push_back(std::move(candidate));
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  Print(report::ToText(report.candidates.front().verdicts.front(), "", {.color = MayColor(STDOUT_FILENO)}));
  if (const Status written = WriteReports(options.reports, report); !written.ok()) return Refuse(written.error());
  return ExitCodeOf(report::TotalCounts(report));
}

}  // namespace

void AddJudgeCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("judge", "Judge a result that was computed elsewhere");
  auto options = std::make_shared<JudgeOptions>();
  AddProblemOptions(*command, options->problem);
  command->add_option("--dtype", options->problem.dtype, "f16, bf16, f32, f64, f16_f32, bf16_f32; default: the files'")
      ->type_name("TAG")
      ->group("Which problem");
  AddTensorOption(*command, "--input", options->input, "The input, in the data format's order");
  AddTensorOption(*command, "--out-backprop", options->out_backprop, "The gradient of the output");
  AddTensorOption(*command, "--actual", options->actual, "The result to judge");
  command->add_option("--actual-layout", options->layout, "Its order of axes: hwio (default), oihw, ohwi")
      ->type_name("WORD")
      ->group("Tensors");
  AddJudgingOptions(*command, options->judging);
  AddReportOptions(*command, options->reports);
  command->footer(
      "Examples:\n"
      "  wgrad judge --problem n2_i5x7_c6_k3x2_o4_same_f32 --input x.npy --out-backprop dy.npy --actual dw.npy\n"
      "  wgrad judge --strides 2,2 --padding same --input x.npy --out-backprop dy.npy --actual dw.npy "
      "--class f32=input:tf32");
  command->callback([options, &exit_code] { exit_code = Judge(*options); });
}

}  // namespace wgrad::cli
