// A candidate that lives in a child process, started when first needed and again after each death.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "candidates/process/messages.h"
#include "candidates/process/process.h"
#include "core/candidate.h"

namespace wgrad::candidates {

/// Deaths in a row before the greeting, and deaths in a row without an answer between, after which a child is not
/// started again.
inline constexpr int kMaxFailedStarts = 3;
inline constexpr int kMaxDeaths = 50;

/// A child that has greeted.
struct StartedProcess {
  std::unique_ptr<Process> process;
  ProcessGreeting greeting;
};

class ProcessCandidate : public Candidate {
 public:
  /// `shared` is what `started` shares with this process; where no child is started yet, it is when first needed.
  ProcessCandidate(Command command, ProcessLimits limits, ProcessGreeting expected, SharedFile shared,
                   std::unique_ptr<Process> started = nullptr);

  const Greeting& greeting() const override { return expected_.greeting; }
  /// kDied with a sentence for every way to die and for every answer that is not the protocol's; the next call starts a
  /// fresh child.
  Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) override;
  Answer TryArguments(const OpArguments& arguments, const Tensor& input, const Tensor& out_backprop) override;

 private:
  Status EnsureRunning();
  Channel channel() {
    const bool shares = expected_.shared_memory && shared_.descriptor() >= 0;
    return {expected_.wire, shares ? &shared_ : nullptr};
  }
  Answer Finished(Result<Answer> answer, const Frame& frame);
  Answer Died(const Error& error);

  Command command_;
  ProcessLimits limits_;
  ProcessGreeting expected_;
  SharedFile shared_;
  std::unique_ptr<Process> process_;
  std::int64_t next_id_ = 1;
  int failed_starts_ = 0;
  int deaths_ = 0;
  std::string last_failure_;
};

/// A candidate behind a command: what it says of itself, and how to have more of it.
struct OpenedProcess {
  std::string variant;  // empty where the command has none
  ProcessGreeting greeting;
  /// The first one made uses the child that was started to hear the greeting.
  CandidateFactory make;
  /// In a new child with this value of glibc's MALLOC_PERTURB_ (0: without).
  std::function<std::unique_ptr<Candidate>(int)> make_perturbed;
};

/// Starts `command` to hear its greeting. Errors: what kept it from greeting (kUnavailable), or a greeting that is none
/// (kBadText).
Result<OpenedProcess> OpenProcess(const Command& command, const ProcessLimits& limits);

/// A command by its variants.
struct OpenedVariants {
  std::vector<std::string> known;
  std::vector<OpenedProcess> opened;  // empty where `variant` is not among the known
};
/// As OpenProcess for each variant that the command greets with (for `variant` alone, where that is not empty), started
/// with the variant's name in WGRAD_VARIANT; one entry where the command has none.
Result<OpenedVariants> OpenVariants(const Command& command, const ProcessLimits& limits, const std::string& variant);

}  // namespace wgrad::candidates
