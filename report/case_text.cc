#include "report/case_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/case.h"
#include "io/op_arguments_json.h"
#include "report/table.h"

namespace wgrad::report::internal {
namespace {

using oracle::CaseVerdict;
using oracle::ElementFinding;
using oracle::Outcome;

Style StyleOf(Outcome outcome) {
  if (outcome == Outcome::kPass) return Style::kGood;
  return outcome == Outcome::kUnsupported || outcome == Outcome::kBlind ? Style::kNote : Style::kBad;
}

std::string OutcomeWord(Outcome outcome) {
  std::string word(NameOf(outcome));
  std::transform(word.begin(), word.end(), word.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return word;
}

std::string Headline(const CaseVerdict& verdict, const Paint& paint) {
  std::string line = paint(StyleOf(verdict.outcome), OutcomeWord(verdict.outcome));
  if (verdict.problem) line += "  " + paint(Style::kBold, Format(*verdict.problem));
  if (verdict.call) line += "  " + paint(Style::kBold, oracle::CaseName(verdict)) + "  " + verdict.call->why;
  if (verdict.c) line += fmt::format("  filling {}, seed {}", NameOf(verdict.c->filling), verdict.c->seed);
  return line + "\n";
}

bool IsJudged(const CaseVerdict& verdict) {
  return (verdict.outcome == Outcome::kPass || verdict.outcome == Outcome::kFail) && verdict.statistics.elements > 0;
}

std::string IndexText(const ElementFinding& finding) {
  const auto& [kh, kw, ic, oc] = finding.index;
  return fmt::format("[kh={}, kw={}, ic={}, oc={}]", kh, kw, ic, oc);
}

void AddElement(const ElementFinding& finding, const std::string& headline_rule, DType dtype, Table& table) {
  const bool unwritten = finding.actual_bits == PoisonBits(dtype);
  const bool has_error = !finding.error_decimal.empty();
  const bool has_bound = !finding.bound_decimal.empty();
  table.AddRow({{IndexText(finding)},
                {"actual"},
                {unwritten ? "never written" : finding.actual_decimal, Style::kBad},
                {HexBits(dtype, finding.actual_bits), Style::kDim},
                {has_error ? "error" : ""},
                {finding.error_decimal},
                {has_error && has_bound ? Ratio(finding.bound_ratio) : ""},
                {has_error && finding.ulps > 0 ? Ratio(finding.ulps) : ""},
                {Grouped(finding.terms)}});
  table.AddRow({{},
                {"exact"},
                {finding.exact_decimal, Style::kGood},
                {HexBits(dtype, finding.exact_bits), Style::kDim},
                {has_bound ? "bound" : "allowed"},
                {has_bound ? finding.bound_decimal : finding.allowed}});
  if (finding.rule != headline_rule) table.AddNote(1, {finding.rule});
  if (!finding.read.empty()) table.AddNote(1, {finding.read, Style::kNote});
  if (!finding.run_label.empty()) table.AddNote(1, {fmt::format("in run {}: {}", finding.run, finding.run_label)});
}

std::string WorstElements(const CaseVerdict& verdict, const Paint& paint) {
  if (verdict.worst.empty() || !verdict.problem) return "";
  const auto left = Align::kLeft, right = Align::kRight;
  Table table({left, left, left, left, left, left, right, right, right});
  const auto head = [](const char* text) { return Cell{text, Style::kDim}; };
  table.AddRow({head("filter_backprop"),
                {},
                head("value"),
                head("bits"),
                {},
                {},
                head("error/bound"),
                head("ulp"),
                head("terms")});
  for (const ElementFinding& finding : verdict.worst) {
    AddElement(finding, verdict.worst.front().rule, verdict.problem->result_dtype(), table);
  }
  std::string text = "\n" + table.Render(2, paint);
  const std::int64_t more = verdict.wrong_elements - static_cast<std::int64_t>(verdict.worst.size());
  if (more > 0) text += "  " + paint(Style::kDim, "and " + Quantity(more, "more wrong element")) + "\n";
  return text;
}

std::string CallLine(const OpArguments& arguments) {
  const auto tensor = [](const std::string& dtype, const std::vector<std::int64_t>& shape) {
    return fmt::format("{}[{}]", dtype, fmt::join(shape, ","));
  };
  return fmt::format("input {}, out_backprop {}, {}", tensor(arguments.dtype, arguments.input_shape),
                     tensor(arguments.out_backprop_dtype, arguments.out_backprop_shape),
                     io::AttributesToJson(arguments).Dump());
}

std::string JudgedBy(const CaseVerdict& verdict) {
  return fmt::format("class {} ({}), {}", Format(verdict.judging.accuracy_class), verdict.judging.class_source,
                     Format(verdict.judging.policy));
}

std::string PassLines(const CaseVerdict& verdict) {
  const oracle::Statistics& statistics = verdict.statistics;
  const bool one = statistics.elements == 1;
  std::string text =
      fmt::format("  {}{} under {}\n", one ? "" : "all ",
                  Quantity(statistics.elements, "element") + (one ? " passes" : " pass"), JudgedBy(verdict));
  text += fmt::format("  {}\n", DepthSentence(statistics.achieved_depth, statistics.max_terms));
  return text;
}

std::string StatisticsLines(const CaseVerdict& verdict, const Paint& paint) {
  const oracle::Statistics& statistics = verdict.statistics;
  std::string text;
  if (statistics.finite > 0) {
    text +=
        fmt::format("  {} correctly rounded, largest error {} ulp, term coverage {}\n",
                    Percent(static_cast<double>(statistics.correctly_rounded) / static_cast<double>(statistics.finite)),
                    Ratio(statistics.max_ulp), Percent(statistics.coverage()));
  }
  const std::string histogram = HistogramLine(statistics, paint);
  if (!histogram.empty()) text += "  " + histogram + "\n";
  if (statistics.vacuous) {
    text += "  " + paint(Style::kNote, "bound vacuous") + ": some element has n*u >= 1, its worst case says little\n";
  }
  return text;
}

}  // namespace

std::string HistogramLine(const oracle::Statistics& statistics, const Paint& paint) {
  constexpr std::size_t kBoundBin = 20;  // error / bound from 1 up
  constexpr std::string_view kBars[] = {"·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const auto& bins = statistics.ratio_histogram;
  const std::int64_t largest = *std::max_element(bins.begin(), bins.end());
  if (largest == 0) return "";
  std::string inside, outside;
  for (std::size_t bin = 0; bin < bins.size(); ++bin) {
    const auto count = static_cast<double>(bins[bin]);
    const double height = count == 0 ? 0 : std::ceil(8 * std::log1p(count) / std::log1p(static_cast<double>(largest)));
    (bin < kBoundBin ? inside : outside) += kBars[static_cast<std::size_t>(std::min(height, 8.0))];
  }
  return fmt::format("error/bound  2^-20 {}|{} 2^4, largest {}", inside, paint(Style::kBad, outside),
                     Ratio(statistics.max_bound_ratio));
}

std::string DetailLines(const CaseVerdict& verdict) {
  constexpr int kMostLines = 12;
  std::vector<std::string> lines;
  std::istringstream detail(verdict.detail);
  for (std::string line; std::getline(detail, line);) lines.push_back(OneLine(line));
  std::string text;
  // The end of a stack trace says most.
  const std::size_t first = lines.size() > kMostLines ? lines.size() - kMostLines : 0;
  for (std::size_t i = first; i < lines.size(); ++i) text += "    " + lines[i] + "\n";
  return text;
}

std::string CaseText(const CaseVerdict& verdict, const std::string& replay, const Paint& paint) {
  std::string text = Headline(verdict, paint);
  if (!verdict.reason.empty()) text += "  " + OneLine(verdict.reason) + "\n";
  if (verdict.call) text += "  " + CallLine(verdict.call->arguments) + "\n";
  text += DetailLines(verdict);
  if (!verdict.pattern.empty()) text += "  " + paint(Style::kNote, verdict.pattern) + "\n";
  if (verdict.outcome == Outcome::kPass) text += PassLines(verdict);
  if (verdict.outcome == Outcome::kFail) text += WorstElements(verdict, paint);
  if (IsJudged(verdict)) {
    if (!verdict.worst.empty()) text += "\n";
    if (verdict.outcome != Outcome::kPass) text += "  judged by " + JudgedBy(verdict) + "\n";
    text += StatisticsLines(verdict, paint);
  }
  for (const std::string& advisory : verdict.advisories) {
    text += "  " + paint(Style::kNote, "advisory") + ": " + advisory + "\n";
  }
  if (!replay.empty()) text += "  see it again:  " + paint(Style::kBold, replay) + "\n";
  return text;
}

std::string CaseLine(const CaseVerdict& verdict, const Paint& paint) {
  const std::string reason = verdict.reason.empty() ? "" : ": " + OneLine(verdict.reason);
  return paint(StyleOf(verdict.outcome), OutcomeWord(verdict.outcome)) + "  " + oracle::CaseName(verdict) + reason +
         "\n";
}

}  // namespace wgrad::report::internal
