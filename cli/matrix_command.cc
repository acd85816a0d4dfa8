// `wgrad matrix`: every installed candidate over the same cases, as one table.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/checking.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/memory.h"
#include "cli/output_file.h"
#include "cli/selection.h"
#include "cli/tally.h"
#include "cli/terminal.h"

namespace wgrad::cli {
namespace {

struct MatrixOptions {
  std::vector<std::string> candidates;  // none: all that are known
  Selection selection;
  std::string seed = "1";
  int jobs = 0;  // 0: the cores
  std::string html_file;
  std::string json_file;
};

Result<RunRequest> ReadRequest(const MatrixOptions& options) {
  RunRequest request;
  Result<Selected> selected = Select(options.selection);
  if (!selected.ok()) return selected.error();
  request.problems = selected->problems;
  request.calls = selected->calls;
  const Result<std::uint64_t> seed = ParseSeed(options.seed);
  if (!seed.ok()) return seed.error();
  request.seed = *seed;
  request.jobs = options.jobs > 0 ? options.jobs : Cores();
  request.fresh = DefaultFresh(request);
  if (Status status = CheckMemory(request.problems, request.jobs); !status.ok()) return status.error();
  for (const std::string& path : {options.html_file, options.json_file}) {
    if (path.empty()) continue;
    if (Status status = CheckWritable(path); !status.ok()) return status.error();
  }
  return request;
}

// A candidate that cannot be opened is a row that says so: the others are still of interest.
std::vector<OpenedCandidate> OpenOrExplain(const std::string& name) {
  Result<std::vector<OpenedCandidate>> opened = OpenCandidate(name, CandidateSettings());
  if (opened.ok()) return std::move(opened).value();
  OpenedCandidate closed{name, Greeting{.name = name}, nullptr};
  closed.greeting.capabilities.unavailable = opened.error().message;
  return {closed};
}

report::CandidateReport RowWithoutRun(const OpenedCandidate& candidate, const std::string& why) {
  report::CandidateReport row;
  row.greeting = candidate.greeting;
  row.greeting.capabilities.unavailable = why;
  row.argument = candidate.argument;
  return row;
}

// Errors: what broke in wgrad itself.
Status AddRow(const RunRequest& request, const OpenedCandidate& candidate, report::CheckReport& report) {
  Result<std::vector<Task>> tasks = MakeTasks(request, candidate);
  const std::string why = tasks.ok() ? candidate.greeting.capabilities.unavailable : tasks.error().message;
  if (!why.empty()) {
    report.candidates.push_back(RowWithoutRun(candidate, why));
    return Ok();
  }
  PrintNote(candidate.argument);
  CandidateRun run = RunCandidate(request, candidate, std::move(tasks).value());
  report.interrupted = report.interrupted || run.interrupted;
  report.policy = run.policy;
  report.candidates.push_back(std::move(run.report));
  if (!run.internal_error.empty()) return Error{ErrorCode::kUnavailable, run.internal_error};
  return Ok();
}

ExitCode Write(const MatrixOptions& options, const report::CheckReport& report) {
  Print(report::ToMatrixText(report, {.color = MayColor(STDOUT_FILENO)}));
  Status status = Ok();
  if (!options.html_file.empty()) status = WriteWhole(options.html_file, report::ToMatrixHtml(report));
  if (status.ok() && !options.json_file.empty()) status = WriteWhole(options.json_file, report::ToJson(report));
  if (!status.ok()) return Refuse(status.error());
  if (!options.html_file.empty()) Print("\nthe page with every finding: " + options.html_file + "\n");
  const ExitCode code = ExitCodeOf(report::TotalCounts(report));
  return code != ExitCode::kFailed && report.interrupted ? ExitCode::kInterrupted : code;
}

ExitCode Matrix(const MatrixOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CatchInterrupts();
  const Result<RunRequest> request = ReadRequest(options);
  if (!request.ok()) return Refuse(request.error());
  std::vector<std::string> names = options.candidates;
  if (names.empty()) {
    const Result<std::vector<std::string>> all = MatrixCandidates();
    if (!all.ok()) return Refuse(all.error());
    names = *all;
  }
  report::CheckReport report = NewReport("all", request->seed);
  std::string internal_error;
  for (const std::string& name : names) {
    if (const Status status = CheckName(name); !status.ok()) return Refuse(status.error());
  }
  for (const std::string& name : names) {
    if (Interrupted() || !internal_error.empty()) break;
    for (const OpenedCandidate& candidate : OpenOrExplain(name)) {
      if (Interrupted() || !internal_error.empty()) break;
      const Status status = AddRow(*request, candidate, report);
      if (!status.ok()) internal_error = candidate.argument + ": " + status.error().message;
    }
  }
  report.interrupted = report.interrupted || Interrupted();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const ExitCode code = Write(options, report);
  if (internal_error.empty()) return code;
  PrintError("internal failure, the report holds what was found before: " + internal_error);
  return ExitCode::kInternal;
}

}  // namespace

void AddMatrixCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("matrix", "Judge every installed candidate and show one table");
  auto options = std::make_shared<MatrixOptions>();
  command->add_option("CANDIDATE", options->candidates, "These alone; default all (`wgrad list candidates`)");
  command->add_option("--suite", options->selection.suites, "Suites of problems; default smoke")
      ->type_name("NAME[,..]")
      ->delimiter(',')
      ->allow_extra_args(false);
  command->add_option("--dtype", options->selection.dtype, "Every problem in this dtype")->type_name("TAG");
  command->add_option("--seed", options->seed, "Seed of the data; default 1")->type_name("N");
  command->add_option("--jobs", options->jobs, "Problems at a time; default the cores")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  command->add_option("--html", options->html_file, "Write a page that stands alone")->type_name("FILE");
  command->add_option("--json", options->json_file, "Write the report as JSON")->type_name("FILE");
  command->footer("Example:\n  wgrad matrix --suite smoke,traps --html matrix.html");
  command->callback([options, &exit_code] { exit_code = Matrix(*options); });
}

}  // namespace wgrad::cli
