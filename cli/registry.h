// Every candidate by name: the only place that knows them all, built-ins and wrong kernels included.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "candidates/adapter/adapter.h"
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
  /// In a process of its own with this value of MALLOC_PERTURB_ (0: none); empty where it runs in this one.
  std::function<std::unique_ptr<Candidate>(int)> make_perturbed = {};
};

/// The candidate behind `argument` (a name, name:variant, mutant:NAME, right:NAME, cmd:COMMAND, cmd[VARIANT]:COMMAND,
/// or the path of a plugin), one entry for each of its variants. One that is known but not installed covers nothing,
/// and its greeting says what to type. Errors: unknown names with the nearest one, plugins and programs that cannot be
/// opened.
Result<std::vector<OpenedCandidate>> OpenCandidate(std::string_view argument, const CandidateSettings& settings);

struct CandidateListing {
  std::string name;
  std::string description;
};
/// All that have a name, right and wrong kernels last. Errors: an adapter's damaged manifest.
Result<std::vector<CandidateListing>> ListCandidates();

/// Whether `argument` names something, without opening it. Errors: kNotFound with the nearest name.
Status CheckName(std::string_view argument);

/// Those that `wgrad matrix` runs: the built-ins and every adapter, installed or not.
Result<std::vector<std::string>> MatrixCandidates();

/// The ready adapters and where they find what they need.
candidates::AdapterPlaces Places();
Result<std::vector<candidates::Adapter>> Adapters();
/// Errors: kNotFound with the nearest name.
Result<candidates::Adapter> FindAdapter(const std::string& name);

}  // namespace wgrad::cli
