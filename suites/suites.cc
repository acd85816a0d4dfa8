#include "suites/suites.h"

#include <string>
#include <utility>

#include "core/case.h"
#include "io/json.h"
#include "io/op_arguments_json.h"

namespace wgrad::suites {

namespace {

struct Line {
  int number;
  std::string_view text;
};

// Those that say something: `#` comments and empty lines are skipped.
std::vector<Line> LinesOf(std::string_view text) {
  std::vector<Line> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : text.size());
    if (!line.empty() && line.front() != '#') lines.push_back({number, line});
  }
  return lines;
}

Error At(std::string_view suite, const Line& line, const Error& error) {
  return {error.code, "suite " + std::string(suite) + ", line " + std::to_string(line.number) + ": " + error.message,
          error.rule};
}

Result<ArgumentCase> ParseArgumentCase(std::string_view text) {
  const Result<io::Json> json = io::Parse(text);
  if (!json.ok()) return json.error();
  const auto name = json->GetString("/name");
  if (!name.ok()) return name.error();
  const auto why = json->GetString("/why");
  if (!why.ok()) return why.error();
  const Result<OpArguments> arguments = io::OpArgumentsFromJson(*json);
  if (!arguments.ok()) return arguments.error();
  return ArgumentCase{*name, *why, *arguments};
}

}  // namespace

Result<std::vector<Problem>> SuiteProblems(const Suite& suite) {
  std::vector<Problem> problems;
  for (const Line& line : LinesOf(suite.text)) {
    const Result<Problem> problem = ParseProblem(line.text);
    if (!problem.ok()) return At(suite.name, line, problem.error());
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

Result<std::vector<ArgumentCase>> ArgumentCases(std::string_view text) {
  std::vector<ArgumentCase> cases;
  for (const Line& line : LinesOf(text)) {
    Result<ArgumentCase> one = ParseArgumentCase(line.text);
    if (!one.ok()) return At(kArgumentSuite, line, one.error());
    cases.push_back(std::move(one).value());
  }
  return cases;
}

Result<std::vector<ArgumentCase>> ArgumentCases() {
  for (const Suite& suite : Suites()) {
    if (suite.name == kArgumentSuite) return ArgumentCases(suite.text);
  }
  return Error{ErrorCode::kNotFound, "there is no suite \"" + std::string(kArgumentSuite) + "\""};
}

}  // namespace wgrad::suites
