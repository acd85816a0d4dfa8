// `wgrad describe` and `wgrad list`.
#include <gtest/gtest.h>

#include "core/case.h"
#include "tests/cli/program.h"

namespace wgrad::test {
namespace {

std::string Describe(const std::string& problem) {
  const Finished finished = Wgrad({"describe", problem});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return finished.out;
}

void ExpectLines(const std::string& text, const Words& lines) {
  for (const std::string& line : lines)
    EXPECT_NE(text.find(line), std::string::npos) << "lacks\n" << line << "\nin\n" << text;
}

TEST(Describe, ShowsGeometryByTheNumbers) {
  // Rows: 5 + 3 - 1 at stride 1: pads 1 and 1. Columns: filter 2 at stride 1: pads 0 and 1, so the second tap reads 6
  // of 7. The outer row taps read 4 of 5.
  ExpectLines(Describe("n2_i5x7_c6_k3x2_o4_same_f32"),
              {"input            [2, 5, 7, 6] f32 (n, h, w, c)", "out_backprop     [2, 5, 7, 4] f32",
               "filter_backprop  [3, 2, 6, 4] f32", "top 1, bottom 1, left 0, right 1 (SAME)", "48 to 70 an element",
               "multiply-adds    10080", "int_a", "order, for 70 terms an error of at most 70"});
}

TEST(Describe, WritesTensorFlowsCall) {
  ExpectLines(Describe("n1_i4x4_c2_k2x2_o2_s2x1_pt5b0l0r5_nchw_bf16"),
              {"tf.random.normal([1, 2, 4, 4]), tf.bfloat16)", "filter_sizes=[2, 2, 2, 2]", "strides=[1, 1, 2, 1]",
               "padding=\"EXPLICIT\", explicit_paddings=[0, 0, 0, 0, 5, 0, 0, 5]", "data_format=\"NCHW\""});
}

TEST(Describe, PadsBeforePyTorchsCallOnlyWherePaddingIsUneven) {
  ExpectLines(Describe("n2_i5x7_c6_k3x2_o4_same_f32"),
              {"F.pad(input, (0, 1, 1, 1))", "input, [4, 6, 3, 2], out_backprop", "padding=(0, 0)"});
  const std::string even = Describe("n2_i5x7_c6_k3x3_o4_g2_same_f64");
  ExpectLines(even, {"padding=(1, 1)", "groups=2", "torch.float64"});
  EXPECT_EQ(even.find("F.pad("), std::string::npos);
}

TEST(Describe, CountsBenchdnnsDilationsFromZero) {
  ExpectLines(Describe("n3_i9x8_c6_k3x4_o10_d2x1_g2_same_f32"), {"--dt=f32:f32:f32 --stag=axb --wtag=hwigo --dtag=axb "
                                                                 "g2mb3ic6ih9iw8oc10oh9ow8kh3kw4sh1sw1ph2pw1dh1dw0"});
}

TEST(Describe, KnowsProblemsWithoutElements) {
  ExpectLines(Describe("n0_i5x7_c6_k3x2_o4_same_f32"), {"0 to 0 an element"});
  ExpectLines(Describe("n2_i5x7_c6_k0x2_o4_valid_f32"), {"multiply-adds    0"});
}

TEST(List, NamesEverythingThatOtherCommandsTake) {
  const std::string fillings = Wgrad({"list", "fillings"}).out;
  for (int filling = 0; filling < kFillingCount; ++filling) {
    EXPECT_NE(("\n" + fillings).find("\n" + std::string(NameOf(static_cast<Filling>(filling))) + " "),
              std::string::npos);
  }
  ExpectLines(Wgrad({"list", "candidates"}).out, {"openblas ", "reference ", "onednn ", "mutant:"});
  if (kHasOneDnn) ExpectLines(Wgrad({"list", "candidates"}).out, {"onednn:plain ", "onednn:any "});
  ExpectLines(Wgrad({"list", "suites"}).out, {"smoke ", "traps "});
  ExpectLines(Wgrad({"list", "classes"}).out, {"cr ", "faithful ", "order ", "tensor "});
}

}  // namespace
}  // namespace wgrad::test
