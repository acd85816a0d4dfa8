// From a failing case to the smallest one that still fails, and to a witness of two numbers.
#pragma once

#include <optional>
#include <string>

#include "fuzz/probe.h"
#include "fuzz/shrink_data.h"

namespace wgrad::fuzz {

struct Shrunk {
  Case plainest;                  // the original where nothing plainer failed
  oracle::CaseVerdict verdict;    // of plainest
  FailureRate rate;               // of the original, run again; never(): it went wrong only after other calls
  std::optional<PlainCall> call;  // a single call that fails; absent where it takes several (a relation between runs)
  std::string witness;            // WitnessSentence of `call`; empty without
  double seconds = 0;
  bool out_of_time = false;  // there may be plainer ones
};

/// Shrinks the problem first, to the plainest one that fails with the same kind of outcome, then the data of its first
/// failing run. A case that fails in some runs only is run again as often as its rate asks for.
Shrunk Shrink(const oracle::CaseVerdict& failure, const ProbeOptions& options);

}  // namespace wgrad::fuzz
