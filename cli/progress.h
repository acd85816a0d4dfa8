// Progress on stderr: one line that rewrites itself on a terminal, a plain line every ten seconds elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace wgrad::cli {

/// One line that rewrites itself on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool on_terminal);
  /// Whether the next line is due.
  bool IsDue();
  void Show(const std::string& line);
  /// Removes the line from a terminal.
  void Clear();

 private:
  const bool on_terminal_;
  std::chrono::steady_clock::time_point last_shown_;
  bool visible_ = false;
};

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

  ProgressLine line_;
  const Clock::time_point start_;
  std::mutex mutex_;  // guards the counts
  std::int64_t total_;
  std::int64_t done_ = 0;
  std::int64_t elements_ = 0;
  std::int64_t failures_ = 0;
};

/// The same for a campaign, whose end is a count of cases, a time, or neither.
class CampaignProgress {
 public:
  struct Plan {
    std::int64_t cases = 0;                               // 0: no limit
    std::chrono::steady_clock::time_point deadline = {};  // epoch: none
    std::int64_t done_before = 0;                         // in earlier parts of the campaign, which took
    double seconds_before = 0;
  };
  CampaignProgress(const Plan& plan, bool on_terminal);

  /// Shows `done` cases of this part if it is time to. To be called often.
  void Show(std::int64_t done);
  void Clear();

 private:
  const Plan plan_;
  ProgressLine line_;
  const std::chrono::steady_clock::time_point start_;
};

}  // namespace wgrad::cli
