// Every candidate by name: the only place that knows them all, built-ins and wrong kernels included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/result.h"

namespace wgrad::cli {

/// What a candidate may use. Limits concern those that run in a process of their own.
struct CandidateSettings {
  int threads = 1;                    // of OpenBLAS
  double time_limit_seconds = 0;      // of one call; 0: the default
  std::int64_t memory_limit_mib = 0;  // resident; 0: the default
};

/// One thing that can be judged.
struct OpenedCandidate {
  std::string argument;  // the words that name exactly this one: "onednn:any"
  Greeting greeting;
  CandidateFactory make;
};

/// The candidate behind `argument` (a name, name:variant, mutant:NAME, or the path of a plugin), one entry for each of
/// its variants. Errors: unknown names with the nearest one, plugins that cannot be opened.
Result<std::vector<OpenedCandidate>> OpenCandidate(std::string_view argument, const CandidateSettings& settings);

struct CandidateListing {
  std::string name;
  std::string description;
};
/// All that have a name, wrong kernels last.
std::vector<CandidateListing> ListCandidates();

}  // namespace wgrad::cli
