// `wgrad replay`: a case, or the tests of a vector file, once more.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "cli/checking.h"
#include "cli/commands.h"
#include "cli/corpus.h"
#include "cli/interrupt.h"
#include "cli/judging_options.h"
#include "cli/registry.h"
#include "cli/report_files.h"
#include "cli/tally.h"
#include "cli/terminal.h"
#include "fuzz/finding_file.h"
#include "report/report.h"

namespace wgrad::cli {
namespace {

struct ReplayOptions {
  std::string what;
  std::string candidate;
  double time_limit_seconds = 0;
  std::int64_t memory_limit_mib = 0;
  JudgingWords judging;
  ReportPaths reports;
};

bool IsFile(const std::string& what) { return what.ends_with(".json") || std::filesystem::is_regular_file(what); }

// The tests that are meant, each with its problem. Errors: a text that is no case, a file that is no vector file.
Result<std::vector<vectors::Group>> ReadTests(const std::string& what) {
  if (IsFile(what)) {
    const Result<CorpusFile> file = ReadCorpusFile(what);
    if (!file.ok()) return file.error();
    return file->content.groups;
  }
  const Result<Case> c = ParseCase(what);
  if (!c.ok()) {
    return Error{c.error().code,
                 "\"" + what + "\" is neither a file nor a case (PROBLEM/FILLING/SEED): " + c.error().message};
  }
  return std::vector<vectors::Group>{{c->problem, {{what, "", {}, *c}}}};
}

report::CandidateReport Replay(const OpenedCandidate& candidate, const std::vector<vectors::Group>& groups,
                               const oracle::JudgingChoice& choice) {
  report::CandidateReport report;
  report.greeting = candidate.greeting;
  report.argument = candidate.argument;
  fuzz::Probe probe(
      {candidate.make, choice, !candidate.make_perturbed, std::chrono::steady_clock::time_point::max(), Interrupted});
  for (const vectors::Group& group : groups) {
    for (const vectors::Test& test : group.tests) {
      if (!Interrupted()) report.verdicts.push_back(fuzz::RunTest(group.problem, test, probe));
    }
  }
  Tally(report, KnownFailures());
  return report;
}

ExitCode Run(const ReplayOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CatchInterrupts();
  const Result<oracle::JudgingChoice> choice = ToJudgingChoice(options.judging);
  if (!choice.ok()) return Refuse(choice.error());
  const Result<std::vector<vectors::Group>> tests = ReadTests(options.what);
  if (!tests.ok()) return Refuse(tests.error());
  if (Status status = CheckWritable(options.reports); !status.ok()) return Refuse(status.error());
  const Result<std::vector<OpenedCandidate>> candidates =
      OpenCandidate(options.candidate, {Cores(), options.time_limit_seconds, options.memory_limit_mib});
  if (!candidates.ok()) return Refuse(candidates.error());
  report::CheckReport report = NewReport(options.candidate, 1);
  for (const OpenedCandidate& candidate : *candidates) report.candidates.push_back(Replay(candidate, *tests, *choice));
  const std::vector<oracle::CaseVerdict>& verdicts = report.candidates.front().verdicts;
  if (!verdicts.empty()) report.policy = oracle::Format(verdicts.front().judging.policy);
  report.interrupted = Interrupted();
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  Print(report::ToText(report, {.color = MayColor(STDOUT_FILENO)}));
  if (Status written = WriteReports(options.reports, report); !written.ok()) return Refuse(written.error());
  return ExitCodeOf(report::TotalCounts(report));
}

}  // namespace

void AddReplayCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("replay", "Run a case, or the tests of a file, once more");
  auto options = std::make_shared<ReplayOptions>();
  command->add_option("CASE|FILE", options->what, "PROBLEM/FILLING/SEED, or a file of test vectors (.json)")
      ->required();
  command->add_option("CANDIDATE", options->candidate, "As for `wgrad check`")->required();
  AddJudgingOptions(*command, options->judging);
  command->add_option("--time-limit", options->time_limit_seconds, "Seconds that one call may take, where isolated")
      ->type_name("SECONDS")
      ->check(CLI::PositiveNumber);
  command->add_option("--memory-limit", options->memory_limit_mib, "MiB that a candidate's own process may occupy")
      ->type_name("MIB")
      ->check(CLI::PositiveNumber);
  AddReportOptions(*command, options->reports);
  command->footer(
      "Examples:\n"
      "  wgrad replay n2_i5x7_c6_k3x2_o4_g2_same_f32/int_a/17 openblas\n"
      "  wgrad replay failures/n1_i1x1_c1_k1x2_o1_same_f32_int_a_1.json ./libmine.so");
  command->callback([options, &exit_code] { exit_code = Run(*options); });
}

}  // namespace wgrad::cli
