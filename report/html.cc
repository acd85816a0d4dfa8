// The matrix as one page that stands alone: no script, nothing fetched, readable on a phone.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "report/case_text.h"
#include "report/matrix.h"
#include "report/report.h"
#include "report/words.h"

namespace wgrad::report {
namespace {

using internal::MatrixRow;

constexpr std::size_t kMaxFindings = 25;  // of one candidate, shown whole

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light dark; --line: #8885; --good: #177a3c; --bad: #c02626; --note: #8a6100; }
@media (prefers-color-scheme: dark) { :root { --good: #5fd38a; --bad: #ff7b72; --note: #e3b341; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 1rem auto; max-width: 80rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.pass { color: var(--good); font-weight: 600; } .fail { color: var(--bad); font-weight: 600; }
.note { color: var(--note); } .word { white-space: nowrap; } .version { display: block; font-size: .8rem; opacity: .75; }
pre { overflow-x: auto; font-size: .8rem; line-height: 1.35; padding: .6rem; border: 1px solid var(--line); }
summary { cursor: pointer; padding: .3rem 0; overflow-wrap: anywhere; }
@media (max-width: 48rem) {
  thead { display: none; }
  tr { display: block; border: 1px solid var(--line); border-radius: .4rem; margin: .6rem 0; padding: .3rem 0; }
  td, td.number { display: flex; justify-content: space-between; gap: 1rem; border: 0; text-align: right; }
  td::before { content: attr(data-label); color: CanvasText; font-weight: 400; opacity: .7; text-align: left; }
  td.zero { display: none; }
}
)css";

// A name for links: letters, digits and dashes.
std::string Anchor(std::string_view argument) {
  std::string anchor = "c-";
  for (const char c : argument) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    anchor += plain ? c : '-';
  }
  return anchor;
}

// A cell; `text` is HTML already.
std::string Td(std::string_view label, std::string_view text, std::string_view style = "") {
  return fmt::format("<td data-label=\"{}\"{}>{}</td>", label, style.empty() ? "" : fmt::format(" class=\"{}\"", style),
                     text);
}

// A number of cases that went wrong, with a way to what was found.
std::string FindingsTd(std::string_view label, const std::string& count, const MatrixRow& row) {
  if (count == "0") return Td(label, count, "number zero");
  return Td(label, fmt::format("<a class=\"fail\" href=\"#{}\">{}</a>", Anchor(row.candidate->argument), count),
            "number");
}

std::string RowHtml(const MatrixRow& row) {
  std::string name = "<strong>" + internal::EscapeMarkup(row.candidate->argument) + "</strong>";
  if (!row.version.empty()) name += "<span class=\"version\">" + internal::EscapeMarkup(row.version) + "</span>";
  std::string html = "<tr>" + Td("candidate", "<span>" + name + "</span>");
  if (!row.remark.empty()) {
    return html + fmt::format("<td data-label=\"state\" class=\"note\" colspan=\"9\">{}</td></tr>\n",
                              internal::EscapeMarkup(row.remark));
  }
  html += Td("verdict", row.verdict, row.verdict == "pass" ? "pass" : row.verdict == "fail" ? "fail" : "note");
  html += Td("grade", internal::EscapeMarkup(row.grades));
  html += Td("passed", row.passed, "number");
  html += FindingsTd("failed", row.failed, row) + FindingsTd("rejected", row.rejected, row);
  html += FindingsTd("died", row.died, row);
  html += Td("unsupported", row.unsupported, "number");
  html += Td("repeats", internal::EscapeMarkup(row.determinism), row.determinism.ends_with("differ") ? "note" : "word");
  html += Td("cases/s", row.rate, "number");
  return html + "</tr>\n";
}

std::string Findings(const CheckReport& report, const CandidateReport& candidate) {
  std::string html;
  std::size_t shown = 0, more = 0;
  for (std::size_t i = 0; i < candidate.verdicts.size(); ++i) {
    const oracle::CaseVerdict& verdict = candidate.verdicts[i];
    if (!IsWrong(verdict.outcome) || candidate.known_cases.count(i) != 0) continue;
    if (++shown > kMaxFindings) {
      ++more;
      continue;
    }
    const std::string text = ToText(verdict, ReplayCommand(report, candidate, verdict), {});
    html += fmt::format("<details><summary><span class=\"fail\">{}</span> {}</summary><pre>{}</pre></details>\n",
                        NameOf(verdict.outcome), internal::EscapeMarkup(CaseName(verdict)),
                        internal::EscapeMarkupLines(text));
  }
  if (html.empty()) return "";
  if (more > 0) html += fmt::format("<p>and {} more: run the candidate by itself to see them.</p>\n", more);
  return fmt::format("<h2 id=\"{}\">{}</h2>\n", Anchor(candidate.argument),
                     internal::EscapeMarkup(candidate.argument)) +
         html;
}

}  // namespace

std::string ToMatrixHtml(const CheckReport& report) {
  std::string head, rows, findings;
  for (const char* name : {"candidate", "verdict", "grade by dtype"}) head += fmt::format("<th>{}</th>", name);
  for (const char* name : {"passed", "failed", "rejected", "died", "unsupported"}) {
    head += fmt::format("<th class=\"number\">{}</th>", name);
  }
  head += "<th>repeats</th><th class=\"number\">cases/s</th>";
  for (const MatrixRow& row : internal::MatrixRows(report)) rows += RowHtml(row);
  for (const CandidateReport& candidate : report.candidates) findings += Findings(report, candidate);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>wgrad matrix</title>\n<style>{}</style>\n</head>\n<body>\n<h1>Weight gradients, judged</h1>\n"
      "<p>wgrad {} on {} ({}). <code>{}</code>, seed {}.{}</p>\n"
      "<table>\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n{}</body>\n</html>\n",
      kStyle, internal::EscapeMarkup(report.environment.version), internal::EscapeMarkup(report.environment.processor),
      internal::EscapeMarkup(report.environment.instruction_sets), internal::EscapeMarkup(report.command), report.seed,
      report.interrupted ? " Interrupted: what is missing was not run." : "", head, rows, findings);
}

}  // namespace wgrad::report
