// one_hot, coded and special keep the promises of docs/fillings.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "oracle/fillings.h"
#include "tests/oracle/fillings_support.h"

namespace wgrad::oracle {
namespace {

// The terms, by (element, number of the term), that the runs of a probing filling meet.
std::map<std::int64_t, std::set<std::size_t>> TermsMet(const Problem& p, const FilledCase& filled) {
  std::map<std::int64_t, std::set<std::size_t>> met;
  for (int run = 0; run < filled.run_count(); ++run) {
    const Data data = filled.MakeRun(run);
    for (std::int64_t i = 0; i < p.filter_count(); ++i) {
      const Element e = SumOf(p, data, i);
      EXPECT_LE(e.nonzero, 1);
      for (std::size_t t = 0; t < e.terms.size(); ++t) {
        if (e.terms[t] != 0) met[i].insert(t);
      }
    }
  }
  return met;
}

TEST(OneHot, ProbesOnePositionPerChannelAndMeetsEachTapsFirstAndLastTerm) {
  std::int64_t elements = 0;
  for (const char* geometry : kGeometries) {
    const Problem p = P(std::string(geometry) + "f32");
    const FilledCase filled({p, Filling::kOneHot, 2});
    ASSERT_EQ(filled.run_count(), std::min<std::int64_t>(64, p.positions()));
    const auto met = TermsMet(p, filled);
    const Data run = filled.MakeRun(0);
    for (std::int64_t i = 0; i < p.filter_count(); ++i) {
      const std::size_t terms = SumOf(p, run, i).terms.size();
      if (terms == 0) continue;
      ASSERT_TRUE(met.contains(i)) << Format(p);
      EXPECT_TRUE(met.at(i).contains(0)) << Format(p) << " element " << i;
      EXPECT_TRUE(met.at(i).contains(terms - 1)) << Format(p) << " element " << i;
      if (p.positions() <= 64) {
        EXPECT_EQ(met.at(i).size(), terms) << Format(p);
      }
      ++elements;
    }
  }
  EXPECT_GT(elements, 1000);
}

TEST(OneHot, HasFullSignificandsAndModerateExponents) {
  for (const char* tag : kTags) {
    const Problem p = P(std::string("n2_i9x8_c3_k3x4_o5_d2x1_same_") + tag);
    const FilledCase filled({p, Filling::kOneHot, 1});
    for (const int run : {0, 63}) {
      const Data data = filled.MakeRun(run);
      std::map<std::int64_t, int> per_channel;
      for (std::int64_t i = 0; i < data.out_backprop.element_count(); ++i) {
        if (data.out_backprop.value(i) == 0) continue;
        ++per_channel[i % 5];
        EXPECT_EQ(data.out_backprop.bits(i) & 1, 1u);
      }
      EXPECT_EQ(per_channel.size(), 5u);
      for (const auto& [channel, count] : per_channel) EXPECT_EQ(count, 1) << channel;
      for (std::int64_t i = 0; i < data.input.element_count(); ++i) {
        ASSERT_EQ(data.input.bits(i) & 1, 1u);
        ASSERT_GE(std::fabs(data.input.value(i)), 0.25);
        ASSERT_LT(std::fabs(data.input.value(i)), 4);
      }
    }
  }
}

TEST(OneHot, SpendsFewerRunsOnLargeProblemsButMeetsTheAnchors) {
  const Problem p = P("n8_i56x56_c64_k3x3_o256_same_f32");
  const FilledCase filled({p, Filling::kOneHot, 1});
  EXPECT_LT(filled.run_count(), 64);
  EXPECT_GE(filled.run_count(), 8);  // 2 x 2 first terms, 2 x 2 last ones
}

TEST(Coded, DecodeInvertsTheCode) {
  std::int64_t decoded = 0;
  for (const Problem& p : Table()) {
    const Case c{p, Filling::kCoded, 4};
    const FilledCase filled(c);
    ASSERT_LE(filled.run_count(), 16);
    const Data run = filled.MakeRun(filled.run_count() - 1);
    for (std::int64_t i = 0; i < run.input.element_count(); ++i) {
      const double code = run.input.value(i);
      ASSERT_EQ(DecodeInputOffset(c, 0, code), i) << Format(p);
      ASSERT_EQ(DecodeInputOffset(c, 0, -code), i) << Format(p);
      ++decoded;
    }
    for (std::int64_t i = 0; i < p.filter_count(); ++i) {
      const Element e = SumOf(p, run, i);
      if (e.nonzero == 0) continue;
      const auto offset = DecodeInputOffset(c, filled.run_count() - 1, e.positive - e.negative);
      ASSERT_TRUE(offset.has_value());
    }
    const double none = p.dtype() == DType::kFloat64 || p.dtype() == DType::kFloat32 ? 1e6 : 0;
    EXPECT_EQ(DecodeInputOffset(c, 0, none), std::nullopt);
    EXPECT_EQ(DecodeInputOffset(c, 0, 0.0), std::nullopt);
    EXPECT_EQ(DecodeInputOffset(c, 0, std::nan("")), std::nullopt);
    EXPECT_EQ(DecodeInputOffset(c, filled.run_count(), run.input.value(0)), std::nullopt);
    EXPECT_EQ(DecodeInputOffset({p, Filling::kNormal, 4}, 0, run.input.value(0)), std::nullopt);
  }
  EXPECT_GT(decoded, 5000);
}

TEST(Coded, NamesNoElementWhereACodeIsUsedTwice) {
  const Case c{P("n1_i100x100_c4_k1x1_o1_valid_f16"), Filling::kCoded, 1};
  const Data run = FilledCase(c).MakeRun(0);
  const std::int64_t codes = 30 * 1024;
  EXPECT_EQ(run.input.bits(0), run.input.bits(codes));
  EXPECT_EQ(DecodeInputOffset(c, 0, run.input.value(0)), std::nullopt);
  EXPECT_EQ(DecodeInputOffset(c, 0, run.input.value(codes - 1)), codes - 1);
}

// What kinds of special values a case plants, by tensor.
struct Census {
  int nan = 0, low_payload = 0, plus_infinity = 0, minus_infinity = 0, minus_zero = 0, subnormal = 0;
  void Add(const Tensor& tensor) {
    for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
      const std::uint64_t bits = tensor.bits(i);
      const DType dtype = tensor.dtype();
      low_payload += bits == (InfinityBits(dtype, false) | 1);
      nan += IsNaN(dtype, bits) && bits != (InfinityBits(dtype, false) | 1);
      plus_infinity += bits == InfinityBits(dtype, false);
      minus_infinity += bits == InfinityBits(dtype, true);
      minus_zero += IsZero(dtype, bits) && IsNegative(dtype, bits);
      subnormal += IsSubnormal(dtype, bits);
    }
  }
  bool Complete() const {
    return nan > 0 && low_payload > 0 && plus_infinity > 0 && minus_infinity > 0 && minus_zero > 0 && subnormal > 0;
  }
};

TEST(Special, PlantsEveryKindInBothTensors) {
  for (const char* tag : kTags) {
    const Problem p = P(std::string("n2_i9x8_c5_k3x3_o5_s2x2_same_") + tag);
    const FilledCase filled({p, Filling::kSpecial, 1});
    ASSERT_EQ(filled.run_count(), 6);
    Census input, out_backprop;
    int zero_times_infinity = 0, finite = 0;
    for (int run = 0; run < filled.run_count(); ++run) {
      const Data data = filled.MakeRun(run);
      (run < 3 ? input : out_backprop).Add(run < 3 ? data.input : data.out_backprop);
      for (const Element& e : Elements(p, data)) {
        finite += std::isfinite(e.abs_sum());
        zero_times_infinity += std::any_of(e.terms.begin(), e.terms.end(), [](double t) { return std::isnan(t); });
      }
    }
    EXPECT_TRUE(input.Complete()) << tag;
    EXPECT_TRUE(out_backprop.Complete()) << tag;
    EXPECT_GT(zero_times_infinity, 0);
    EXPECT_GT(finite, 6 * static_cast<int>(p.filter_count()) / 4);
  }
}

TEST(Special, ZeroMeetsInfinityAlsoWithGroups) {
  const Problem p = P("n2_i9x8_c6_k3x3_o6_s2x2_g6_same_f32");
  const FilledCase filled({p, Filling::kSpecial, 1});
  for (const int run : {0, 3}) {  // recipe k stands in channel 5 - k, the infinity that meets a zero in channel 4
    const Data data = filled.MakeRun(run);
    int zero_times_infinity = 0;
    for (const Element& e : Elements(p, data)) {
      if (e.oc != 4) continue;
      zero_times_infinity += std::any_of(e.terms.begin(), e.terms.end(), [](double t) { return std::isnan(t); });
    }
    EXPECT_GT(zero_times_infinity, 0) << run;
  }
}

TEST(Special, LeavesAChannelCleanWhereThereAreSeveral) {
  for (const char* text : {"n1_i5x5_c2_k1x1_o2_valid_f32", "n1_i5x5_c9_k3x3_o7_same_bf16"}) {
    const Problem p = P(text);
    for (int run = 0; run < 6; ++run) {
      const std::vector<Element> elements = Elements(p, FilledCase({p, Filling::kSpecial, 1}).MakeRun(run));
      const auto clean = [run](const Element& e) { return (run < 3 ? e.ic : e.oc) != 0 || std::isfinite(e.abs_sum()); };
      EXPECT_TRUE(std::all_of(elements.begin(), elements.end(), clean)) << text << " run " << run;
    }
  }
}

TEST(Special, OneChannelStillMeetsNaNAndInfinity) {
  const Problem p = P("n1_i5x5_c1_k3x3_o1_same_f32");
  const FilledCase filled({p, Filling::kSpecial, 1});
  Census input, out_backprop;
  for (int run = 0; run < filled.run_count(); ++run) {
    const Data data = filled.MakeRun(run);
    (run < 3 ? input : out_backprop).Add(run < 3 ? data.input : data.out_backprop);
  }
  for (const Census& census : {input, out_backprop}) {
    EXPECT_GT(census.nan, 0);
    EXPECT_GT(census.low_payload, 0);
    EXPECT_GT(census.plus_infinity, 0);
  }
}

TEST(Special, PutsANaNWhereNothingReadsAndWhereOnlyPaddingMeetsIt) {
  const Problem unread = P("n1_i8x8_c2_k3x3_o2_s2x2_valid_f32");  // the last row and column
  const Data in_input = FilledCase({unread, Filling::kSpecial, 1}).MakeRun(1);
  EXPECT_TRUE(std::isnan(in_input.input.value(unread.InputOffset(0, 7, 0, 1))));
  const Problem padded = P("n1_i4x4_c2_k2x2_o2_pt5b0l0r5_f32");
  const Data in_padding = FilledCase({padded, Filling::kSpecial, 1}).MakeRun(5);
  EXPECT_TRUE(std::isnan(in_padding.out_backprop.value(padded.OutBackpropOffset(0, 0, 0, 1))));
}

}  // namespace
}  // namespace wgrad::oracle
