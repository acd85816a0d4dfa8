#include "cli/selection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>

#include "cli/suggest.h"
#include "suites/suites.h"

namespace wgrad::cli {
namespace {

Result<std::vector<Problem>> ProblemsOfSuite(const std::string& name) {
  std::vector<std::string> names;
  for (const suites::Suite& suite : suites::Suites()) {
    names.emplace_back(suite.name);
    if (suite.name == name) return suites::SuiteProblems(name);
  }
  return UnknownName("suite", name, names);
}

// Before dtype and batch are changed.
Result<std::vector<Problem>> NamedProblems(const Selection& selection) {
  std::vector<std::string> suites = selection.suites;
  if (suites.empty() && selection.problems.empty()) suites = {"smoke"};
  std::vector<Problem> problems;
  for (const std::string& suite : suites) {
    if (suite == suites::kArgumentSuite) continue;
    const Result<std::vector<Problem>> of_suite = ProblemsOfSuite(suite);
    if (!of_suite.ok()) return of_suite.error();
    problems.insert(problems.end(), of_suite->begin(), of_suite->end());
  }
  for (const std::string& text : selection.problems) {
    Result<Problem> problem = ParseProblem(text);
    if (!problem.ok()) return problem.error();
    problems.push_back(*problem);
  }
  return problems;
}

}  // namespace

Result<DTypePair> ParseDTypeTag(std::string_view tag) {
  if (const auto dtypes = DTypePairFromTag(tag)) return *dtypes;
  static const std::array<std::string, 6> kTags = {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"};
  return UnknownName("dtype", tag, kTags);
}

Result<Selected> Select(const Selection& selection) {
  Result<std::vector<Problem>> named = NamedProblems(selection);
  if (!named.ok()) return named.error();
  std::optional<DTypePair> dtypes;
  if (!selection.dtype.empty()) {
    const Result<DTypePair> parsed = ParseDTypeTag(selection.dtype);
    if (!parsed.ok()) return parsed.error();
    dtypes = *parsed;
  }
  Selected selected;
  std::set<std::string> seen;
  for (const Problem& problem : *named) {
    Result<Problem> scaled = WithBatchTimes(problem, selection.batch);
    if (!scaled.ok()) return scaled.error();
    const Problem chosen = dtypes ? WithDType(*scaled, dtypes->dtype, dtypes->result_dtype) : *scaled;
    if (seen.insert(Format(chosen)).second) selected.problems.push_back(chosen);
  }
  if (std::ranges::count(selection.suites, suites::kArgumentSuite) != 0) {
    Result<std::vector<ArgumentCase>> calls = suites::ArgumentCases();
    if (!calls.ok()) return calls.error();
    selected.calls = std::move(calls).value();
  }
  return selected;
}

Result<std::vector<Filling>> ParseFillings(const std::vector<std::string>& names) {
  std::vector<Filling> fillings;
  for (const std::string& name : names) {
    const auto filling = FillingFromName(name);
    if (!filling) {
      std::vector<std::string> known;
      for (int each = 0; each < kFillingCount; ++each) known.emplace_back(NameOf(static_cast<Filling>(each)));
      return UnknownName("filling", name, known);
    }
    if (std::count(fillings.begin(), fillings.end(), *filling) != 0) {
      return Error{ErrorCode::kBadText, "filling \"" + name + "\" is given twice"};
    }
    fillings.push_back(*filling);
  }
  return fillings;
}

Result<std::uint64_t> ParseSeed(const std::string& text) {
  std::uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, seed);
  if (status == std::errc() && stop == end) return seed;
  return Error{ErrorCode::kBadText, "--seed is a decimal number from 0 to 2^64 - 1, got \"" + text + "\""};
}

}  // namespace wgrad::cli
