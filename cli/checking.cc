#include "cli/checking.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "cli/hidden_state.h"
#include "cli/interrupt.h"
#include "cli/tally.h"
#include "cli/terminal.h"
#include "core/case.h"

namespace wgrad::cli {
namespace {

bool IsWanted(const RunRequest& request, const std::string& text) {
  const auto matches = [&text](const std::string& pattern) { return fnmatch(pattern.c_str(), text.c_str(), 0) == 0; };
  return request.only.empty() || std::ranges::any_of(request.only, matches);
}

// Evenly spread problems are also run in other processes, under the filling that rounds like real data.
void MarkSample(const OpenedCandidate& candidate, int wanted, std::vector<Task>& tasks) {
  if (!candidate.make_perturbed || wanted == 0) return;
  std::vector<Task*> able;
  for (Task& task : tasks) {
    if (task.problem && !WhyUnsupported(candidate.greeting.capabilities, *task.problem)) able.push_back(&task);
  }
  const auto count = std::min(able.size(), static_cast<std::size_t>(wanted));
  for (std::size_t i = 0; i < count; ++i) {
    Task& task = *able[i * able.size() / count];
    const bool has_normal = std::ranges::count(task.fillings, Filling::kNormal) != 0;
    task.sampled = has_normal ? Filling::kNormal : task.fillings.front();
  }
}

// Right arguments are a problem like any other, judged on integers.
Result<Task> TaskOf(const ArgumentCase& call, const RunRequest& request, const OpenedCandidate& candidate) {
  const Result<Problem> problem = Validate(call.arguments);
  if (!problem.ok()) return Task{.call = call};
  const Result<oracle::Judging> judging = oracle::Resolve(*problem, request.choice, candidate.greeting.declaration);
  if (!judging.ok()) return judging.error();
  return Task{*problem, {Filling::kIntA}, *judging};
}

// `task` with the wanted of its cases; false where none is.
bool Restrict(const RunRequest& request, Task& task) {
  std::erase_if(task.fillings, [&](Filling filling) {
    return !IsWanted(request, Format(Case{*task.problem, filling, request.seed}));
  });
  return !task.fillings.empty();
}

}  // namespace

int Cores() { return static_cast<int>(std::max(1u, std::thread::hardware_concurrency())); }

int DefaultFresh(const RunRequest& request) {
  constexpr std::size_t kOneIn = 8;
  constexpr std::size_t kMost = 6;
  return static_cast<int>(std::min(kMost, request.problems.size() / kOneIn));
}

Result<std::vector<Task>> MakeTasks(const RunRequest& request, const OpenedCandidate& candidate) {
  std::vector<Task> tasks;
  for (const Problem& problem : request.problems) {
    Result<oracle::Judging> judging = oracle::Resolve(problem, request.choice, candidate.greeting.declaration);
    if (!judging.ok()) return judging.error();
    const std::vector<Filling> fillings =
        request.fillings.empty() ? oracle::Battery(problem, {judging->deterministic}) : request.fillings;
    Task task{problem, fillings, *judging};
    if (Restrict(request, task)) tasks.push_back(std::move(task));
  }
  for (const ArgumentCase& call : request.calls) {
    Result<Task> made = TaskOf(call, request, candidate);
    if (!made.ok()) return made.error();
    Task task = std::move(made).value();
    // A right call is a case of its problem, and can be meant by either name.
    const bool named = IsWanted(request, oracle::CaseName(call));
    if (named || (!task.call && Restrict(request, task))) tasks.push_back(std::move(task));
  }
  if (tasks.empty()) return Error{ErrorCode::kNotFound, "no case matches --only"};
  MarkSample(candidate, request.fresh, tasks);
  return tasks;
}

std::vector<std::string> CaseTexts(const std::vector<Task>& tasks, std::uint64_t seed) {
  std::vector<std::string> texts;
  for (const Task& task : tasks) {
    if (task.call) texts.push_back(oracle::CaseName(*task.call));
    for (const Filling filling : task.fillings) texts.push_back(Format(Case{*task.problem, filling, seed}));
  }
  return texts;
}

CandidateRun RunCandidate(const RunRequest& request, const OpenedCandidate& candidate, std::vector<Task> tasks) {
  const auto start = std::chrono::steady_clock::now();
  CandidateRun run;
  const auto cases = static_cast<std::int64_t>(CaseTexts(tasks, request.seed).size());
  run.policy = oracle::Format(tasks.front().judging.policy);
  RunOutcome outcome = RunPlan({std::move(tasks), request.seed, request.jobs, request.fail_fast, candidate.make,
                                [known = request.known](const oracle::CaseVerdict& verdict) {
                                  return IsWrong(verdict.outcome) && !IsKnown(known, verdict);
                                },
                                std::make_shared<Progress>(cases, IsTerminal(STDERR_FILENO))});
  run.interrupted = outcome.interrupted;
  run.internal_error = std::move(outcome.internal_error);
  run.report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CompareProcesses(candidate, outcome.verdicts);
  run.interrupted = run.interrupted || Interrupted();
  run.report.greeting = candidate.greeting;
  run.report.argument = candidate.argument;
  run.report.verdicts = std::move(outcome.verdicts);
  Tally(run.report, request.known);
  return run;
}

report::CheckReport NewReport(const std::string& candidate, std::uint64_t seed) {
  report::CheckReport report;
  report.environment = report::CurrentEnvironment();
  report.program = ProgramName();
  report.command = CommandLine();
  report.candidate = candidate;
  report.seed = seed;
  return report;
}

}  // namespace wgrad::cli
