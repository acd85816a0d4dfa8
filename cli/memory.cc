#include "cli/memory.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>
#include <vector>

#include "core/case.h"

namespace wgrad::cli {
namespace {

// MemAvailable of the kernel; infinity where it does not say.
double AvailableBytes() {
  std::ifstream info("/proc/meminfo");
  for (std::string key; info >> key;) {
    double kibibytes = 0;
    if (key == "MemAvailable:" && info >> kibibytes) return kibibytes * 1024;
    info.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace

double EstimatedBytes(const Problem& problem) {
  const double size = static_cast<double>(SizeOf(problem.dtype()));
  const double result_size = static_cast<double>(SizeOf(problem.result_dtype()));
  const double operands =
      static_cast<double>(problem.input_count()) + static_cast<double>(problem.out_backprop_count());
  const double results = static_cast<double>(problem.filter_count());
  // Of each operand: the case's, the candidate's, one on the way to it, and the oracle's in double precision.
  const double operand_bytes = operands * (3 * size + 8);
  // Of the result: guarded, as delivered, in HWIO order, and one to compare repeats with.
  const double result_bytes = results * 4 * result_size;
  const double positions_per_image =
      static_cast<double>(problem.rows().output) * static_cast<double>(problem.columns().output);
  const double taps = static_cast<double>(problem.rows().filter) * static_cast<double>(problem.columns().filter);
  const double workspace = positions_per_image * taps * static_cast<double>(problem.input_depth()) * 8;
  return operand_bytes + result_bytes + workspace;
}

std::string FormatBytes(double bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text;
}

Status CheckMemory(std::span<const Problem> problems, int jobs) {
  std::vector<double> needs;
  for (const Problem& problem : problems) needs.push_back(EstimatedBytes(problem));
  const std::size_t together = std::min(needs.size(), static_cast<std::size_t>(jobs));
  std::partial_sort(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(together), needs.end(),
                    std::greater<>());
  needs.resize(together);
  const double needed = std::accumulate(needs.begin(), needs.end(), 0.0);
  const double available = AvailableBytes();
  if (needed <= available) return Ok();
  const auto largest = std::max_element(problems.begin(), problems.end(), [](const Problem& a, const Problem& b) {
    return EstimatedBytes(a) < EstimatedBytes(b);
  });
  const std::string others = together > 1 ? " and " + std::to_string(together - 1) + " more at a time (--jobs)" : "";
  return Error{ErrorCode::kTooLarge, "problem " + Format(*largest) + others + " would need about " +
                                         FormatBytes(needed) + " of memory, but " + FormatBytes(available) +
                                         " are available"};
}

}  // namespace wgrad::cli
