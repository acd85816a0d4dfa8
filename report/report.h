// Verdicts as text, JSON and JUnit. Installed, so that a library user's test prints the same report as the program.
// May include: core, oracle, io. fmt is private to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "oracle/examine.h"
#include "oracle/verdict.h"

namespace wgrad::report {

struct Counts {
  std::int64_t cases = 0, passed = 0, failed = 0, unsupported = 0, rejected = 0, died = 0, blind = 0, known = 0;
  std::int64_t elements = 0;
  void Add(const Counts& other);
};

/// Grade of one dtype over all its cases.
struct DTypeGrade {
  std::string grade;       // a class of the ladder, or "fail"
  double bound_ratio = 0;  // largest error / bound under the judging class
  std::int64_t achieved_depth = 0;
  std::int64_t max_terms = 0;
  double correctly_rounded = 0;  // share of the finite elements
  std::string judging_class;
  std::string class_source;
};

/// Everything about one candidate (or one variant of it).
struct CandidateReport {
  Greeting greeting;
  std::string argument;  // what the user typed: "openblas", "./libmine.so", "onednn:plain"
  Counts counts;
  std::map<std::string, DTypeGrade> grades;   // by DTypeTag
  std::vector<oracle::CaseVerdict> verdicts;  // in the order of the cases, all of them
  std::vector<std::string> known_passing;     // --known patterns whose cases pass now
  std::set<std::size_t> known_cases;          // indices into verdicts: wrong, but expected by --known
  double seconds = 0;                         // that its cases took, those in fresh processes apart
};

/// Where the run took place.
struct Environment {
  std::string version;  // wgrad's
  std::string processor;
  std::string instruction_sets;
  std::map<std::string, std::string> variables;  // the relevant ones that are set
};
Environment CurrentEnvironment();

struct CheckReport {
  std::string program = "wgrad";  // how the user starts it, for replay lines
  Environment environment;
  std::string command;                      // as typed
  std::string candidate;                    // as typed
  std::vector<CandidateReport> candidates;  // one, or one for each variant
  std::string policy;
  std::uint64_t seed = 1;
  double seconds = 0;
  bool interrupted = false;
};

/// "pass", "fail" or "nothing-compared".
std::string VerdictWord(const Counts& counts);
Counts TotalCounts(const CheckReport& report);

/// The words that `wgrad` needs to show this case again: "wgrad check CANDIDATE --problem .. --filling .. --seed ..".
std::string ReplayCommand(const CheckReport& report, const CandidateReport& candidate,
                          const oracle::CaseVerdict& verdict);

/// A word as a shell takes it.
std::string QuoteForShell(const std::string& word);
/// The options of `command` that decided how `judging` came out, each after a blank; what a candidate declares or the
/// default gives comes by itself.
std::string JudgingWords(const std::string& command, const oracle::Judging& judging);

struct TextOptions {
  bool color = false;
  std::size_t max_failures = 10;  // shown whole; the rest are counted
};
/// The report of a whole run.
std::string ToText(const CheckReport& report, const TextOptions& options);
/// One case: verdict, rule, worst elements, statistics. `replay` is its last line where not empty.
std::string ToText(const oracle::CaseVerdict& verdict, const std::string& replay, const TextOptions& options);
/// All cases of a battery; what a test prints on failure.
std::string ToText(const oracle::BatteryVerdict& battery);
std::string ToJson(const CheckReport& report);  // docs/json-report.md
std::string ToJUnit(const CheckReport& report);
/// A table with a row for each candidate, and the same with all findings as an HTML page that stands alone.
std::string ToMatrixText(const CheckReport& report, const TextOptions& options);
std::string ToMatrixHtml(const CheckReport& report);

}  // namespace wgrad::report
