// The text of reports, whole: what users see.
#include <gtest/gtest.h>

#include <string>

#include "core/case.h"
#include "tests/report/examples.h"

namespace wgrad::report {
namespace {

using oracle::Outcome;

constexpr const char* kCase = "n2_i5x7_c6_k3x2_o4_same_f32/normal/1";

TEST(Text, OfAPassingRun) {
  const CheckReport report =
      ReportOf("openblas", {PassingCase(kCase), PassingCase("n64_i56x56_c256_k3x3_o512_same_f32/int_a/1"),
                            PassingCase("n8_i14x14_c16_k3x3_o32_valid_bf16_f32/special/1")});
  EXPECT_EQ(ToText(report, TextOptions()), R"(wgrad 0.1.0 on Example Processor (avx2 fma)
OMP_NUM_THREADS=2

openblas, wgrad's OpenBLAS path 0.1.0 (OpenBLAS 0.3.21)

dtype     cases   elements  judged by  class from  grade  error/bound  correctly rounded  term coverage
bf16_f32      1      4,608  order      default     order       0.0312             91.2 %         99.9 %
f32           2  1,179,792  order      default     order       0.0312             91.2 %         99.9 %

bf16_f32 behaves like a chain of 37 roundings, longest sum 12,544
f32 behaves like a chain of 37 roundings, longest sum 12,544

3 cases: 3 passed, 0 failed, 0 rejected, 0 died, 0 unsupported, 0 blind, 0 known
special values: pad either; seed 1; 12.3 s

PASS openblas: 3 cases, 1,184,400 elements
)");
}

TEST(Text, OfAFailedCase) {
  EXPECT_EQ(ToText(FailingCase(kCase), "wgrad check openblas --problem X", TextOptions()),
            R"(FAIL  n2_i5x7_c6_k3x2_o4_same_f32  filling normal, seed 1
  12 of 144 elements are wrong: outside what is allowed (the bound of class order)
  all wrong elements have kh = 2

  filter_backprop                    value                  bits                          error/bound        ulp  terms
  [kh=2, kw=0, ic=3, oc=2]   actual  1.5                    0x3fc00000  error    0.25         227,273  2,097,152     70
                             exact   1.2500000000000000119  0x3fa00000  bound    1.1e-06
                             holds input[n=0, ih=2, iw=1, c=3], due is input[n=0, ih=3, iw=1, c=3]
  [kh=2, kw=1, ic=10, oc=0]  actual  -1                     0xbf800000                                            1,234
                             exact   nan                    0x7fc00000  allowed  NaN
                             NaN swallowed (a NaN, or 0 * Inf, is among the terms)
                             in run 3: one-hot sweep 3 of 64
  and 10 more wrong elements

  judged by class order (default), pad either
  96.5 % correctly rounded, largest error 1.25 ulp, term coverage 99.9 %
  error/bound  2^-20 ·····▃···█·····▆····|···▅ 2^4, largest 227,273
  bound vacuous: some element has n*u >= 1, its worst case says little
  advisory: bias: 480 of 512 errors point towards zero
  see it again:  wgrad check openblas --problem X
)");
}

TEST(Text, OfAPassedCase) {
  EXPECT_EQ(ToText(PassingCase(kCase), "", TextOptions()), R"(PASS  n2_i5x7_c6_k3x2_o4_same_f32  filling normal, seed 1
  all 144 elements pass under class order (default), pad either
  behaves like a chain of 37 roundings, longest sum 12,544
  96.5 % correctly rounded, largest error 1.25 ulp, term coverage 99.9 %
  error/bound  2^-20 ·····▃···█·····▆····|···· 2^4, largest 0.0312
)");
}

TEST(Text, OfDataOfAUsersOwnNamesTheProblemAlone) {
  oracle::CaseVerdict verdict = PassingCase(kCase);
  verdict.c.reset();
  const std::string text = ToText(verdict, "", TextOptions());
  EXPECT_EQ(text.substr(0, text.find('\n')), "PASS  n2_i5x7_c6_k3x2_o4_same_f32");
}

TEST(Text, OfAnElementThatWasNeverWritten) {
  oracle::CaseVerdict verdict = FailingCase(kCase);
  verdict.worst.front().actual_bits = PoisonBits(DType::kFloat32);
  EXPECT_NE(ToText(verdict, "", TextOptions()).find("actual  never written"), std::string::npos);
}

TEST(Text, OfAFailingRunShowsFirstFailuresWholeAndTheRestByProblem) {
  CheckReport report = ReportOf("./mine.so", {PassingCase(kCase), FailingCase("n1_i5x7_c6_k3x2_o4_same_f32/normal/1"),
                                              FailingCase("n2_i5x7_c6_k3x2_o4_same_f32/wide/1"),
                                              FailingCase("n3_i5x7_c6_k3x2_o4_same_f32/wide/1"),
                                              FailingCase("n3_i5x7_c6_k3x2_o4_same_f32/tiny/1")});
  for (oracle::CaseVerdict& verdict : report.candidates[0].verdicts) verdict.worst.clear();
  EXPECT_EQ(ToText(report, {.color = false, .max_failures = 1}), R"(wgrad 0.1.0 on Example Processor (avx2 fma)
OMP_NUM_THREADS=2

./mine.so, wgrad's OpenBLAS path 0.1.0 (OpenBLAS 0.3.21)

FAIL  n1_i5x7_c6_k3x2_o4_same_f32  filling normal, seed 1
  12 of 144 elements are wrong: outside what is allowed (the bound of class order)
  all wrong elements have kh = 2
  judged by class order (default), pad either
  96.5 % correctly rounded, largest error 1.25 ulp, term coverage 99.9 %
  error/bound  2^-20 ·····▃···█·····▆····|···▅ 2^4, largest 227,273
  bound vacuous: some element has n*u >= 1, its worst case says little
  advisory: bias: 480 of 512 errors point towards zero
  see it again:  wgrad check ./mine.so --problem n1_i5x7_c6_k3x2_o4_same_f32 --filling normal --seed 1

3 more failed cases by problem

  problem                      cases  wrong elements  error/bound  fillings
  n2_i5x7_c6_k3x2_o4_same_f32      1              12      227,273  wide
  n3_i5x7_c6_k3x2_o4_same_f32      2              24      227,273  wide tiny

advisory findings, which never decide
  bias  4 times  e.g. n1_i5x7_c6_k3x2_o4_same_f32/normal/1: 480 of 512 errors point towards zero

dtype  cases  elements  judged by  class from  grade  error/bound  correctly rounded  term coverage
f32        5       720  order      default     fail       227,273             91.2 %         99.9 %

f32 bound vacuous in 4 cases: some element has n*u >= 1, its worst case says little

5 cases: 1 passed, 4 failed, 0 rejected, 0 died, 0 unsupported, 0 blind, 0 known
special values: pad either; seed 1; 12.3 s

FAIL ./mine.so: 4 of 5 cases went wrong, 720 elements
)");
}

TEST(Text, ShowsOneFailureOfEachProblemFirstTheSmallestBefore) {
  const char* const large = "n8_i28x28_c32_k3x3_o32_same_f32";
  const char* const small = "n1_i1x3_c1_k1x1_o1_s1x2_valid_f32";
  std::vector<oracle::CaseVerdict> verdicts;
  for (const char* problem : {large, small}) {
    for (const char* filling : {"/int_a/1", "/normal/1", "/coded/1"}) {
      verdicts.push_back(FailingCase(std::string(problem) + filling));
    }
  }
  const std::string text = ToText(ReportOf("kernel", verdicts), {.max_failures = 4});
  const auto at = [&text](const std::string& problem, const std::string& filling) {
    return text.find("FAIL  " + problem + "  filling " + filling);
  };
  EXPECT_LT(at(small, "int_a"), at(large, "int_a"));
  EXPECT_LT(at(large, "int_a"), at(small, "coded"));
  EXPECT_LT(at(small, "coded"), at(large, "coded"));
  EXPECT_NE(at(large, "coded"), std::string::npos);
  EXPECT_EQ(at(small, "normal"), std::string::npos);
}

TEST(Text, GroupsWhatDidNotCompareByReason) {
  const CheckReport report =
      ReportOf("mine", {OtherCase("n1_i5x7_c6_k3x2_o4_same_f32/wide/1", Outcome::kDied, "killed by signal 11"),
                        OtherCase("n1_i5x7_c6_k3x2_o4_same_f32/tiny/1", Outcome::kDied, "killed by signal 11"),
                        OtherCase("n1_i5x7_c6_k3x2_o4_same_f32/huge/1", Outcome::kRejected, "\"no\x1b[2J\nthanks\""),
                        OtherCase("n1_i5x7_c6_k3x2_o4_same_f64/wide/1", Outcome::kUnsupported, "dtype f64"),
                        OtherCase("n1_i5x7_c6_k3x2_o4_g2_same_f32/wide/1", Outcome::kUnsupported, "groups"),
                        OtherCase("n1_i5x7_c6_k3x2_o4_g2_same_f32/tiny/1", Outcome::kUnsupported, "groups"),
                        OtherCase("n1_i5x7_c6_k3x2_o4_same_f16/wide/1", Outcome::kBlind, "no term would be missed")});
  EXPECT_EQ(ToText(report, TextOptions()), R"(wgrad 0.1.0 on Example Processor (avx2 fma)
OMP_NUM_THREADS=2

mine, wgrad's OpenBLAS path 0.1.0 (OpenBLAS 0.3.21)

DIED  n1_i5x7_c6_k3x2_o4_same_f32/wide/1: killed by signal 11
  and 1 more case for the same reason
  see it again:  wgrad check mine --problem n1_i5x7_c6_k3x2_o4_same_f32 --filling wide --seed 1

REJECTED  n1_i5x7_c6_k3x2_o4_same_f32/huge/1: "no [2J thanks"
  see it again:  wgrad check mine --problem n1_i5x7_c6_k3x2_o4_same_f32 --filling huge --seed 1

3 cases unsupported
  2  groups
  1  dtype f64

1 case blind
  1  no term would be missed

7 cases: 0 passed, 0 failed, 1 rejected, 2 died, 3 unsupported, 1 blind, 0 known
special values: pad either; seed 1; 12.3 s

FAIL mine: 3 of 7 cases went wrong, 0 elements
)");
}

TEST(Text, TellsKnownFailuresFromNewOnes) {
  CheckReport report = ReportOf("mine", {FailingCase(kCase), PassingCase("n1_i5x7_c6_k3x2_o4_same_f32/wide/1")});
  CandidateReport& candidate = report.candidates[0];
  candidate.verdicts[0].advisories.clear();
  candidate.known_cases = {0};
  candidate.known_passing = {"n1_*"};
  candidate.counts.failed = 0;
  candidate.counts.known = 1;
  const std::string text = ToText(report, TextOptions());
  EXPECT_NE(text.find(R"(
1 case known to fail
  n2_i5x7_c6_k3x2_o4_same_f32/normal/1: 12 of 144 elements are wrong: outside what is allowed (the bound of class order)

passes now: n1_* is listed as known to fail
)"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("FAIL"), std::string::npos) << text;
  EXPECT_NE(text.find("\nPASS mine: 2 cases, 288 elements\n"), std::string::npos) << text;
}

TEST(Text, OfSeveralVariantsEndsWithTheTotal) {
  CheckReport report = ReportOf("onednn", {PassingCase(kCase)});
  report.candidates.push_back(ReportOf("onednn:plain", {OtherCase(kCase, Outcome::kDied, "exit 3")}).candidates[0]);
  report.candidates[0].argument = "onednn:blocked";
  const std::string text = ToText(report, TextOptions());
  const std::size_t first = text.find("\nPASS onednn:blocked: 1 case, 144 elements\n");
  const std::size_t second = text.find("\nFAIL onednn:plain: 1 of 1 case went wrong, 0 elements\n");
  const std::size_t total = text.find("\nFAIL onednn: 1 of 2 cases went wrong, 144 elements\n");
  EXPECT_TRUE(first < second && second < total && total != std::string::npos) << text;
}

TEST(Text, SaysWhereNothingWasComparedAndWhereItWasInterrupted) {
  CheckReport report = ReportOf("mine", {OtherCase(kCase, Outcome::kUnsupported, "dtype f32")});
  report.interrupted = true;
  const std::string text = ToText(report, TextOptions());
  EXPECT_NE(text.find("\ninterrupted: the cases above are those finished by then\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nNOTHING COMPARED mine: 1 case, of which none was judged\n"), std::string::npos) << text;
}

TEST(Text, HasColoursOnlyWhereAskedFor) {
  const CheckReport report = ReportOf("mine", {FailingCase(kCase), PassingCase(kCase)});
  const std::string plain = ToText(report, {.color = false});
  std::string colored = ToText(report, {.color = true});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  std::size_t codes = 0;
  for (std::size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) - at + 1);
    ++codes;
  }
  EXPECT_GT(codes, 40u);
  EXPECT_EQ(colored, plain);
}

TEST(Text, OfABatteryShowsFailuresWholeAndALineForEveryOtherCase) {
  const std::string text = ToText(oracle::BatteryVerdict{
      {PassingCase(kCase), FailingCase("n2_i5x7_c6_k3x2_o4_same_f32/wide/1"),
       OtherCase("n2_i5x7_c6_k3x2_o4_same_f32/tiny/1", Outcome::kBlind, "no term would be missed")}});
  EXPECT_EQ(text.find("FAIL  n2_i5x7_c6_k3x2_o4_same_f32  filling wide, seed 1\n"), 0u) << text;
  EXPECT_NE(text.find("\n\nPASS  n2_i5x7_c6_k3x2_o4_same_f32/normal/1\n"
                      "BLIND  n2_i5x7_c6_k3x2_o4_same_f32/tiny/1: no term would be missed\n"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace wgrad::report
