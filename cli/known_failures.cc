#include "cli/known_failures.h"

#include <fnmatch.h>

#include <sstream>

#include "cli/output_file.h"

namespace wgrad::cli {

Result<KnownFailures> KnownFailures::Read(const std::string& path) {
  constexpr std::size_t kLimit = std::size_t{1} << 24;
  Result<std::string> text = ReadWhole(path, kLimit);
  if (!text.ok()) return text.error();
  return Parse(*text);
}

KnownFailures KnownFailures::Parse(std::string_view text) {
  KnownFailures known;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    line.resize(std::min(line.size(), line.find('#')));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string::npos) continue;
    known.patterns_.push_back(line.substr(first, line.find_last_not_of(" \t\r") + 1 - first));
  }
  return known;
}

std::vector<std::size_t> KnownFailures::Matches(const std::string& case_text) const {
  std::vector<std::size_t> matches;
  for (std::size_t at = 0; at < patterns_.size(); ++at) {
    // No FNM_PATHNAME: a star reaches over the slashes of a case.
    if (fnmatch(patterns_[at].c_str(), case_text.c_str(), 0) == 0) matches.push_back(at);
  }
  return matches;
}

}  // namespace wgrad::cli
