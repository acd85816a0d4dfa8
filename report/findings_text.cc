#include "report/findings_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/case.h"
#include "report/case_text.h"
#include "report/table.h"
#include "report/words.h"

namespace wgrad::report::internal {
namespace {

using oracle::CaseVerdict;
using oracle::Outcome;

constexpr std::size_t kMaxRows = 20;  // of a list of problems or reasons

using VerdictList = std::vector<const CaseVerdict*>;
struct Group {
  std::string key;
  VerdictList verdicts;
};

std::int64_t Count(const VerdictList& verdicts) { return static_cast<std::int64_t>(verdicts.size()); }

// Cases of one outcome; those known to fail are told apart by themselves.
VerdictList Select(const CandidateReport& candidate, Outcome outcome) {
  VerdictList selected;
  for (std::size_t i = 0; i < candidate.verdicts.size(); ++i) {
    const CaseVerdict& verdict = candidate.verdicts[i];
    if (verdict.outcome == outcome && candidate.known_cases.count(i) == 0) selected.push_back(&verdict);
  }
  return selected;
}

// Groups in the order in which their keys first appear.
template <typename KeyOf>
std::vector<Group> GroupBy(const VerdictList& verdicts, KeyOf key_of) {
  std::vector<Group> groups;
  std::map<std::string, std::size_t> places;
  for (const CaseVerdict* verdict : verdicts) {
    const auto [place, is_new] = places.try_emplace(key_of(*verdict), groups.size());
    if (is_new) groups.push_back({place->first, {}});
    groups[place->second].verdicts.push_back(verdict);
  }
  return groups;
}

std::string ProblemOf(const CaseVerdict& verdict) {
  return verdict.problem ? Format(*verdict.problem) : "wrong arguments";
}
std::string ReasonOf(const CaseVerdict& verdict) { return OneLine(verdict.reason); }

// The order in which failures tell most: of each problem its first failure, the smallest problems before; then what a
// coded case says of the elements read; then the rest.
VerdictList MostTellingFirst(const VerdictList& failures) {
  struct Place {
    int rank;
    std::int64_t size;
    const CaseVerdict* verdict;
  };
  std::vector<Place> places;
  std::set<std::string> seen;
  for (const CaseVerdict* verdict : failures) {
    const bool is_first = seen.insert(ProblemOf(*verdict)).second || !verdict->problem;
    const bool is_coded = verdict->c && verdict->c->filling == Filling::kCoded;
    places.push_back({is_first   ? 0
                      : is_coded ? 1
                                 : 2,
                      verdict->problem ? verdict->problem->multiply_adds() : 0, verdict});
  }
  std::ranges::stable_sort(places, {}, [](const Place& place) { return std::pair(place.rank, place.size); });
  VerdictList ordered;
  for (const Place& place : places) ordered.push_back(place.verdict);
  return ordered;
}

std::string ReplayLine(const std::string& replay, const Paint& paint) {
  return replay.empty() ? "" : "  see it again:  " + paint(Style::kBold, replay) + "\n";
}

std::vector<Cell> ProblemRow(const Group& group) {
  std::int64_t wrong = 0;
  double ratio = 0;
  std::string fillings;
  for (const CaseVerdict* verdict : group.verdicts) {
    wrong += verdict->wrong_elements;
    ratio = std::max(ratio, verdict->statistics.max_bound_ratio);
    if (verdict->c) fillings += (fillings.empty() ? "" : " ") + std::string(NameOf(verdict->c->filling));
  }
  return {{group.key}, {Grouped(Count(group.verdicts))}, {Grouped(wrong)}, {Ratio(ratio)}, {fillings}};
}

// What the failures that are not shown whole have in common: one row for each problem.
std::string FailuresByProblem(const VerdictList& failures, const Paint& paint) {
  const auto head = [](const char* text) { return Cell{text, Style::kDim}; };
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({head("problem"), head("cases"), head("wrong elements"), head("error/bound"), head("fillings")});
  const std::vector<Group> groups = GroupBy(failures, ProblemOf);
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxRows); ++i) table.AddRow(ProblemRow(groups[i]));
  if (groups.size() > kMaxRows) {
    const auto more = static_cast<std::int64_t>(groups.size() - kMaxRows);
    table.AddNote(0, {"and " + Quantity(more, "more problem"), Style::kDim});
  }
  return fmt::format("{} by problem\n\n{}\n", Quantity(Count(failures), "more failed case"), table.Render(2, paint));
}

// One case with its replay line for each reason, and how many more there are.
std::string ByReason(const CheckReport& report, const CandidateReport& candidate, Outcome outcome,
                     const TextOptions& options) {
  const Paint paint(options.color);
  const std::vector<Group> groups = GroupBy(Select(candidate, outcome), ReasonOf);
  std::string text;
  std::int64_t hidden = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const VerdictList& verdicts = groups[i].verdicts;
    if (i >= options.max_failures) {
      hidden += Count(verdicts);
      continue;
    }
    text += CaseLine(*verdicts.front(), paint) + DetailLines(*verdicts.front());
    if (verdicts.size() > 1) {
      text += fmt::format("  and {} for the same reason\n", Quantity(Count(verdicts) - 1, "more case"));
    }
    text += ReplayLine(ReplayCommand(report, candidate, *verdicts.front()), paint) + "\n";
  }
  if (hidden > 0) text += fmt::format("{} {} for other reasons\n\n", Quantity(hidden, "more case"), NameOf(outcome));
  return text;
}

// "12 cases unsupported" and how many for which reason, the most frequent first.
std::string NotCompared(const CandidateReport& candidate, Outcome outcome, const Paint& paint) {
  const VerdictList verdicts = Select(candidate, outcome);
  if (verdicts.empty()) return "";
  std::vector<Group> groups = GroupBy(verdicts, ReasonOf);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.verdicts.size() > b.verdicts.size(); });
  Table table({Align::kRight, Align::kLeft});
  for (std::size_t i = 0; i < std::min(groups.size(), kMaxRows); ++i) {
    table.AddRow({{Grouped(Count(groups[i].verdicts))}, {groups[i].key}});
  }
  if (groups.size() > kMaxRows) {
    table.AddNote(1, {Quantity(static_cast<std::int64_t>(groups.size() - kMaxRows), "more reason"), Style::kDim});
  }
  return fmt::format("{} {}\n{}\n", Quantity(Count(verdicts), "case"), paint(Style::kNote, NameOf(outcome)),
                     table.Render(2, paint));
}

std::string KnownText(const CandidateReport& candidate, const Paint& paint) {
  std::string text;
  if (!candidate.known_cases.empty()) {
    text += fmt::format("{} {}\n", Quantity(static_cast<std::int64_t>(candidate.known_cases.size()), "case"),
                        paint(Style::kNote, "known to fail"));
    std::size_t shown = 0;
    for (const std::size_t which : candidate.known_cases) {
      if (++shown > kMaxRows) break;
      text += fmt::format("  {}: {}\n", oracle::CaseName(candidate.verdicts[which]),
                          OneLine(candidate.verdicts[which].reason));
    }
    if (candidate.known_cases.size() > kMaxRows) {
      text +=
          "  and " + Quantity(static_cast<std::int64_t>(candidate.known_cases.size() - kMaxRows), "more case") + "\n";
    }
    text += "\n";
  }
  for (const std::string& pattern : candidate.known_passing) {
    text += fmt::format("{}: {} is listed as known to fail\n", paint(Style::kNote, "passes now"), pattern);
  }
  return text + (candidate.known_passing.empty() ? "" : "\n");
}

// Advisories of the same kind ("bias", "outlier") once, with an example.
std::string Advisories(const CandidateReport& candidate, const Paint& paint) {
  struct Kind {
    std::int64_t count = 0;
    std::string example;
  };
  std::map<std::string, Kind> kinds;
  for (const CaseVerdict& verdict : candidate.verdicts) {
    for (const std::string& advisory : verdict.advisories) {
      const std::size_t colon = std::min(advisory.find(':'), advisory.size());
      Kind& kind = kinds[advisory.substr(0, colon)];
      if (++kind.count > 1) continue;
      const std::size_t rest = advisory.find_first_not_of(": ", colon);
      kind.example = oracle::CaseName(verdict) + ": " + (rest == std::string::npos ? advisory : advisory.substr(rest));
    }
  }
  if (kinds.empty()) return "";
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  for (const auto& [name, kind] : kinds) {
    table.AddRow({{name}, {Quantity(kind.count, "time")}, {(kind.count > 1 ? "e.g. " : "") + kind.example}});
  }
  return fmt::format("{} findings, which never decide\n{}\n", paint(Style::kNote, "advisory"), table.Render(2, paint));
}

}  // namespace

std::string FailuresText(const CheckReport& report, const CandidateReport& candidate, const TextOptions& options) {
  const Paint paint(options.color);
  const VerdictList failures = MostTellingFirst(Select(candidate, Outcome::kFail));
  std::string text;
  for (std::size_t i = 0; i < std::min(failures.size(), options.max_failures); ++i) {
    text += CaseText(*failures[i], ReplayCommand(report, candidate, *failures[i]), paint) + "\n";
  }
  if (failures.size() > options.max_failures) {
    const auto first_hidden = failures.begin() + static_cast<std::ptrdiff_t>(options.max_failures);
    text += FailuresByProblem(VerdictList(first_hidden, failures.end()), paint);
  }
  for (const Outcome outcome : {Outcome::kDied, Outcome::kRejected}) {
    text += ByReason(report, candidate, outcome, options);
  }
  return text;
}

std::string RemarksText(const CandidateReport& candidate, const TextOptions& options) {
  const Paint paint(options.color);
  return NotCompared(candidate, Outcome::kUnsupported, paint) + NotCompared(candidate, Outcome::kBlind, paint) +
         KnownText(candidate, paint) + Advisories(candidate, paint);
}

}  // namespace wgrad::report::internal
