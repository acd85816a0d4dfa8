// The report of a whole run as JUnit XML, the dialect that continuous-integration systems read: a suite for each
// candidate, a test case for each case.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "io/json.h"
#include "report/report.h"
#include "report/words.h"

namespace wgrad::report {
namespace {

using oracle::CaseVerdict;
using oracle::Outcome;

std::string Attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, internal::EscapeMarkup(value));
}

// The outcome's element inside a test case; empty for a pass.
std::string OutcomeXml(const CheckReport& report, const CandidateReport& candidate, const CaseVerdict& verdict,
                       bool is_known) {
  const std::string message = Attribute("message", verdict.reason);
  if (is_known) return fmt::format("<skipped{}/>", Attribute("message", "known to fail: " + verdict.reason));
  switch (verdict.outcome) {
    case Outcome::kPass:
      return "";
    case Outcome::kUnsupported:
    case Outcome::kBlind:
      return fmt::format("<skipped{}/>",
                         Attribute("message", fmt::format("{}: {}", NameOf(verdict.outcome), verdict.reason)));
    case Outcome::kFail:
    case Outcome::kRejected:
    case Outcome::kDied:
      break;
  }
  const std::string_view element = verdict.outcome == Outcome::kDied ? "error" : "failure";
  const std::string text = ToText(verdict, ReplayCommand(report, candidate, verdict), TextOptions());
  return fmt::format("<{}{}{}>{}</{}>", element, message, Attribute("type", NameOf(verdict.outcome)),
                     internal::EscapeMarkupLines(text), element);
}

std::string CaseXml(const CheckReport& report, const CandidateReport& candidate, std::size_t which) {
  const CaseVerdict& verdict = candidate.verdicts[which];
  const std::string start =
      fmt::format("    <testcase{}{} time=\"{:.3f}\"", Attribute("name", oracle::CaseName(verdict)),
                  Attribute("classname", candidate.argument), verdict.seconds);
  const std::string outcome = OutcomeXml(report, candidate, verdict, candidate.known_cases.count(which) > 0);
  return start + (outcome.empty() ? "/>\n" : ">" + outcome + "</testcase>\n");
}

std::string CountsXml(const Counts& counts) {
  return fmt::format(" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", counts.cases,
                     counts.failed + counts.rejected, counts.died, counts.unsupported + counts.blind + counts.known);
}

std::string PropertyXml(std::string_view name, std::string_view value) {
  return fmt::format("      <property{}{}/>\n", Attribute("name", name), Attribute("value", value));
}

std::string SuiteXml(const CheckReport& report, const CandidateReport& candidate) {
  double seconds = 0;
  std::string cases;
  for (std::size_t i = 0; i < candidate.verdicts.size(); ++i) {
    seconds += candidate.verdicts[i].seconds;
    cases += CaseXml(report, candidate, i);
  }
  std::string properties = PropertyXml("wgrad", report.environment.version) +
                           PropertyXml("processor", report.environment.processor) +
                           PropertyXml("instruction_sets", report.environment.instruction_sets) +
                           PropertyXml("policy", report.policy) + PropertyXml("seed", fmt::format("{}", report.seed));
  for (const auto& [name, version] : candidate.greeting.libraries)
    properties += PropertyXml("library " + name, version);
  for (const auto& [name, value] : report.environment.variables) properties += PropertyXml("variable " + name, value);
  return fmt::format("  <testsuite{}{} time=\"{:.3f}\">\n    <properties>\n{}    </properties>\n{}  </testsuite>\n",
                     Attribute("name", candidate.argument), CountsXml(candidate.counts), seconds, properties, cases);
}

}  // namespace

std::string ToJUnit(const CheckReport& report) {
  std::string suites;
  for (const CandidateReport& candidate : report.candidates) suites += SuiteXml(report, candidate);
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites{}{} time=\"{:.3f}\">\n{}</testsuites>\n",
                     Attribute("name", "wgrad check " + report.candidate), CountsXml(TotalCounts(report)),
                     report.seconds, suites);
}

}  // namespace wgrad::report
