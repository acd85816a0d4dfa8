#include <gtest/gtest.h>

#include <string>

#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

constexpr const char* kProblems[] = {
    "n2_i5x7_c6_k3x2_o4_same_f32",           "n2_i5x7_c6_k3x2_o4_same_nchw_f32",
    "n1_i9x8_c4_k3x3_o8_s2x2_same_f32",      "n1_i8x10_c6_k2x3_o4_s2x1_d1x2_g2_same_f32",
    "n1_i8x10_c6_k2x3_o6_g6_valid_nchw_f32", "n2_i6x6_c16_k3x3_o16_d2x1_pt1b2l0r3_f32",
    "n1_i7x7_c17_k1x1_o9_valid_f32",         "n0_i4x4_c2_k3x3_o2_same_f32",
};

TEST(OneDnn, AllVariantsEqualTheReferenceOnIntegers) {
  const Result<OpenedVariants> info = Open(WGRAD_ONEDNN_PLUGIN);
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->opened.at(0).greeting.greeting.name, "onednn");
  EXPECT_FALSE(info->opened.at(0).greeting.greeting.version.empty());
  ASSERT_GE(info->opened.size(), 3u);
  std::int64_t compared = 0;
  for (const OpenedProcess& variant : info->opened) {
    const auto candidate = variant.make();
    for (const char* text : kProblems) {
      SCOPED_TRACE(variant.variant);
      compared += ExpectExact(*candidate, TheProblem(text));
    }
  }
  EXPECT_EQ(compared, static_cast<std::int64_t>(info->opened.size()) * (144 + 144 + 288 + 72 + 36 + 2304 + 153 + 36));
}

TEST(OneDnn, SaysUnsupportedWhereItHasNoKernel) {
  const Result<OpenedVariants> info = Open(WGRAD_ONEDNN_PLUGIN);
  ASSERT_TRUE(info.ok()) << info.error().message;
  const auto candidate = info->opened.at(0).make();
  EXPECT_FALSE(candidate->greeting().capabilities.dtypes.contains("f64"));
  const Answer answer = Answered(*candidate, TheProblem("n1_i4x4_c2_k3x3_o0_same_f32"));
  EXPECT_EQ(answer.kind, AnswerKind::kUnsupported) << answer.message;
}

}  // namespace
}  // namespace wgrad::candidates
