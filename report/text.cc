// The report of a whole run as text: failures whole, then what was measured, then the counts and the verdict.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/case.h"
#include "report/case_text.h"
#include "report/findings_text.h"
#include "report/report.h"
#include "report/table.h"
#include "report/words.h"

namespace wgrad::report {
namespace {

using internal::Align;
using internal::Cell;
using internal::Grouped;
using internal::Paint;
using internal::Percent;
using internal::Quantity;
using internal::Style;
using internal::Table;
using oracle::CaseVerdict;
using oracle::Outcome;

std::string EnvironmentLines(const Environment& environment, const Paint& paint) {
  std::string line = fmt::format("wgrad {} on {}", environment.version, environment.processor);
  if (!environment.instruction_sets.empty()) line += fmt::format(" ({})", environment.instruction_sets);
  std::string text = paint(Style::kDim, line) + "\n";
  std::string variables;
  for (const auto& [name, value] : environment.variables) {
    variables += fmt::format("{}{}={}", variables.empty() ? "" : " ", name, value);
  }
  if (!variables.empty()) text += paint(Style::kDim, variables) + "\n";
  return text + "\n";
}

std::string CandidateLine(const CandidateReport& candidate, const Paint& paint) {
  const Greeting& greeting = candidate.greeting;
  std::string line = paint(Style::kBold, candidate.argument);
  if (greeting.name != candidate.argument && !greeting.name.empty()) line += ", " + internal::OneLine(greeting.name);
  if (!greeting.version.empty()) line += " " + internal::OneLine(greeting.version);
  std::string libraries;
  for (const auto& [name, version] : greeting.libraries) {
    libraries +=
        fmt::format("{}{} {}", libraries.empty() ? "" : ", ", internal::OneLine(name), internal::OneLine(version));
  }
  return line + (libraries.empty() ? "" : " (" + libraries + ")") + "\n\n";
}

// What the cases of one dtype add up to, beyond its grade.
struct DTypeSums {
  std::int64_t cases = 0, elements = 0, terms = 0, covered_terms = 0, vacuous = 0;
};

std::map<std::string, DTypeSums> SumsByDType(const CandidateReport& candidate) {
  std::map<std::string, DTypeSums> sums;
  for (const CaseVerdict& verdict : candidate.verdicts) {
    if (!verdict.problem || verdict.outcome == Outcome::kUnsupported) continue;
    DTypeSums& sum = sums[DTypeTag(*verdict.problem)];
    ++sum.cases;
    sum.elements += verdict.statistics.elements;
    sum.terms += verdict.statistics.terms;
    sum.covered_terms += verdict.statistics.covered_terms;
    sum.vacuous += verdict.statistics.vacuous ? 1 : 0;
  }
  return sums;
}

std::string DTypeTable(const CandidateReport& candidate, std::map<std::string, DTypeSums>& sums, const Paint& paint) {
  const auto left = Align::kLeft, right = Align::kRight;
  Table table({left, right, right, left, left, left, right, right, right});
  std::vector<Cell> head;
  for (const char* name : {"dtype", "cases", "elements", "judged by", "class from", "grade", "error/bound",
                           "correctly rounded", "term coverage"}) {
    head.push_back({name, Style::kDim});
  }
  table.AddRow(head);
  for (const auto& [tag, grade] : candidate.grades) {
    const DTypeSums& sum = sums[tag];
    const double coverage =
        sum.terms == 0 ? 0 : static_cast<double>(sum.covered_terms) / static_cast<double>(sum.terms);
    table.AddRow({{tag, Style::kBold},
                  {Grouped(sum.cases)},
                  {Grouped(sum.elements)},
                  {grade.judging_class},
                  {grade.class_source},
                  {grade.grade, grade.grade == "fail" ? Style::kBad : Style::kGood},
                  {internal::Ratio(grade.bound_ratio)},
                  {Percent(grade.correctly_rounded)},
                  {sum.terms == 0 ? "-" : Percent(coverage)}});
  }
  return table.Render(0, paint);
}

// The table of dtypes and a sentence about each.
std::string Measures(const CandidateReport& candidate, const Paint& paint) {
  if (candidate.grades.empty()) return "";
  std::map<std::string, DTypeSums> sums = SumsByDType(candidate);
  std::string text;
  for (const auto& [tag, grade] : candidate.grades) {
    if (grade.grade != "fail") {
      text += fmt::format("{} {}\n", paint(Style::kBold, tag),
                          internal::DepthSentence(grade.achieved_depth, grade.max_terms));
    }
    if (sums[tag].vacuous > 0) {
      text +=
          fmt::format("{} {} in {}: some element has n*u >= 1, its worst case says little\n", paint(Style::kBold, tag),
                      paint(Style::kNote, "bound vacuous"), Quantity(sums[tag].vacuous, "case"));
    }
  }
  return DTypeTable(candidate, sums, paint) + "\n" + text + (text.empty() ? "" : "\n");
}

std::string CountsLine(const Counts& counts, const Paint& paint) {
  std::string line = Quantity(counts.cases, "case") + ":";
  const auto add = [&](std::int64_t count, std::string_view word, Style style) {
    line += line.ends_with(':') ? " " : ", ";
    line += paint(count == 0 ? Style::kDim : style, fmt::format("{} {}", Grouped(count), word));
  };
  add(counts.passed, "passed", Style::kGood);
  add(counts.failed, "failed", Style::kBad);
  add(counts.rejected, "rejected", Style::kBad);
  add(counts.died, "died", Style::kBad);
  add(counts.unsupported, "unsupported", Style::kNote);
  add(counts.blind, "blind", Style::kNote);
  add(counts.known, "known", Style::kNote);
  return line + "\n";
}

std::string FinalLine(const std::string& name, const Counts& counts, const Paint& paint) {
  const std::string size = Quantity(counts.elements, "element");
  const std::string verdict = VerdictWord(counts);
  if (verdict == "pass") {
    return fmt::format("{} {}: {}, {}\n", paint(Style::kGood, "PASS"), name, Quantity(counts.cases, "case"), size);
  }
  if (verdict == "nothing-compared") {
    return fmt::format("{} {}: {}, of which none was judged\n", paint(Style::kNote, "NOTHING COMPARED"), name,
                       Quantity(counts.cases, "case"));
  }
  return fmt::format("{} {}: {} of {} went wrong, {}\n", paint(Style::kBad, "FAIL"), name,
                     Grouped(counts.failed + counts.rejected + counts.died), Quantity(counts.cases, "case"), size);
}

}  // namespace

std::string ToText(const CheckReport& report, const TextOptions& options) {
  const Paint paint(options.color);
  std::string text = EnvironmentLines(report.environment, paint);
  for (const CandidateReport& candidate : report.candidates) {
    text += CandidateLine(candidate, paint);
    text += internal::FailuresText(report, candidate, options);
    text += internal::RemarksText(candidate, options);
    text += Measures(candidate, paint);
    text += CountsLine(candidate.counts, paint);
    if (report.candidates.size() > 1) text += FinalLine(candidate.argument, candidate.counts, paint) + "\n";
  }
  text +=
      fmt::format("special values: {}; seed {}; {}\n", report.policy, report.seed, internal::Duration(report.seconds));
  if (report.interrupted) text += paint(Style::kNote, "interrupted") + ": the cases above are those finished by then\n";
  return text + "\n" + FinalLine(report.candidate, TotalCounts(report), paint);
}

std::string ToText(const CaseVerdict& verdict, const std::string& replay, const TextOptions& options) {
  return internal::CaseText(verdict, replay, Paint(options.color));
}

std::string ToText(const oracle::BatteryVerdict& battery) {
  const Paint paint(false);
  const std::size_t max_failures = TextOptions().max_failures;
  std::string whole, lines;
  std::size_t shown = 0;
  for (const CaseVerdict& verdict : battery.cases) {
    const bool is_shown = IsWrong(verdict.outcome) && shown < max_failures;
    shown += is_shown ? 1 : 0;
    if (is_shown) whole += internal::CaseText(verdict, "", paint) + "\n";
    if (!is_shown) lines += internal::CaseLine(verdict, paint);
  }
  return whole + lines;
}

}  // namespace wgrad::report
