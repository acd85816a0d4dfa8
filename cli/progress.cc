#include "cli/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace wgrad::cli {
namespace {

constexpr auto kTerminalInterval = std::chrono::milliseconds(100);
constexpr auto kPlainInterval = std::chrono::seconds(10);

// "950", "12.3k", "4.56M": three digits and the magnitude.
std::string Short(double value) {
  static constexpr const char* kMagnitudes[] = {"", "k", "M", "G", "T"};
  std::size_t magnitude = 0;
  while (value >= 999.5 && magnitude + 1 < std::size(kMagnitudes)) {
    value /= 1000;
    ++magnitude;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.3g%s", value, kMagnitudes[magnitude]);
  return text;
}

std::string Duration(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(seconds));
  char text[64];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lldh%02lldm", whole / 3600, whole / 60 % 60);
  } else if (whole >= 60) {
    std::snprintf(text, sizeof text, "%lldm%02llds", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%llds", whole);
  }
  return text;
}

}  // namespace

ProgressLine::ProgressLine(bool on_terminal)
    : on_terminal_(on_terminal), last_shown_(std::chrono::steady_clock::now()) {}

bool ProgressLine::IsDue() {
  const auto now = std::chrono::steady_clock::now();
  if (on_terminal_ ? now - last_shown_ < kTerminalInterval : now - last_shown_ < kPlainInterval) return false;
  last_shown_ = now;
  return true;
}

void ProgressLine::Show(const std::string& line) {
  if (!on_terminal_) {
    std::fprintf(stderr, "wgrad: %s\n", line.c_str());
    return;
  }
  // Back to the start of the line, erase it, write the new one.
  std::fprintf(stderr, "\r\x1b[2K%s", line.c_str());
  std::fflush(stderr);
  visible_ = true;
}

void ProgressLine::Clear() {
  if (!visible_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  visible_ = false;
}

Progress::Progress(std::int64_t total_cases, bool on_terminal)
    : line_(on_terminal), start_(Clock::now()), total_(total_cases) {}

void Progress::CountCase(std::int64_t elements, bool failed) {
  const std::lock_guard lock(mutex_);
  ++done_;
  elements_ += elements;
  failures_ += failed ? 1 : 0;
}

void Progress::ExpectOneMore() {
  const std::lock_guard lock(mutex_);
  ++total_;
}

std::string Progress::Line(double seconds) const {
  const double done = static_cast<double>(done_);
  std::string line = std::to_string(done_) + "/" + std::to_string(total_) + " cases, " + Short(done / seconds) +
                     " cases/s, " + Short(static_cast<double>(elements_) / seconds) + " elements/s, ";
  if (done_ > 0) line += Duration(static_cast<double>(total_ - done_) * seconds / done) + " left, ";
  return line + std::to_string(failures_) + (failures_ == 1 ? " failure" : " failures");
}

void Progress::Show() {
  if (!line_.IsDue()) return;
  const std::lock_guard lock(mutex_);
  line_.Show(Line(std::chrono::duration<double>(Clock::now() - start_).count()));
}

void Progress::Clear() { line_.Clear(); }

CampaignProgress::CampaignProgress(const Plan& plan, bool on_terminal)
    : plan_(plan), line_(on_terminal), start_(std::chrono::steady_clock::now()) {}

void CampaignProgress::Show(std::int64_t done) {
  if (!line_.IsDue()) return;
  const auto now = std::chrono::steady_clock::now();
  const double seconds = plan_.seconds_before + std::chrono::duration<double>(now - start_).count();
  const std::int64_t total = plan_.done_before + done;
  std::string line = std::to_string(total) + (plan_.cases > 0 ? "/" + std::to_string(plan_.cases) : "") + " cases, " +
                     Short(static_cast<double>(total) / seconds) + " cases/s";
  if (plan_.deadline != std::chrono::steady_clock::time_point()) {
    line += ", " + Duration(std::max(0.0, std::chrono::duration<double>(plan_.deadline - now).count())) + " left";
  }
  line_.Show(line);
}

void CampaignProgress::Clear() { line_.Clear(); }

}  // namespace wgrad::cli
