// The plugin of docs/plugin.md and the adapter of docs/protocol.md, as printed there.
#include <gtest/gtest.h>

#include "candidates/process/process_candidate.h"
#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

TEST(DocumentedPlugin, EqualsTheReferenceOnIntegers) {
  const Result<OpenedVariants> info = Open(TestPlugin("documented"));
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->opened.at(0).greeting.greeting.name, "mine");
  const auto candidate = info->opened.at(0).make();
  std::int64_t compared = 0;
  for (const char* text : {"n2_i5x7_c6_k3x2_o4_g2_same_f32", "n1_i6x5_c4_k2x3_o6_s2x1_d1x2_g2_pt1b0l2r3_f32"}) {
    compared += ExpectExact(*candidate, TheProblem(text));
  }
  EXPECT_EQ(compared, 72 + 72);
}

TEST(DocumentedAdapter, EqualsTheReferenceOnIntegers) {
  const Result<OpenedProcess> opened = OpenProcess({{WGRAD_PYTHON, WGRAD_DOCUMENTED_ADAPTER}}, {});
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const Greeting& greeting = opened->greeting.greeting;
  EXPECT_EQ(greeting.name, "python");
  EXPECT_EQ(greeting.declaration.accuracy_class.at("f32"), "wide:f64");
  const auto candidate = opened->make();
  std::int64_t compared = 0;
  for (const char* text :
       {"n2_i5x7_c3_k3x2_o4_same_f32", "n1_i6x5_c2_k2x3_o3_s2x1_d1x2_pt1b0l2r3_f32", "n0_i2x2_c1_k1x1_o2_valid_f32"}) {
    compared += ExpectExact(*candidate, TheProblem(text));
  }
  EXPECT_EQ(compared, 72 + 36 + 2);
}

}  // namespace
}  // namespace wgrad::candidates
