// What holds for all fillings: shapes, finiteness, seeds, data that never drift, batteries, empty problems.
#include "oracle/fillings.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "tests/oracle/fillings_support.h"

namespace wgrad::oracle {
namespace {

std::uint64_t HashOf(const FilledCase& filled) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (int run = 0; run < filled.run_count(); ++run) {
    const Data data = filled.MakeRun(run);
    for (const Tensor* tensor : {&data.input, &data.out_backprop}) {
      for (const std::byte byte : tensor->bytes()) {
        hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
      }
    }
  }
  return hash;
}

TEST(Fillings, EveryRunHasTheProblemsShapesAndOnlySpecialIsNotFinite) {
  int tensors = 0;
  for (const Problem& p : Table()) {
    for (int f = 0; f < kFillingCount; ++f) {
      const auto filling = static_cast<Filling>(f);
      const FilledCase filled({p, filling, 5});
      EXPECT_FALSE(DescriptionOf(filling).empty());
      for (int run = 0; run < filled.run_count(); ++run) {
        const Data data = filled.MakeRun(run);
        ASSERT_EQ(data.input.shape(), p.input_shape());
        ASSERT_EQ(data.out_backprop.shape(), p.out_backprop_shape());
        ASSERT_EQ(data.input.dtype(), p.dtype());
        ASSERT_EQ(data.out_backprop.dtype(), p.dtype());
        ASSERT_EQ(data.label.empty(), filled.run_count() == 1 && filling != Filling::kOneHot &&
                                          filling != Filling::kCoded && filling != Filling::kSpecial)
            << NameOf(filling);
        if (filling == Filling::kSpecial) continue;
        for (const Tensor* tensor : {&data.input, &data.out_backprop}) {
          for (std::int64_t i = 0; i < tensor->element_count(); ++i) ASSERT_TRUE(std::isfinite(tensor->value(i)));
          ++tensors;
        }
      }
    }
  }
  EXPECT_GT(tensors, 5000);
}

TEST(Fillings, SeedsChangeTheDataAndNothingElseDoes) {
  const Problem p = P(std::string(kGeometries[0]) + "f32");
  const std::set<Filling> fixed = {Filling::kStair, Filling::kHuge};  // built, not drawn
  for (int f = 0; f < kFillingCount; ++f) {
    const auto filling = static_cast<Filling>(f);
    const std::uint64_t hash = HashOf(FilledCase({p, filling, 1}));
    EXPECT_EQ(hash, HashOf(FilledCase({p, filling, 1}))) << NameOf(filling);
    EXPECT_EQ(hash == HashOf(FilledCase({p, filling, 2})), fixed.contains(filling)) << NameOf(filling);
  }
}

TEST(Fillings, DataNeverDrift) {
  struct Golden {
    const char* text;
    std::uint64_t hash;
  };
  constexpr Golden kGoldens[] = {
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/int_a/17", 0xf9c90201bb640602},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/int_o/17", 0x3bd4aa73404cc2b8},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/one_hot/17", 0x6715cf2bd7bec77c},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/coded/17", 0xead60c015e7aca65},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/normal/17", 0x2b8c62198b3f615a},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/positive/17", 0xf543f12b21799d52},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/stair/17", 0xf174ef11f8fea292},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/cancel/17", 0xc0e68d6a4d5f6b82},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/wide/17", 0x6418f5b05323d168},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/tiny/17", 0x5029806d242f5fe6},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/huge/17", 0x9f869b50ac4834dd},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/special/17", 0x89196963638ffdc9},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/local/17", 0x68dcb198b7746213},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/symmetry/17", 0x1d2bd272d1d1eefd},
      {"n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32/partition/17", 0xc7de0cd7081a4d7d},
      {"n2_i9x8_c3_k3x4_o5_d2x1_same_nchw_f16/normal/1", 0xdb8c37d829c7664f},
      {"n2_i9x8_c3_k3x4_o5_d2x1_same_nchw_f16/int_o/1", 0x625333b99331fa69},
      {"n2_i9x8_c3_k3x4_o5_d2x1_same_nchw_f16/tiny/1", 0xe1aa96af30ba6cd6},
      {"n2_i9x8_c3_k3x4_o5_d2x1_same_nchw_f16/wide/1", 0x845be56adc4e30cb},
      {"n2_i9x8_c3_k3x4_o5_d2x1_same_nchw_f16/symmetry/1", 0x18523c7802698151},
      {"n2_i20x20_c3_k3x3_o5_pt2b0l1r3_bf16/int_o/9223372036854775809", 0xd2e0774a07a69ae0},
      {"n2_i20x20_c3_k3x3_o5_pt2b0l1r3_bf16/one_hot/9223372036854775809", 0x734ec5cb1cf48301},
      {"n2_i20x20_c3_k3x3_o5_pt2b0l1r3_bf16/tiny/9223372036854775809", 0xb8dcc4f35d769892},
      {"n2_i20x20_c3_k3x3_o5_pt2b0l1r3_bf16/cancel/9223372036854775809", 0x5f40c951c1a52717},
      {"n1_i5x6_c4_k3x3_o4_s2x2_valid_f64/int_a/0", 0xf8a8bdf4f596597b},
      {"n1_i5x6_c4_k3x3_o4_s2x2_valid_f64/normal/0", 0x85b9bf066ae87544},
      {"n1_i5x6_c4_k3x3_o4_s2x2_valid_f64/huge/0", 0x1faee609c53a8830},
      {"n1_i5x6_c4_k3x3_o4_s2x2_valid_f64/special/0", 0xd668352a436ab8f8},
  };
  for (const Golden& golden : kGoldens) {
    EXPECT_EQ(HashOf(FilledCase(ParseCase(golden.text).value())), golden.hash)
        << golden.text << std::hex << " gives 0x" << HashOf(FilledCase(ParseCase(golden.text).value()));
  }
}

TEST(Fillings, CopeWithNothing) {
  for (const char* text :
       {"n0_i4x4_c2_k3x3_o2_same_f32", "n2_i4x4_c2_k3x3_o0_same_f32", "n1_i4x4_c2_k5x3_o1_valid_f32",
        "n1_i0x4_c2_k3x3_o2_same_f32", "n1_i4x4_c2_k0x0_o2_valid_f32", "n1_i0x0_c1_k2x2_o1_pt2b2l2r2_f32"}) {
    const Problem p = P(text);
    for (int f = 0; f < kFillingCount; ++f) {
      const FilledCase filled({p, static_cast<Filling>(f), 1});
      EXPECT_GE(filled.run_count(), 1);
      for (int run = 0; run < filled.run_count(); ++run) {
        EXPECT_EQ(filled.MakeRun(run).input.shape(), p.input_shape()) << text;
      }
    }
  }
}

TEST(Battery, FollowsTheProblemsSizeAndDType) {
  using enum Filling;
  const std::vector<Filling> small = Battery(P("n1_i5x5_c1_k3x3_o1_same_f32"), {});
  EXPECT_EQ(small,
            (std::vector{kIntA, kOneHot, kNormal, kPositive, kSpecial, kHuge, kCancel, kWide, kTiny, kLocal, kStair}));
  const std::vector<Filling> half = Battery(P("n1_i5x5_c1_k3x3_o1_same_f16_f32"), {.deterministic = true});
  EXPECT_EQ(half, (std::vector{kIntA, kIntO, kOneHot, kNormal, kPositive, kSpecial, kHuge, kCancel, kWide, kTiny,
                               kLocal, kStair, kSymmetry}));
  const std::vector<Filling> large = Battery(P("n8_i56x56_c64_k3x3_o256_same_f32"), {.deterministic = true});
  EXPECT_EQ(large, (std::vector{kIntA, kOneHot, kNormal, kPositive, kSpecial, kHuge}));
  for (const char* text : {"n0_i4x4_c2_k3x3_o2_same_f32", "n2_i4x4_c2_k3x3_o0_same_f32"}) {
    EXPECT_EQ(Battery(P(text), {.deterministic = true}), (std::vector{kIntA, kSpecial}));
  }
}

}  // namespace
}  // namespace wgrad::oracle
