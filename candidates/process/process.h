// A child process that speaks frames on its descriptors 3 and 4, and every way in which it can die.
// The child is started by posix_spawn with default signals; what it prints is captured and bounded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "candidates/process/frame.h"
#include "core/result.h"

namespace wgrad::candidates {

/// What a child may use before it is killed.
struct ProcessLimits {
  std::chrono::milliseconds time{10'000};                // from a request to the end of its answer
  std::chrono::milliseconds start_time{30'000};          // from the start to the end of the greeting
  std::int64_t memory_bytes = std::int64_t{4096} << 20;  // resident size
};

/// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor();

  int number() const { return number_; }
  int Release();

 private:
  int number_;
};

/// One running child. Destroying it kills it, with every process of its group.
class Process {
 public:
  /// Starts `command` (a program's path or name, then its arguments). The child reads requests from descriptor 3 and
  /// writes answers to descriptor 4. Errors: kUnavailable, with the system's reason.
  static Result<std::unique_ptr<Process>> Start(const std::vector<std::string>& command);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// Waits for the first frame, the greeting.
  Result<Frame> Greet(const ProcessLimits& limits);
  /// Sends `request` and waits for one frame back, with at most `answer_limits`. The Error (kUnavailable) says how the
  /// child died: "died: SIGSEGV", "died: exit 3", "died: no answer within 10 s", "died: resident memory above 4096
  /// MiB", "died: broken protocol: ..". The child is gone afterwards.
  Result<Frame> Ask(const OutgoingFrame& request, const FrameLimits& answer_limits, const ProcessLimits& limits);
  /// Ends the child because its answer broke the protocol; the Error to report.
  Error BreakOff(const std::string& what);

 private:
  struct Deadline;
  Process() = default;
  Result<Frame> Converse(const OutgoingFrame& request, const FrameLimits& limits, const Deadline& deadline);
  Status Wait(bool sending, const Deadline& deadline);
  Status CheckLimits(const Deadline& deadline);
  bool Send(const OutgoingFrame& request);
  Status Receive(FrameDecoder& decoder);
  void DrainOutput();
  bool Reap();
  Error Died(const std::string& how);
  Error DiedByItself();
  void Kill();

  pid_t pid_ = -1;
  int exit_status_ = 0;
  Descriptor requests_;       // written here, the child's 3
  Descriptor requests_read_;  // the other end, kept open so that writing to a dead child raises no SIGPIPE
  Descriptor answers_;        // the child's 4
  Descriptor output_;         // the child's stdout and stderr
  std::string output_tail_;
  std::size_t sent_ = 0;  // bytes of the request so far
};

}  // namespace wgrad::candidates
