#include <gtest/gtest.h>

#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

TEST(ExamplePlugin, EqualsTheReferenceOnIntegers) {
  const Result<OpenedVariants> info = Open(WGRAD_EXAMPLE_PLUGIN);
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->opened.at(0).greeting.greeting.name, "example");
  const auto candidate = info->opened.at(0).make();
  std::int64_t compared = 0;
  for (const char* text :
       {"n2_i5x7_c6_k3x2_o4_g2_same_f32", "n1_i6x5_c4_k2x3_o6_s2x1_d1x2_g2_pt1b0l2r3_nchw_f64",
        "n1_i4x4_c2_k3x3_o3_s2x2_same_f64", "n0_i4x4_c2_k3x3_o3_valid_f32", "n1_i2x2_c1_k3x3_o2_valid_nchw_f32"}) {
    compared += ExpectExact(*candidate, TheProblem(text));
  }
  EXPECT_EQ(compared, 72 + 72 + 54 + 54 + 18);
}

TEST(WrongPlugin, IsWrongExactlyWhereSamePaddingIsOdd) {
  const Result<OpenedVariants> info = Open(WGRAD_WRONG_PLUGIN);
  ASSERT_TRUE(info.ok()) << info.error().message;
  const auto candidate = info->opened.at(0).make();
  EXPECT_EQ(ExpectExact(*candidate, TheProblem("n2_i5x7_c6_k3x3_o4_g2_same_f32")), 3 * 3 * 3 * 4);
  EXPECT_EQ(ExpectExact(*candidate, TheProblem("n2_i6x6_c2_k2x2_o4_s2x1_d1x2_valid_f32")), 2 * 2 * 2 * 4);
  const Problem odd = TheProblem("n2_i5x7_c2_k3x2_o4_same_f32");
  const Data data = DataFor(odd);
  const Answer answer = candidate->FilterGradient(odd, data.input, data.out_backprop);
  ASSERT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
  EXPECT_GT(Differences(answer.result, data.exact), 0);
}

}  // namespace
}  // namespace wgrad::candidates
