// --known FILE: failures that are expected, by case pattern, so that a CI run reports only new ones.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace wgrad::cli {

/// One line a pattern: a shell glob over the case's text; `#` starts a comment.
class KnownFailures {
 public:
  KnownFailures() = default;  // nothing is known
  /// Errors: those of reading the file.
  static Result<KnownFailures> Read(const std::string& path);
  static KnownFailures Parse(std::string_view text);

  const std::vector<std::string>& patterns() const { return patterns_; }
  /// Indices of the patterns that cover the case.
  std::vector<std::size_t> Matches(const std::string& case_text) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace wgrad::cli
