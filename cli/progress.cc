#include "cli/progress.h"

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

Progress::Progress(std::int64_t total_cases, bool on_terminal)
    : on_terminal_(on_terminal), start_(Clock::now()), last_shown_(start_), total_(total_cases) {}

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
  const auto now = Clock::now();
  if (on_terminal_ ? now - last_shown_ < kTerminalInterval : now - last_shown_ < kPlainInterval) return;
  last_shown_ = now;
  const std::lock_guard lock(mutex_);
  const std::string line = Line(std::chrono::duration<double>(now - start_).count());
  if (on_terminal_) {
    // Back to the start of the line, erase it, write the new one.
    std::fprintf(stderr, "\r\x1b[2K%s", line.c_str());
    std::fflush(stderr);
    line_visible_ = true;
  } else {
    std::fprintf(stderr, "wgrad: %s\n", line.c_str());
  }
}

void Progress::Clear() {
  if (!line_visible_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  line_visible_ = false;
}

}  // namespace wgrad::cli
