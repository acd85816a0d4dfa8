// A candidate that lives in a child process, started when first needed and again after each death.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "candidates/process/messages.h"
#include "candidates/process/process.h"
#include "core/candidate.h"

namespace wgrad::candidates {

/// Deaths in a row before the greeting after which a child is not started again.
inline constexpr int kMaxFailedStarts = 3;

class ProcessCandidate : public Candidate {
 public:
  /// `expected` is what the same command said when it was opened; each new child must greet again.
  ProcessCandidate(std::vector<std::string> command, ProcessLimits limits, ProcessGreeting expected);

  const Greeting& greeting() const override { return expected_.greeting; }
  /// kDied with a sentence for every way to die and for every answer that is not the protocol's; the next call starts a
  /// fresh child.
  Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) override;

 private:
  Status EnsureRunning();
  Answer Died(const Error& error);

  std::vector<std::string> command_;
  ProcessLimits limits_;
  ProcessGreeting expected_;
  std::unique_ptr<Process> process_;
  std::int64_t next_id_ = 1;
  int failed_starts_ = 0;
  std::string last_failure_;
};

/// Starts `command` once to hear its greeting. Errors: what kept it from greeting (kUnavailable), or a greeting that is
/// none (kBadText).
Result<ProcessGreeting> OpenProcess(const std::vector<std::string>& command, const ProcessLimits& limits);

}  // namespace wgrad::candidates
