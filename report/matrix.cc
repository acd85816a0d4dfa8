#include "report/matrix.h"

#include <fmt/format.h>

#include "report/table.h"
#include "report/words.h"

namespace wgrad::report {
namespace internal {
namespace {

std::string Joined(const std::string& text, const std::string& more) {
  return text + (text.empty() ? "" : ", ") + more;
}

oracle::Repeats AllRepeats(const CandidateReport& candidate) {
  oracle::Repeats all;
  for (const oracle::CaseVerdict& verdict : candidate.verdicts) {
    all.compared += verdict.repeats.compared;
    all.differing += verdict.repeats.differing;
  }
  return all;
}

std::string Determinism(const CandidateReport& candidate) {
  const oracle::Repeats repeats = AllRepeats(candidate);
  if (repeats.compared == 0) return "-";
  if (repeats.differing == 0) return "same bits";
  return fmt::format("{} of {} differ", Grouped(repeats.differing), Grouped(repeats.compared));
}

MatrixRow RowOf(const CandidateReport& candidate) {
  const Counts& counts = candidate.counts;
  MatrixRow row;
  row.candidate = &candidate;
  for (const auto& [library, version] : candidate.greeting.libraries) {
    row.version = Joined(row.version, library + " " + version);
  }
  if (row.version.empty()) row.version = candidate.greeting.version;
  for (const auto& [tag, grade] : candidate.grades) {
    row.dtypes += (row.dtypes.empty() ? "" : " ") + tag;
    row.grades = Joined(row.grades, tag + " " + grade.grade);
  }
  row.verdict = VerdictWord(counts);
  row.passed = Grouped(counts.passed);
  row.failed = Grouped(counts.failed);
  row.rejected = Grouped(counts.rejected);
  row.died = Grouped(counts.died);
  row.unsupported =
      counts.cases == 0 ? "-" : Percent(static_cast<double>(counts.unsupported) / static_cast<double>(counts.cases));
  row.determinism = Determinism(candidate);
  const std::int64_t ran = counts.cases - counts.unsupported;
  row.rate = candidate.seconds > 0 && ran > 0 ? Ratio(static_cast<double>(ran) / candidate.seconds) : "-";
  row.remark = OneLine(candidate.greeting.capabilities.unavailable);
  return row;
}

}  // namespace

std::vector<MatrixRow> MatrixRows(const CheckReport& report) {
  std::vector<MatrixRow> rows;
  for (const CandidateReport& candidate : report.candidates) rows.push_back(RowOf(candidate));
  return rows;
}

}  // namespace internal

namespace {

using internal::Align;
using internal::Cell;
using internal::MatrixRow;
using internal::Style;

Cell Bad(const std::string& number) { return {number, number == "0" ? Style::kDim : Style::kBad}; }

void AddRow(const MatrixRow& row, internal::Table& table) {
  if (!row.remark.empty()) {
    table.AddRow({{row.candidate->argument, Style::kBold}});
    table.AddNote(1, {row.remark, Style::kNote});
    return;
  }
  const bool good = row.verdict == "pass";
  const bool bad = row.verdict == "fail";
  table.AddRow({{row.candidate->argument, Style::kBold},
                {row.verdict, good  ? Style::kGood
                              : bad ? Style::kBad
                                    : Style::kNote},
                {row.grades},
                {row.passed},
                Bad(row.failed),
                Bad(row.rejected),
                Bad(row.died),
                {row.unsupported},
                {row.determinism, row.determinism.ends_with("differ") ? Style::kNote : Style::kPlain},
                {row.rate}});
}

}  // namespace

std::string ToMatrixText(const CheckReport& report, const TextOptions& options) {
  const auto left = Align::kLeft, right = Align::kRight;
  internal::Table table({left, left, left, right, right, right, right, right, left, right});
  std::vector<Cell> head;
  for (const char* name : {"candidate", "verdict", "grade by dtype", "passed", "failed", "rejected", "died",
                           "unsupported", "repeats", "cases/s"}) {
    head.push_back({name, Style::kDim});
  }
  table.AddRow(head);
  for (const MatrixRow& row : internal::MatrixRows(report)) AddRow(row, table);
  const internal::Paint paint(options.color);
  const std::string mark = report.interrupted ? "interrupted: what is missing was not run\n" : "";
  return table.Render(0, paint) + paint(Style::kNote, mark);
}

}  // namespace wgrad::report
