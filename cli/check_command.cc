// `wgrad check`: runs a candidate over problems and fillings, judges every result, reports.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/checking.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/judging_options.h"
#include "cli/memory.h"
#include "cli/report_files.h"
#include "cli/selection.h"
#include "cli/tally.h"
#include "cli/terminal.h"
#include "report/report.h"

namespace wgrad::cli {
namespace {

struct CheckOptions {
  std::string candidate;
  Selection selection;
  JudgingWords judging;
  std::vector<std::string> fillings;
  std::vector<std::string> only;
  std::string seed = "1";
  int jobs = 0;  // 0: the cores
  double time_limit_seconds = 0;
  std::int64_t memory_limit_mib = 0;
  int fresh = -1;  // below 0: by the size of the suites
  bool fail_fast = false;
  bool list = false;
  std::string known_file;
  ReportPaths reports;
};

// The options, read and found to make sense; the candidate is not opened yet.
Result<RunRequest> ReadRequest(const CheckOptions& options) {
  RunRequest request;
  Result<oracle::JudgingChoice> choice = ToJudgingChoice(options.judging);
  if (!choice.ok()) return choice.error();
  request.choice = *choice;
  Result<Selected> selected = Select(options.selection);
  if (!selected.ok()) return selected.error();
  request.problems = selected->problems;
  request.calls = selected->calls;
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
  request.only = options.only;
  const auto tasks = std::clamp<std::size_t>(request.problems.size() + request.calls.size(), 1, 1024);
  request.jobs = std::min(options.jobs > 0 ? options.jobs : Cores(), static_cast<int>(tasks));
  request.fail_fast = options.fail_fast;
  request.fresh = options.fresh < 0 ? DefaultFresh(request) : options.fresh;
  return request;
}

CandidateSettings SettingsFor(const CheckOptions& options, const RunRequest& request) {
  return {std::max(1, Cores() / request.jobs), options.time_limit_seconds, options.memory_limit_mib};
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

void ListCases(const std::vector<Task>& tasks, std::uint64_t seed) {
  std::string text;
  for (const std::string& case_text : CaseTexts(tasks, seed)) text += case_text + "\n";
  Print(text);
}

// Runs the candidates one after the other, as far as nothing stops it.
std::string RunAll(const RunRequest& request, const std::vector<OpenedCandidate>& candidates,
                   std::vector<std::vector<Task>> tasks, report::CheckReport& report) {
  for (std::size_t which = 0; which < candidates.size(); ++which) {
    CandidateRun run = RunCandidate(request, candidates[which], std::move(tasks[which]));
    report.policy = run.policy;
    report.interrupted = report.interrupted || run.interrupted;
    report.candidates.push_back(std::move(run.report));
    if (!run.internal_error.empty()) return run.internal_error;
    const bool stop = request.fail_fast && ExitCodeOf(report::TotalCounts(report)) == ExitCode::kFailed;
    if (stop || Interrupted()) break;
  }
  return "";
}

ExitCode Check(const CheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CatchInterrupts();
  const Result<RunRequest> request = ReadRequest(options);
  if (!request.ok()) return Refuse(request.error());
  const Result<std::vector<OpenedCandidate>> candidates =
      OpenCandidate(options.candidate, SettingsFor(options, *request));
  if (!candidates.ok()) return Refuse(candidates.error());
  std::vector<std::vector<Task>> tasks;
  for (const OpenedCandidate& candidate : *candidates) {
    Result<std::vector<Task>> made = MakeTasks(*request, candidate);
    if (!made.ok()) return Refuse(made.error());
    tasks.push_back(std::move(made).value());
  }
  if (options.list) {
    ListCases(tasks.front(), request->seed);
    return ExitCode::kPass;
  }
  if (Status status = CheckMemory(request->problems, request->jobs); !status.ok()) return Refuse(status.error());
  report::CheckReport report = NewReport(options.candidate, request->seed);
  const std::string internal_error = RunAll(*request, *candidates, std::move(tasks), report);
  report.interrupted = report.interrupted || Interrupted();
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
  command.add_option("--only", options.only, "Cases whose text matches this shell pattern alone; may be repeated")
      ->type_name("PATTERN")
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
  command
      .add_option("--fresh", options.fresh,
                  "Problems that a candidate with a process of its own is also given in fresh processes, and under "
                  "two values of MALLOC_PERTURB_; default one in eight, at most 6")
      ->type_name("N")
      ->check(CLI::Range(0, 1000))
      ->group(group);
  command.add_flag("--fail-fast", options.fail_fast, "Stop at the first failing case")->group(group);
}

}  // namespace

void AddCheckCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("check", "Judge an implementation");
  auto options = std::make_shared<CheckOptions>();
  command
      ->add_option("CANDIDATE", options->candidate,
                   "A name (`wgrad list candidates`), name:variant, the path of a plugin (.so), or cmd:COMMAND")
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
      "  wgrad check 'cmd:python3 mine.py' --problem n2_i5x7_c6_k3x2_o4_same_f32\n"
      "  wgrad check tensorflow:xla --suite tf,arguments\n"
      "  wgrad check mutant:dilation_ignored --problem n3_i9x8_c6_k3x4_o10_d2x1_same_f32");
  command->callback([options, &exit_code] { exit_code = Check(*options); });
}

}  // namespace wgrad::cli
