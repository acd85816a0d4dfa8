// A child process that speaks frames on its descriptors 3 and 4, and every way in which it can die.
// The child is started by posix_spawn with default signals; what it prints is captured and bounded.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "candidates/process/descriptor.h"
#include "candidates/process/frame.h"
#include "candidates/process/shared_file.h"
#include "core/result.h"

namespace wgrad::candidates {

/// What a child may use before it is killed.
struct ProcessLimits {
  std::chrono::milliseconds time{10'000};                // from a request to the end of its answer
  std::chrono::milliseconds start_time{30'000};          // from the start to the end of the greeting
  std::int64_t memory_bytes = std::int64_t{4096} << 20;  // resident size
};

/// What is started.
struct Command {
  std::vector<std::string> words;                       // a program's path or name, then its arguments
  std::map<std::string, std::string> environment = {};  // set beside what this process has

  /// The same with one more variable.
  Command With(const std::string& variable, const std::string& value) const;
};

/// One running child. Destroying it kills it, with every process of its group.
class Process {
 public:
  /// Starts `command`. The child reads requests from descriptor 3, writes answers to descriptor 4 and finds `shared` as
  /// descriptor 5. Errors: kUnavailable, with the system's reason.
  static Result<std::unique_ptr<Process>> Start(const Command& command, const SharedFile& shared);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();

  /// Whether it still runs, as far as can be told.
  bool alive() { return !Reap(); }
  /// Waits for the first frame, or the first line, the greeting.
  Result<Frame> Greet(const ProcessLimits& limits);
  /// Sends `request` and waits until `answer` is complete. The Error (kUnavailable) says how the
  /// child died: "died: SIGSEGV", "died: exit 3", "died: no answer within 10 s", "died: resident memory above 4096
  /// MiB", "died: broken protocol: ..". The child is gone afterwards.
  Result<Frame> Ask(const OutgoingFrame& request, FrameDecoder answer, const ProcessLimits& limits);
  /// Ends the child because its answer broke the protocol; the Error to report.
  Error BreakOff(const std::string& what);

 private:
  struct Deadline;
  Process() = default;
  Result<Frame> Converse(const OutgoingFrame& request, FrameDecoder& decoder, const Deadline& deadline);
  Status Wait(bool sending, const Deadline& deadline);
  Status CheckLimits(const Deadline& deadline, const FrameDecoder& decoder);
  bool Send(const OutgoingFrame& request);
  Status Receive(FrameDecoder& decoder);
  void DrainOutput();
  bool Reap();
  Error Died(const std::string& how);
  Error DiedByItself(const FrameDecoder& decoder);
  void Kill();

  pid_t pid_ = -1;
  int exit_status_ = 0;
  Descriptor requests_;       // written here, the child's 3
  Descriptor requests_read_;  // the other end, kept open so that writing to a dead child raises no SIGPIPE
  Descriptor answers_;        // the child's 4
  Descriptor output_;         // the child's stdout and stderr
  std::string output_head_;   // of what it printed since the conversation began
  std::string output_tail_;
  std::size_t sent_ = 0;  // bytes of the request so far
};

}  // namespace wgrad::candidates
