// The suites: named lists of problems, written as text files and embedded in the program when it is built; and the one
// of calls with wrong arguments. May include: core, io.
#pragma once

#include <string_view>
#include <vector>

#include "core/op_arguments.h"
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

/// The name of the suite that has no problems but calls, as JSON lines: {"name", "why", and the arguments with
/// TensorFlow's names; "rule" where one is broken}.
inline constexpr std::string_view kArgumentSuite = "arguments";
/// The calls of that suite's text. Errors: kBadText with the line's number.
Result<std::vector<ArgumentCase>> ArgumentCases(std::string_view text);
/// Of the suite as built in.
Result<std::vector<ArgumentCase>> ArgumentCases();

}  // namespace wgrad::suites
