// Counts, the verdict's word and the words that show a case again.
#include <gtest/gtest.h>

#include "tests/report/examples.h"

namespace wgrad::report {
namespace {

TEST(VerdictWord, IsFailWhereAnythingWentWrong) {
  EXPECT_EQ(VerdictWord({.cases = 2, .passed = 1, .failed = 1}), "fail");
  EXPECT_EQ(VerdictWord({.cases = 2, .passed = 1, .rejected = 1}), "fail");
  EXPECT_EQ(VerdictWord({.cases = 2, .passed = 1, .died = 1}), "fail");
}

TEST(VerdictWord, IsNeverPassWhereNothingWasCompared) {
  EXPECT_EQ(VerdictWord({}), "nothing-compared");
  EXPECT_EQ(VerdictWord({.cases = 2, .unsupported = 1, .blind = 1}), "nothing-compared");
  EXPECT_EQ(VerdictWord({.cases = 2, .passed = 1, .unsupported = 1}), "pass");
  EXPECT_EQ(VerdictWord({.cases = 1, .known = 1}), "pass");
}

TEST(TotalCounts, AddsEveryCountOfEveryCandidate) {
  CheckReport report;
  report.candidates.resize(2);
  report.candidates[0].counts = {10, 1, 2, 3, 4, 5, 6, 7, 8};
  report.candidates[1].counts = {100, 10, 20, 30, 40, 50, 60, 70, 80};
  const Counts total = TotalCounts(report);
  EXPECT_EQ(total.cases, 110);
  EXPECT_EQ(total.passed, 11);
  EXPECT_EQ(total.failed, 22);
  EXPECT_EQ(total.unsupported, 33);
  EXPECT_EQ(total.rejected, 44);
  EXPECT_EQ(total.died, 55);
  EXPECT_EQ(total.blind, 66);
  EXPECT_EQ(total.known, 77);
  EXPECT_EQ(total.elements, 88);
}

TEST(ReplayCommand, NamesCandidateProblemFillingAndSeed) {
  const CheckReport report =
      ReportOf("openblas", {PassingCase("n2_i5x7_c6_k3x2_o4_same_f32/normal/18446744073709551615")});
  EXPECT_EQ(ReplayCommand(report, report.candidates[0], report.candidates[0].verdicts[0]),
            "wgrad check openblas --problem n2_i5x7_c6_k3x2_o4_same_f32 --filling normal --seed 18446744073709551615");
}

TEST(ReplayCommand, RepeatsTheJudgingThatTheCommandLineAskedFor) {
  CheckReport report = ReportOf("it's mine.so", {PassingCase("n2_i5x7_c6_k3x2_o4_same_f32/normal/1")});
  oracle::CaseVerdict& verdict = report.candidates[0].verdicts[0];
  verdict.judging.accuracy_class.kind = oracle::ClassKind::kCr;
  verdict.judging.class_source = "command line";
  verdict.judging.policy = {oracle::PadPolicy::kSkip, true, true, false, false};
  report.command = "wgrad check mine --class cr --pad=skip --ftz";
  EXPECT_EQ(ReplayCommand(report, report.candidates[0], verdict),
            "wgrad check 'it'\\''s mine.so' --problem n2_i5x7_c6_k3x2_o4_same_f32 --filling normal --seed 1 --class cr "
            "--pad skip --ftz");
}

TEST(ReplayCommand, IsEmptyForDataOfAUsersOwn) {
  CheckReport report = ReportOf("mine", {PassingCase("n2_i5x7_c6_k3x2_o4_same_f32/normal/1")});
  report.candidates[0].verdicts[0].c.reset();
  EXPECT_EQ(ReplayCommand(report, report.candidates[0], report.candidates[0].verdicts[0]), "");
}

}  // namespace
}  // namespace wgrad::report
