// `wgrad run`: computes one result with a candidate and stores it.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/output_file.h"
#include "cli/problem_options.h"
#include "cli/registry.h"
#include "cli/tensor_files.h"
#include "cli/terminal.h"
#include "core/case.h"

namespace wgrad::cli {
namespace {

struct RunOptions {
  std::string candidate;
  std::string problem;
  std::string input;
  std::string out_backprop;
  std::string output;
  double time_limit_seconds = 0;
  std::int64_t memory_limit_mib = 0;
};

struct RunRequest {
  Problem problem;
  Tensor input;
  Tensor out_backprop;
  OpenedCandidate candidate;
};

Result<OpenedCandidate> OpenOne(const RunOptions& options) {
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  Result<std::vector<OpenedCandidate>> opened =
      OpenCandidate(options.candidate, {cores, options.time_limit_seconds, options.memory_limit_mib});
  if (!opened.ok()) return opened.error();
  return opened->front();
}

Result<RunRequest> Prepare(const RunOptions& options) {
  const Result<Problem> problem = ParseProblem(options.problem);
  if (!problem.ok()) return problem.error();
  if (Status status = CheckMemory(std::span(&*problem, 1), 1); !status.ok()) return status.error();
  if (Status status = CheckWritable(options.output); !status.ok()) return status.error();
  const Result<Tensor> input = ReadTensor(options.input, problem->dtype());
  if (!input.ok()) return input.error();
  const Result<Tensor> out_backprop = ReadTensor(options.out_backprop, problem->dtype());
  if (!out_backprop.ok()) return out_backprop.error();
  Status status = CheckTensor(*problem, "input", *input, problem->dtype(), problem->input_shape());
  if (!status.ok()) return status.error();
  status = CheckTensor(*problem, "out_backprop", *out_backprop, problem->dtype(), problem->out_backprop_shape());
  if (!status.ok()) return status.error();
  Result<OpenedCandidate> candidate = OpenOne(options);
  if (!candidate.ok()) return candidate.error();
  return RunRequest{*problem, *input, *out_backprop, *candidate};
}

// A refusal or a death is the candidate's failure; not to be able is nothing compared.
ExitCode CodeOf(AnswerKind kind) {
  if (kind == AnswerKind::kResult) return ExitCode::kPass;
  return kind == AnswerKind::kUnsupported ? ExitCode::kNothingCompared : ExitCode::kFailed;
}

ExitCode Run(const RunOptions& options) {
  const Result<RunRequest> request = Prepare(options);
  if (!request.ok()) return Refuse(request.error());
  const Greeting& greeting = request->candidate.greeting;
  if (const auto reason = WhyUnsupported(greeting.capabilities, request->problem)) {
    PrintError(request->candidate.argument + " does not support " + *reason);
    return ExitCode::kNothingCompared;
  }
  static constexpr const char* kWhat[] = {"",
                                          " does not support this: ", " rejected the call: ", " failed: ", " died: "};
  const Answer answer =
      request->candidate.make()->FilterGradient(request->problem, request->input, request->out_backprop);
  if (answer.kind != AnswerKind::kResult) {
    PrintError(request->candidate.argument + kWhat[static_cast<int>(answer.kind)] + answer.message);
    return CodeOf(answer.kind);
  }
  if (Status status = WriteTensor(options.output, answer.result); !status.ok()) return Refuse(status.error());
  return ExitCode::kPass;
}

}  // namespace

void AddRunCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("run", "Compute one result with a candidate");
  auto options = std::make_shared<RunOptions>();
  command->add_option("CANDIDATE", options->candidate, "A name, name:variant, or the path of a plugin (.so)")
      ->required();
  command->add_option("--problem", options->problem, "The problem's text")->type_name("PROBLEM")->required();
  AddTensorOption(*command, "--input", options->input, "The input, in the data format's order");
  AddTensorOption(*command, "--out-backprop", options->out_backprop, "The gradient of the output");
  AddTensorOption(*command, "--output", options->output, "Where the result goes, in HWIO order");
  command->add_option("--time-limit", options->time_limit_seconds, "Seconds for a candidate in its own process")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  command->add_option("--memory-limit", options->memory_limit_mib, "MiB for a candidate in its own process")
      ->type_name("MIB")
      ->check(CLI::PositiveNumber);
  command->footer(
      "Example:\n"
      "  wgrad run openblas --problem n2_i5x7_c6_k3x2_o4_same_f32 --input x.npy --out-backprop dy.npy "
      "--output dw.npy");
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace wgrad::cli
