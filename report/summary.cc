// Counts, the verdict's word, and the words that show a case again.
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/case.h"
#include "report/report.h"

namespace wgrad::report {

std::string QuoteForShell(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-+=:,./@%").find(c) != std::string_view::npos;
  });
  if (plain) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

namespace {

bool HasWord(const std::string& command, std::string_view word) {
  std::istringstream words(command);
  for (std::string one; words >> one;) {
    if (one == word || one.starts_with(std::string(word) + "=")) return true;
  }
  return false;
}

}  // namespace

std::string JudgingWords(const std::string& command, const oracle::Judging& judging) {
  std::string words;
  if (judging.class_source == "command line") words += " --class " + oracle::Format(judging.accuracy_class);
  if (HasWord(command, "--pad")) {
    constexpr std::string_view kNames[] = {"skip", "multiply", "either"};
    words += fmt::format(" --pad {}", kNames[static_cast<std::size_t>(judging.policy.pad)]);
  }
  const oracle::Policy& policy = judging.policy;
  if (policy.ftz && HasWord(command, "--ftz")) words += " --ftz";
  if (policy.daz && HasWord(command, "--daz")) words += " --daz";
  if (policy.saturate && HasWord(command, "--saturate")) words += " --saturate";
  if (policy.zero_skip && HasWord(command, "--zero-skip")) words += " --zero-skip";
  return words;
}

void Counts::Add(const Counts& other) {
  cases += other.cases;
  passed += other.passed;
  failed += other.failed;
  unsupported += other.unsupported;
  rejected += other.rejected;
  died += other.died;
  blind += other.blind;
  known += other.known;
  elements += other.elements;
}

std::string VerdictWord(const Counts& counts) {
  if (counts.failed + counts.rejected + counts.died > 0) return "fail";
  return counts.passed + counts.known > 0 ? "pass" : "nothing-compared";
}

Counts TotalCounts(const CheckReport& report) {
  Counts total;
  for (const CandidateReport& candidate : report.candidates) total.Add(candidate.counts);
  return total;
}

std::string ReplayCommand(const CheckReport& report, const CandidateReport& candidate,
                          const oracle::CaseVerdict& verdict) {
  if (verdict.call) {
    return fmt::format("{} check {} --suite arguments --only {}", report.program, QuoteForShell(candidate.argument),
                       oracle::CaseName(verdict));
  }
  if (!verdict.c) return "";
  return fmt::format("{} check {} --problem {} --filling {} --seed {}{}{}", report.program,
                     QuoteForShell(candidate.argument), Format(verdict.c->problem), NameOf(verdict.c->filling),
                     verdict.c->seed, verdict.repeats.elsewhere ? " --fresh 1" : "",
                     JudgingWords(report.command, verdict.judging));
}

}  // namespace wgrad::report
