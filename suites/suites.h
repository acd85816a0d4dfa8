// The suites: named lists of problems, written as text files and embedded in the program when it is built.
// May include: core.
#pragma once

#include <string_view>
#include <vector>

#include "core/problem.h"
#include "core/result.h"

namespace wgrad::suites {

/// One text file of this folder. `description` is its first line, `text` all of it.
struct Suite {
  std::string_view name;
  std::string_view description;
  std::string_view text;
};

/// All suites, smoke first.
const std::vector<Suite>& Suites();

/// The problems of a suite's text in its order: one a line, `#` comments and empty lines skipped. Errors:
/// ParseProblem's of the first bad line, with the suite's name and the line's number before it.
Result<std::vector<Problem>> SuiteProblems(const Suite& suite);

/// The problems of the suite of that name. Errors: kNotFound, and those above.
Result<std::vector<Problem>> SuiteProblems(std::string_view name);

}  // namespace wgrad::suites
