#include "cli/fuzz_text.h"

#include <algorithm>

#include "cli/terminal.h"
#include "fuzz/regions.h"
#include "report/report.h"
#include "report/words.h"

namespace wgrad::cli {
namespace {

using report::internal::Grouped;
using report::internal::Paint;
using report::internal::Percent;
using report::internal::Quantity;
using report::internal::Ratio;
using report::internal::Style;

constexpr std::size_t kLineWidth = 110;
constexpr std::size_t kMissingShown = 5;

std::string ShareText(const fuzz::Share& share) { return Grouped(share.seen) + " of " + Grouped(share.total); }

// Words separated by commas, on lines of at most kLineWidth, the first beginning with `title`.
std::string Wrapped(const std::string& title, const std::vector<std::string>& words) {
  constexpr std::size_t kIndent = 20;
  std::string text;
  std::string line = "  " + title + std::string(kIndent - 2 - std::min(kIndent - 3, title.size()), ' ');
  bool first = true;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i] + (i + 1 < words.size() ? "," : "");
    if (!first && line.size() + 1 + word.size() > kLineWidth) {
      text += line + "\n";
      line = std::string(kIndent, ' ');
      first = true;
    }
    line += (first ? "" : " ") + word;
    first = false;
  }
  return text + line + "\n";
}

std::vector<std::string> FillingWords(const fuzz::Coverage& coverage) {
  std::vector<std::string> words;
  for (int i = 0; i < kFillingCount; ++i) {
    const std::int64_t count = coverage.fillings()[static_cast<std::size_t>(i)];
    if (count > 0) words.push_back(std::string(NameOf(static_cast<Filling>(i))) + " " + Grouped(count));
  }
  return words;
}

std::vector<std::string> RegionWords(const fuzz::Coverage& coverage) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < coverage.regions().size(); ++i) {
    words.push_back(std::string(fuzz::Regions()[i].name) + " " + Grouped(coverage.regions()[i]));
  }
  return words;
}

// "intermittent: 3 of 50 runs", or why the case could not be seen again.
std::string RateText(const fuzz::Shrunk& shrunk) {
  if (shrunk.rate.always()) return "";
  if (shrunk.rate.never()) {
    return "not seen again in " + std::to_string(shrunk.rate.runs) +
           " runs of this case alone: it went wrong after other calls, or by chance";
  }
  return "intermittent: it failed in " + shrunk.rate.Text();
}

std::string ShrunkText(const Finding& finding, const Paint& paint) {
  const fuzz::Shrunk& shrunk = finding.shrunk;
  std::string text;
  if (const std::string rate = RateText(shrunk); !rate.empty()) text += "  " + paint(Style::kNote, rate) + "\n";
  const std::string limit = shrunk.out_of_time ? ", stopped by the time for shrinking" : "";
  if (!(shrunk.plainest == *finding.failure.c)) {
    text += "  shrunk to  " + paint(Style::kBold, Format(shrunk.plainest)) + " in " + Ratio(shrunk.seconds) + " s" +
            limit + "\n";
  }
  if (!shrunk.rate.never() && !shrunk.call && !shrunk.out_of_time) {
    text += "  no single call of the case fails: it takes several calls in a row, or the relation between them\n";
  }
  if (!shrunk.witness.empty()) text += "\n" + paint(Style::kBad, "  " + shrunk.witness) + "\n";
  return text;
}

}  // namespace

std::string ReplayLine(const std::string& what, const std::string& candidate, const oracle::CaseVerdict& verdict) {
  return "  again      " + ProgramName() + " replay " + report::QuoteForShell(what) + " " +
         report::QuoteForShell(candidate) + report::JudgingWords(CommandLine(), verdict.judging) + "\n";
}

std::string FindingText(const Finding& finding, const std::string& candidate, bool color) {
  const Paint paint(color);
  std::string text =
      report::ToText(finding.shrunk.rate.never() ? finding.failure : finding.shrunk.verdict, "", {.color = color});
  text += "\n  found in   " + Format(*finding.failure.c) +
          (finding.case_number > 0 ? ", case " + Grouped(static_cast<std::int64_t>(finding.case_number)) : "") + "\n";
  text += ShrunkText(finding, paint) + "\n";
  text += ReplayLine(Format(finding.shrunk.plainest), candidate, finding.shrunk.verdict);
  if (!finding.saved_as.empty()) {
    text += "  saved as   " + finding.saved_as + "\n";
  }
  return text + "\n";
}

std::string CoverageText(const CampaignState& state, bool whole) {
  const fuzz::Coverage& coverage = state.coverage;
  const double rate = state.seconds > 0 ? static_cast<double>(coverage.cases()) / state.seconds : 0;
  std::string text = Quantity(coverage.cases(), "case") + " in " + report::internal::Duration(state.seconds) + " (" +
                     Grouped(static_cast<std::int64_t>(rate)) + " a second), " +
                     Quantity(coverage.elements(), "element") + " judged against exact sums\n";
  if (!whole) return text;
  const double share =
      coverage.terms() == 0 ? 0 : static_cast<double>(coverage.covered_terms()) / static_cast<double>(coverage.terms());
  text += Wrapped("terms", {Percent(share) + " of " + Grouped(coverage.terms()) +
                            ": the loss of any one of them was certain to be seen"});
  text += Wrapped("argument pairs", {ShareText(coverage.Pairs())});
  text += Wrapped("triples", {ShareText(coverage.Triples())});
  text += Wrapped("block tails", {ShareText(coverage.Tails()) + " (depths, columns, batch one off 4 to 128)"});
  text += Wrapped("fillings", FillingWords(coverage));
  text += Wrapped("regions", RegionWords(coverage));
  std::vector<std::string> missing = coverage.MissingPairs();
  if (missing.size() > kMissingShown) {
    const std::size_t rest = missing.size() - kMissingShown;
    missing.resize(kMissingShown);
    missing.push_back("and " + Quantity(static_cast<std::int64_t>(rest), "more pair"));
  }
  if (!missing.empty()) text += Wrapped("never met", missing);
  if (state.blind > 0)
    text += Wrapped("blind", {Quantity(state.blind, "case") + " whose data could show no lost term"});
  if (state.known > 0) text += Wrapped("known", {Quantity(state.known, "failure") + " expected by --known"});
  return text;
}

}  // namespace wgrad::cli
