// What `check` and `matrix` share: cases made for a candidate, run and tallied.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/known_failures.h"
#include "cli/registry.h"
#include "cli/scheduler.h"
#include "core/op_arguments.h"
#include "oracle/fillings.h"
#include "report/report.h"

namespace wgrad::cli {

/// What is run, whatever the candidate.
struct RunRequest {
  std::vector<Problem> problems;
  std::vector<ArgumentCase> calls;  // of the suite of wrong arguments
  std::vector<Filling> fillings;    // empty: each problem's battery
  std::vector<std::string> only;    // shell patterns over case texts; empty: all cases
  std::uint64_t seed = 1;
  oracle::JudgingChoice choice;
  KnownFailures known;
  int jobs = 1;
  bool fail_fast = false;
  int fresh = 0;  // problems that are also run in fresh processes
};

int Cores();

/// The problems a run of a whole suite also runs in fresh processes, where nobody says how many.
int DefaultFresh(const RunRequest& request);

/// The cases for one candidate. Errors: a class that its declaration names and that does not exist.
Result<std::vector<Task>> MakeTasks(const RunRequest& request, const OpenedCandidate& candidate);
std::vector<std::string> CaseTexts(const std::vector<Task>& tasks, std::uint64_t seed);

struct CandidateRun {
  report::CandidateReport report;
  std::string policy;
  bool interrupted = false;
  std::string internal_error;  // what broke in wgrad itself, or empty
};
CandidateRun RunCandidate(const RunRequest& request, const OpenedCandidate& candidate, std::vector<Task> tasks);

/// The beginning of a report: machine, program, command line.
report::CheckReport NewReport(const std::string& candidate, std::uint64_t seed);

}  // namespace wgrad::cli
