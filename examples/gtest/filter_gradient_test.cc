// All that judging a kernel in one's own test takes.
#include "filter_gradient.h"

#include <gtest/gtest.h>

#include "oracle/examine.h"
#include "report/report.h"

namespace my_kernels {
namespace {

wgrad::oracle::BatteryVerdict Judge(const wgrad::RawKernel& kernel, const char* problem) {
  const auto candidate = wgrad::MakeInProcessCandidate({.name = "my kernel"}, kernel);
  return wgrad::oracle::ExamineBattery(wgrad::ParseProblem(problem).value(), *candidate, {});
}

TEST(FilterGradient, IsRight) {
  const auto verdict = Judge(FilterGradient, "n2_i6x8_c3_k3x2_o4_s2x1_same_f32");
  EXPECT_TRUE(verdict.passed()) << wgrad::report::ToText(verdict);
}

TEST(FilterGradient, IsRightWithDilationAndExplicitPadding) {
  const auto verdict = Judge(FilterGradient, "n2_i7x6_c3_k2x3_o4_s1x2_d2x1_pt1b0l2r1_f32");
  EXPECT_TRUE(verdict.passed()) << wgrad::report::ToText(verdict);
}

// The other direction: a wrong kernel is refused. In a test of the form above, its report would be the message.
TEST(PadsOnTheWrongSide, IsFoundOut) {
  const auto verdict = Judge(PadsOnTheWrongSide, "n2_i6x8_c3_k3x2_o4_s2x1_same_f32");
  EXPECT_FALSE(verdict.passed());
  EXPECT_NE(wgrad::report::ToText(verdict).find("FAIL"), std::string::npos);
}

}  // namespace
}  // namespace my_kernels
