// `wgrad check`: runs a candidate over problems and fillings, judges every result, reports.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/judging_options.h"
#include "cli/known_failures.h"
#include "cli/memory.h"
#include "cli/registry.h"
#include "cli/report_files.h"
#include "cli/scheduler.h"
#include "cli/selection.h"
#include "cli/tally.h"
#include "cli/terminal.h"
#include "oracle/fillings.h"
#include "report/report.h"

namespace wgrad::cli {
namespace {

struct CheckOptions {
  std::string candidate;
  Selection selection;
  JudgingWords judging;
  std::vector<std::string> fillings;
  std::string seed = "1";
  int jobs = 0;  // 0: the cores
  double time_limit_seconds = 0;
  std::int64_t memory_limit_mib = 0;
  bool fail_fast = false;
  bool list = false;
  std::string known_file;
  ReportPaths reports;
};

// The options, read and found to make sense.
struct CheckRequest {
  oracle::JudgingChoice choice;
  std::vector<Problem> problems;
  std::vector<Filling> fillings;
  std::uint64_t seed = 1;
  KnownFailures known;
  int jobs = 1;
  std::vector<OpenedCandidate> candidates;
};

int Cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

Result<CheckRequest> Prepare(const CheckOptions& options) {
  CheckRequest request;
  Result<oracle::JudgingChoice> choice = ToJudgingChoice(options.judging);
  if (!choice.ok()) return choice.error();
  request.choice = *choice;
  Result<std::vector<Problem>> problems = SelectProblems(options.selection);
  if (!problems.ok()) return problems.error();
  request.problems = *problems;
  Result<std::vector<Filling>> fillings = ParseFillings(options.fillings);
  if (!fillings.ok()) return fillings.error();
  request.fillings = *fillings;
  const Result<std::uint64_t> seed = ParseSeed(options.seed);
  if (!seed.ok()) return seed.error();
  request.seed = *seed;
  if (!options.known_file.empty()) {
    Result<KnownFailures> known = KnownFailures::Read(options.known_file);
    if (!known.ok()) return known.error();
    request.known = *known;
  }
  if (Status status = CheckWritable(options.reports); !status.ok()) return status.error();
  const auto tasks = static_cast<int>(std::clamp<std::size_t>(request.problems.size(), 1, 1024));
  request.jobs = std::min(options.jobs > 0 ? options.jobs : Cores(), tasks);
  const CandidateSettings settings{std::max(1, Cores() / request.jobs), options.time_limit_seconds,
                                   options.memory_limit_mib};
  Result<std::vector<OpenedCandidate>> candidates = OpenCandidate(options.candidate, settings);
  if (!candidates.ok()) return candidates.error();
  request.candidates = *candidates;
  if (!options.list) {
    if (Status status = CheckMemory(request.problems, request.jobs); !status.ok()) return status.error();
  }
  return request;
}

Result<std::vector<Task>> MakeTasks(const CheckRequest& request, const OpenedCandidate& candidate) {
  std::vector<Task> tasks;
  for (const Problem& problem : request.problems) {
    Result<oracle::Judging> judging = oracle::Resolve(problem, request.choice, candidate.greeting.declaration);
    if (!judging.ok()) return judging.error();
    const std::vector<Filling> fillings =
        request.fillings.empty() ? oracle::Battery(problem, {judging->deterministic}) : request.fillings;
    tasks.push_back({problem, fillings, *judging});
  }
  return tasks;
}

std::int64_t CaseCount(const std::vector<Task>& tasks) {
  std::int64_t count = 0;
  for (const Task& task : tasks) count += static_cast<std::int64_t>(task.fillings.size());
  return count;
}

void ListCases(const std::vector<Task>& tasks, std::uint64_t seed) {
  std::string text;
  for (const Task& task : tasks) {
    for (const Filling filling : task.fillings) text += Format(Case{task.problem, filling, seed}) + "\n";
  }
  Print(text);
}

// Runs one candidate and adds it to `report`. Returns what broke in wgrad itself, or nothing.
std::string RunCandidate(const CheckOptions& options, const CheckRequest& request, std::size_t which,
                         std::vector<Task> tasks, report::CheckReport& report) {
  const OpenedCandidate& candidate = request.candidates[which];
  const auto progress = std::make_shared<Progress>(CaseCount(tasks), IsTerminal(STDERR_FILENO));
  const std::string policy = tasks.empty() ? "" : oracle::Format(tasks.front().judging.policy);
  RunOutcome outcome = RunPlan({std::move(tasks), request.seed, request.jobs, options.fail_fast, candidate.make,
                                [known = request.known](const oracle::CaseVerdict& verdict) {
                                  return IsWrong(verdict) && !IsKnown(known, verdict);
                                },
                                progress});
  report.policy = policy;
  report.interrupted = report.interrupted || outcome.interrupted;
  report::CandidateReport entry;
  entry.greeting = candidate.greeting;
  entry.argument = candidate.argument;
  entry.verdicts = std::move(outcome.verdicts);
  Tally(entry, request.known);
  report.candidates.push_back(std::move(entry));
  return outcome.internal_error;
}

ExitCode Finish(const CheckOptions& options, const report::CheckReport& report, const std::string& internal_error) {
  Print(report::ToText(report, {.color = MayColor(STDOUT_FILENO)}));
  const Status written = WriteReports(options.reports, report);
  if (!written.ok()) PrintError(written.error().message);
  if (!internal_error.empty()) {
    PrintError("internal failure, the report holds what was found before: " + internal_error);
    return ExitCode::kInternal;
  }
  if (!written.ok()) return ExitCode::kUsage;
  const ExitCode code = ExitCodeOf(report::TotalCounts(report));
  return code != ExitCode::kFailed && report.interrupted ? ExitCode::kInterrupted : code;
}

ExitCode Check(const CheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CatchInterrupts();
  const Result<CheckRequest> prepared = Prepare(options);
  if (!prepared.ok()) return Refuse(prepared.error());
  const CheckRequest& request = *prepared;
  std::vector<std::vector<Task>> tasks;
  for (const OpenedCandidate& candidate : request.candidates) {
    Result<std::vector<Task>> made = MakeTasks(request, candidate);
    if (!made.ok()) return Refuse(made.error());
    tasks.push_back(*made);
  }
  if (options.list) {
    ListCases(tasks.front(), request.seed);
    return ExitCode::kPass;
  }

  report::CheckReport report;
  report.environment = report::CurrentEnvironment();
  if (const char* const program = std::getenv("WGRAD_PROGRAM"); program != nullptr) report.program = program;
  report.command = CommandLine();
  report.candidate = options.candidate;
  report.seed = request.seed;
  std::string internal_error;
  for (std::size_t which = 0; which < tasks.size(); ++which) {
    internal_error = RunCandidate(options, request, which, std::move(tasks[which]), report);
    const bool stop = options.fail_fast && ExitCodeOf(report::TotalCounts(report)) == ExitCode::kFailed;
    if (stop || Interrupted() || !internal_error.empty()) break;
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return Finish(options, report, internal_error);
}

void AddSelectionOptions(CLI::App& command, CheckOptions& options) {
  const std::string group = "What is run";
  command.add_option("--suite", options.selection.suites, "Suites of problems (`wgrad list suites`); default smoke")
      ->type_name("NAME[,..]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--problem", options.selection.problems, "A problem instead of the default suite; may be repeated")
      ->type_name("PROBLEM")
      ->allow_extra_args(false)
      ->group(group);
  command
      .add_option("--dtype", options.selection.dtype,
                  "Every problem in this dtype: f16, bf16, f32, f64, f16_f32, bf16_f32")
      ->type_name("TAG")
      ->group(group);
  command.add_option("--batch", options.selection.batch, "Every batch times this")
      ->type_name("N")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--filling", options.fillings, "These fillings instead of the battery (`wgrad list fillings`)")
      ->type_name("NAME[,..]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command.add_option("--seed", options.seed, "Seed of the data; default 1")->type_name("N")->group(group);
  command.add_flag("--list", options.list, "Print the cases, run nothing")->group(group);
}

void AddRunningOptions(CLI::App& command, CheckOptions& options) {
  const std::string group = "How it is run";
  command.add_option("--jobs", options.jobs, "Problems at a time; default the cores")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->group(group);
  command
      .add_option("--time-limit", options.time_limit_seconds,
                  "Seconds that one call of a candidate in its own process may take")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_option("--memory-limit", options.memory_limit_mib, "MiB that a candidate's own process may occupy")
      ->type_name("MIB")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command.add_flag("--fail-fast", options.fail_fast, "Stop at the first failing case")->group(group);
}

}  // namespace

void AddCheckCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("check", "Judge an implementation");
  auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("CANDIDATE", options->candidate,
                   "A name (`wgrad list candidates`), name:variant, or the path of a plugin (.so)")
      ->required();
  AddSelectionOptions(*command, *options);
  AddJudgingOptions(*command, options->judging);
  AddRunningOptions(*command, *options);
  AddReportOptions(*command, options->reports);
  command
      ->add_option("--known", options->known_file,
                   "File of failures that are expected, one shell pattern over case texts a line, # for comments")
      ->type_name("FILE")
      ->group("Report");
  command->footer(
      "Examples:\n"
      "  wgrad check openblas\n"
      "  wgrad check ./libmine.so --suite smoke,traps --class f16=wide_hw --json report.json\n"
      "  wgrad check mutant:dilation_ignored --problem n3_i9x8_c6_k3x4_o10_d2x1_same_f32");
  command->callback([options, &exit_code] { exit_code = Check(*options); });
}

}  // namespace wgrad::cli
