// A campaign: random cases on worker threads until a failure, a count or a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "fuzz/case_source.h"
#include "fuzz/coverage.h"
#include "oracle/examine.h"

namespace wgrad::cli {

struct CampaignPlan {
  CandidateFactory make_candidate;
  oracle::JudgingChoice choice = {};
  fuzz::Space space = {};
  std::uint64_t seed = 1;
  std::int64_t cases = 0;                               // at most; 0: no limit
  std::chrono::steady_clock::time_point deadline = {};  // epoch: none
  int jobs = 1;
  bool deterministic = false;
  std::function<bool(const oracle::CaseVerdict&)> is_failure = {};  // thread-safe
};

/// What a campaign has come to. It goes on from `next`.
struct CampaignState {
  explicit CampaignState(const fuzz::Space& space) : coverage(space) {}

  std::uint64_t next = 0;  // index of the next case
  fuzz::Coverage coverage;
  std::int64_t unsupported = 0;
  std::int64_t blind = 0;
  std::int64_t known = 0;  // failures that are expected
  double seconds = 0;      // of running cases, all threads at once
  std::string internal_error = {};
  bool finished = false;  // count or time reached, or interrupted
};

/// Runs cases until one fails (the first of them by index is returned), or nothing is left to do. Every case before a
/// failing one has been run, so that the first failure of a seed is the same for any number of jobs as long as time
/// does not end the run. `state` is shown on stderr as it grows.
std::optional<oracle::CaseVerdict> RunUntilFailure(const CampaignPlan& plan, CampaignState& state);

}  // namespace wgrad::cli
