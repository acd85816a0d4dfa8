// Runs problems and their batteries on worker threads; what comes out does not depend on how many there are.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "core/candidate.h"
#include "core/op_arguments.h"
#include "oracle/examine.h"

namespace wgrad::cli {

/// One problem with everything that its cases depend on, or one call with wrong arguments. Fillings run in order, by
/// one candidate instance.
struct Task {
  std::optional<Problem> problem = std::nullopt;
  std::vector<Filling> fillings = {};
  oracle::Judging judging = {};
  std::optional<Filling> sampled = std::nullopt;  // whose first result the verdict keeps
  std::optional<ArgumentCase> call = std::nullopt;
};

struct Plan {
  std::vector<Task> tasks;
  std::uint64_t seed = 1;
  int jobs = 1;
  bool fail_fast = false;  // stop at the first failing case, in the order of the tasks
  CandidateFactory make_candidate;
  std::function<bool(const oracle::CaseVerdict&)> is_failure;  // called from the workers
  std::shared_ptr<Progress> progress;
};

struct RunOutcome {
  std::vector<oracle::CaseVerdict> verdicts;  // in the order of the tasks and their fillings
  bool interrupted = false;
  std::string internal_error;  // what went wrong in wgrad itself; empty: nothing
};

/// Runs the plan. After an interrupt it waits a moment for cases under way, then leaves them behind.
RunOutcome RunPlan(Plan plan);

}  // namespace wgrad::cli
