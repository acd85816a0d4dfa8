// Progress on stderr: one line that rewrites itself on a terminal, a plain line every ten seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace wgrad::cli {

/// Counted by the workers, shown by the main thread.
class Progress {
 public:
  Progress(std::int64_t total_cases, bool on_terminal);

  /// Thread-safe.
  void CountCase(std::int64_t elements, bool failed);
  /// A case more than was planned (the one that names the elements read after a failure). Thread-safe.
  void ExpectOneMore();

  /// Shows the state if it is time to. To be called often.
  void Show();
  /// Removes the line from a terminal.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string Line(double seconds) const;

  const bool on_terminal_;
  const Clock::time_point start_;
  Clock::time_point last_shown_;
  bool line_visible_ = false;
  std::mutex mutex_;  // guards the counts
  std::int64_t total_;
  std::int64_t done_ = 0;
  std::int64_t elements_ = 0;
  std::int64_t failures_ = 0;
};

}  // namespace wgrad::cli
