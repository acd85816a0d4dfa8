#include "suites/suites.h"

#include <string>

#include "core/case.h"

namespace wgrad::suites {

Result<std::vector<Problem>> SuiteProblems(const Suite& suite) {
  std::vector<Problem> problems;
  std::string_view rest = suite.text;
  for (int number = 1; !rest.empty(); ++number) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() < rest.size() ? line.size() + 1 : rest.size());
    if (line.empty() || line.front() == '#') continue;
    const Result<Problem> problem = ParseProblem(line);
    if (!problem.ok()) {
      Error error = problem.error();
      error.message = "suite " + std::string(suite.name) + ", line " + std::to_string(number) + ": " + error.message;
      return error;
    }
    problems.push_back(*problem);
  }
  return problems;
}

Result<std::vector<Problem>> SuiteProblems(std::string_view name) {
  for (const Suite& suite : Suites()) {
    if (suite.name == name) return SuiteProblems(suite);
  }
  return Error{ErrorCode::kNotFound, "there is no suite \"" + std::string(name) + "\""};
}

}  // namespace wgrad::suites
