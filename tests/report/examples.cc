#include "tests/report/examples.h"

#include <limits>
#include <utility>

#include "core/case.h"

namespace wgrad::report {
namespace {

using oracle::CaseVerdict;
using oracle::ElementFinding;
using oracle::Outcome;

CaseVerdict CaseOf(std::string_view text) {
  CaseVerdict verdict;
  verdict.c = ParseCase(text).value();
  verdict.problem = verdict.c->problem;
  verdict.judging.class_source = "default";
  verdict.runs = 1;
  return verdict;
}

ElementFinding WrongSum() {
  ElementFinding finding;
  finding.index = {2, 0, 3, 2};
  finding.actual_bits = 0x3fc00000;
  finding.exact_bits = 0x3fa00000;
  finding.actual_decimal = "1.5";
  finding.exact_decimal = "1.2500000000000000119";
  finding.error_decimal = "0.25";
  finding.bound_decimal = "1.1e-06";
  finding.bound_ratio = 227272.7;
  finding.ulps = 2097152;
  finding.condition = 2;
  finding.terms = 70;
  finding.wrong = true;
  finding.rule = "outside what is allowed (the bound of class order)";
  finding.allowed = "[1.2499989, 1.2500011]";
  finding.read = "holds input[n=0, ih=2, iw=1, c=3], due is input[n=0, ih=3, iw=1, c=3]";
  return finding;
}

ElementFinding SwallowedNaN() {
  ElementFinding finding;
  finding.index = {2, 1, 10, 0};
  finding.run = 3;
  finding.run_label = "one-hot sweep 3 of 64";
  finding.actual_bits = 0xbf800000;
  finding.exact_bits = 0x7fc00000;
  finding.actual_decimal = "-1";
  finding.exact_decimal = "nan";
  finding.bound_ratio = std::numeric_limits<double>::infinity();
  finding.terms = 1234;
  finding.wrong = true;
  finding.rule = "NaN swallowed (a NaN, or 0 * Inf, is among the terms)";
  finding.allowed = "NaN";
  return finding;
}

void CountOne(const CaseVerdict& verdict, Counts& counts) {
  ++counts.cases;
  counts.elements += verdict.statistics.elements;
  counts.passed += verdict.outcome == Outcome::kPass ? 1 : 0;
  counts.failed += verdict.outcome == Outcome::kFail ? 1 : 0;
  counts.unsupported += verdict.outcome == Outcome::kUnsupported ? 1 : 0;
  counts.rejected += verdict.outcome == Outcome::kRejected ? 1 : 0;
  counts.died += verdict.outcome == Outcome::kDied ? 1 : 0;
  counts.blind += verdict.outcome == Outcome::kBlind ? 1 : 0;
}

}  // namespace

CaseVerdict PassingCase(std::string_view text) {
  CaseVerdict verdict = CaseOf(text);
  oracle::Statistics& statistics = verdict.statistics;
  statistics.elements = verdict.problem->filter_count();
  statistics.finite = statistics.elements;
  statistics.correctly_rounded = statistics.elements - 5;
  statistics.max_ulp = 1.25;
  statistics.max_bound_ratio = 0.03125;
  statistics.achieved_depth = 37;
  statistics.max_terms = 12544;
  statistics.terms = 100000;
  statistics.covered_terms = 99999;
  statistics.ratio_histogram[5] = 3;
  statistics.ratio_histogram[9] = 100;
  statistics.ratio_histogram[15] = 30;
  verdict.seconds = 0.25;
  return verdict;
}

CaseVerdict FailingCase(std::string_view text) {
  CaseVerdict verdict = PassingCase(text);
  verdict.outcome = Outcome::kFail;
  verdict.wrong_elements = 12;
  verdict.worst = {WrongSum(), SwallowedNaN()};
  verdict.reason =
      "12 of " + std::to_string(verdict.statistics.elements) + " elements are wrong: " + verdict.worst.front().rule;
  verdict.pattern = "all wrong elements have kh = 2";
  verdict.statistics.ratio_histogram[23] = 12;
  verdict.statistics.max_bound_ratio = 227272.7;
  verdict.statistics.vacuous = true;
  verdict.advisories = {"bias: 480 of 512 errors point towards zero"};
  return verdict;
}

CaseVerdict OtherCase(std::string_view text, Outcome outcome, std::string_view reason) {
  CaseVerdict verdict = CaseOf(text);
  verdict.outcome = outcome;
  verdict.reason = reason;
  return verdict;
}

CheckReport ReportOf(std::string_view candidate, std::vector<CaseVerdict> verdicts) {
  CandidateReport entry;
  entry.argument = candidate;
  entry.greeting.name = "wgrad's OpenBLAS path";
  entry.greeting.version = "0.1.0";
  entry.greeting.libraries = {{"OpenBLAS", "0.3.21"}};
  for (const CaseVerdict& verdict : verdicts) {
    CountOne(verdict, entry.counts);
    if (verdict.statistics.elements == 0) continue;
    DTypeGrade& grade = entry.grades[DTypeTag(*verdict.problem)];
    const bool failed = verdict.outcome == Outcome::kFail || grade.grade == "fail";
    grade = {failed ? "fail" : "order", verdict.statistics.max_bound_ratio, 37, 12544, 0.9126, "order", "default"};
  }
  entry.verdicts = std::move(verdicts);
  CheckReport report;
  report.environment = {"0.1.0", "Example Processor", "avx2 fma", {{"OMP_NUM_THREADS", "2"}}};
  report.command = "wgrad check " + entry.argument;
  report.candidate = candidate;
  report.candidates = {std::move(entry)};
  report.policy = "pad either";
  report.seconds = 12.34;
  return report;
}

}  // namespace wgrad::report
