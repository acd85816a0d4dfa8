// The fillings of random and of chained floats keep the promises of docs/fillings.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "oracle/fillings.h"
#include "tests/oracle/fillings_support.h"

namespace wgrad::oracle {
namespace {

TEST(Normal, HasMeanZeroVarianceOneAndIsRoundedToTheDType) {
  std::vector<double> exact;
  for (const char* tag : {"f64", "f32", "bf16", "f16"}) {
    const Problem p = P(std::string("n1_i100x100_c4_k1x1_o1_valid_") + tag);
    const Data run = FilledCase({p, Filling::kNormal, 7}).MakeRun(0);
    const std::vector<double> values = ToDoubles(run.input);
    if (exact.empty()) exact = values;  // float64 holds the values as drawn
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(run.input.bits(static_cast<std::int64_t>(i)), EncodeNearest(p.dtype(), exact[i]));
      mean += values[i];
      square += values[i] * values[i];
    }
    const auto count = static_cast<double>(values.size());
    EXPECT_LT(std::fabs(mean / count), 4 / std::sqrt(count));
    EXPECT_LT(std::fabs(square / count - 1), 4 * std::sqrt(2 / count));
  }
}

TEST(Positive, LiesInTheUpperHalfOfTheUnitIntervalAndNoHalfSumOverflows) {
  for (const Problem& p : Table()) {
    const Data run = FilledCase({p, Filling::kPositive, 1}).MakeRun(0);
    for (const Tensor* tensor : {&run.input, &run.out_backprop}) {
      for (std::int64_t i = 0; i < tensor->element_count(); ++i) {
        ASSERT_GE(tensor->value(i), 0.5);
        ASSERT_LT(tensor->value(i), 1.0);
      }
    }
  }
  const Problem long_sum = P("n1_i600x600_c1_k1x1_o1_valid_f16");
  const Element e = SumOf(long_sum, FilledCase({long_sum, Filling::kPositive, 1}).MakeRun(0), 0);
  EXPECT_LT(e.positive, 65504);
  EXPECT_GT(e.positive, 4096);
}

TEST(Wide, SpreadsExponentsEvenly) {
  for (const char* tag : {"f16", "bf16", "f32", "f64"}) {
    const Problem p = P(std::string("n1_i50x50_c4_k1x1_o1_valid_") + tag);
    const Data run = FilledCase({p, Filling::kWide, 1}).MakeRun(0);
    std::map<int, int> exponents;
    for (std::int64_t i = 0; i < run.input.element_count(); ++i) ++exponents[std::ilogb(run.input.value(i))];
    const int reach = p.dtype() == DType::kFloat16 ? 5 : 12;
    EXPECT_EQ(exponents.size(), static_cast<std::size_t>(2 * reach + 1));
    EXPECT_EQ(exponents.begin()->first, -reach);
    EXPECT_EQ(exponents.rbegin()->first, reach);
    for (const auto& [exponent, count] : exponents) EXPECT_GT(count, 10000 / (2 * reach + 1) / 2) << exponent;
  }
}

TEST(Tiny, HasSubnormalInputsAndProductsAroundTheSmallestNumbers) {
  for (const char* tag : {"f16", "bf16", "f32", "f64"}) {
    const Problem p = P(std::string("n1_i9x9_c2_k3x3_o1_same_") + tag);
    const FloatFormat& format = FormatOf(p.dtype());
    const FilledCase filled({p, Filling::kTiny, 1});
    bool subnormal_input = false, subnormal_out_backprop = false;
    int near_normal = 0, near_lowest = 0;
    for (int run = 0; run < filled.run_count(); ++run) {
      const Data data = filled.MakeRun(run);
      for (std::int64_t i = 0; i < data.input.element_count(); ++i) {
        ASSERT_NE(data.input.value(i), 0);
        subnormal_input = subnormal_input || IsSubnormal(p.dtype(), data.input.bits(i));
      }
      for (std::int64_t i = 0; i < data.out_backprop.element_count(); ++i) {
        subnormal_out_backprop = subnormal_out_backprop || IsSubnormal(p.dtype(), data.out_backprop.bits(i));
        const int exponent = std::ilogb(data.input.value(0)) + std::ilogb(data.out_backprop.value(i));
        near_normal += std::abs(exponent - format.min_exponent) <= 3;
        near_lowest += std::abs(exponent - format.lowest_exponent()) <= 3;
      }
    }
    EXPECT_TRUE(subnormal_input) << tag;
    EXPECT_TRUE(subnormal_out_backprop) << tag;
    EXPECT_GT(near_normal, 50) << tag;
    EXPECT_GT(near_lowest, 20) << tag;
  }
}

TEST(Local, OnlyOneTapMeetsTheLargePixel) {
  for (const char* tag : {"f16", "bf16", "f32", "f64"}) {
    const Problem p = P(std::string("n2_i9x8_c3_k3x3_o4_same_") + tag);
    const Data run = FilledCase({p, Filling::kLocal, 1}).MakeRun(0);
    std::set<std::pair<std::int64_t, std::int64_t>> taps;
    const double large = p.dtype() == DType::kFloat16 ? 0x1p4 : 0x1p20;
    for (const Element& e : Elements(p, run)) {
      for (const double term : e.terms) {
        if (std::fabs(term) >= large) taps.insert({e.kh, e.kw});
      }
    }
    EXPECT_EQ(taps.size(), 1u) << tag;
  }
}

TEST(Local, HasALargeAndAZeroChannelAndAZeroRow) {
  const Problem p = P("n2_i9x8_c3_k3x3_o4_same_f32");
  const Data run = FilledCase({p, Filling::kLocal, 1}).MakeRun(1);
  std::map<std::int64_t, double> input, out_backprop, rows;
  for (std::int64_t i = 0; i < run.input.element_count(); ++i) {
    input[i % 3] = std::max(input[i % 3], std::fabs(run.input.value(i)));
  }
  for (std::int64_t i = 0; i < run.out_backprop.element_count(); ++i) {
    double& row = rows[i / (8 * 4) % 9];
    double& channel = out_backprop[i % 4];
    row = std::max(row, std::fabs(run.out_backprop.value(i)));
    channel = std::max(channel, std::fabs(run.out_backprop.value(i)));
  }
  const auto zero = [](const auto& entry) { return entry.second == 0; };
  const auto large = [](const auto& entry) { return entry.second >= 0x1p20; };
  EXPECT_EQ(std::count_if(input.begin(), input.end(), zero), 1);
  EXPECT_EQ(std::count_if(input.begin(), input.end(), large), 1);
  EXPECT_EQ(std::count_if(out_backprop.begin(), out_backprop.end(), zero), 1);
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(), zero), 1);
}

// Adds the terms one after the other, rounding in float32 each time.
float FloatSum(const std::vector<double>& terms) {
  float sum = 0;
  for (const double term : terms) sum += static_cast<float>(term);
  return sum;
}

TEST(Stair, AttainsTheBoundOfASequentialSum) {
  const Problem p = P("n1_i40x40_c2_k3x3_o9_same_f32");
  const FilledCase filled({p, Filling::kStair, 1});
  ASSERT_EQ(filled.run_count(), 2);
  const Data run = filled.MakeRun(0);
  int attained = 0;
  for (const Element& e : Elements(p, run)) {
    if (e.kh * 3 + e.kw != e.oc) continue;  // the tap that the channel's chain is built for
    const double error = e.positive - static_cast<double>(FloatSum(e.terms));
    EXPECT_GT(error, .99 * static_cast<double>(e.terms.size() - 1) * 0x1p-24 * e.terms.front());
    ++attained;
  }
  EXPECT_EQ(attained, 18);
  EXPECT_EQ(FilledCase({P("n1_i4x4_c2_k3x3_o9_same_bf16"), Filling::kStair, 1}).run_count(), 3);
}

TEST(Stair, MatrixUnitRunStaysBelowTheUnitThatIsCutOff) {
  for (const char* tag : kTags) {
    const Problem p = P(std::string("n1_i9x9_c1_k1x1_o3_valid_") + tag);
    const Data run = FilledCase({p, Filling::kStair, 1}).MakeRun(1);
    for (const Element& e : Elements(p, run)) {
      const double unit = std::ldexp(1.0, 1 - AccumulatorBits(p) - static_cast<int>(e.oc));
      EXPECT_EQ(e.terms.front(), 1);
      EXPECT_LT(e.terms.back(), unit);
      EXPECT_GT(e.terms.back(), unit * .99);
    }
  }
}

TEST(Cancel, LeavesOneSurvivorBelowTheRoundingUnit) {
  int chains = 0;
  for (const char* tag : kTags) {
    for (const char* geometry : {"n1_i7x7_c2_k3x3_o9_same_", "n2_i8x8_c3_k2x2_o5_s2x2_valid_nchw_"}) {
      const Problem p = P(std::string(geometry) + tag);
      const Data run = FilledCase({p, Filling::kCancel, 1}).MakeRun(0);
      const double unit = std::ldexp(1.0, -FormatOf(p.result_dtype()).precision);
      const std::int64_t taps = p.rows().filter * p.columns().filter;
      for (const Element& e : Elements(p, run)) {
        if (e.kh * p.columns().filter + e.kw != e.oc % taps) continue;
        std::multiset<double> terms(e.terms.begin(), e.terms.end());
        std::vector<double> survivors;
        for (const double term : e.terms) {
          if (term != 0 && !terms.contains(-term)) survivors.push_back(term);
        }
        ASSERT_EQ(survivors.size(), 1u) << Format(p);
        EXPECT_LT(std::fabs(survivors[0]), unit * e.abs_sum()) << Format(p);
        EXPECT_GE(e.nonzero + 1, static_cast<std::int64_t>(e.terms.size()));
        ++chains;
      }
    }
  }
  EXPECT_EQ(chains, 6 * (9 * 2 + 5 * 3));
}

TEST(Huge, HasSumsAboveAndBelowTheThresholdWithAndWithoutOrderDependence) {
  for (const char* tag : {"f16", "bf16", "f32"}) {
    const Problem p = P(std::string("n1_i6x6_c2_k1x1_o6_valid_") + tag);
    const FloatFormat& format = FormatOf(p.dtype());
    const double threshold = std::ldexp(2 - std::ldexp(1.0, -format.precision), format.max_exponent);
    const FilledCase filled({p, Filling::kHuge, 1});
    int below = 0, above = 0, both = 0, edge_over = 0, edge_under = 0;
    for (int run = 0; run < filled.run_count(); ++run) {
      for (const Element& e : Elements(p, filled.MakeRun(run))) {
        const bool up = e.positive >= threshold;
        const bool down = e.negative >= threshold;
        both += up && down;
        above += up != down;
        below += !up && !down;
        if (run != 0) continue;
        edge_over += e.abs_sum() == threshold;
        edge_under += e.abs_sum() < threshold && e.abs_sum() > threshold * .999;
      }
    }
    EXPECT_GE(both, 6) << tag;
    EXPECT_GE(above, 6) << tag;
    EXPECT_GE(below, 6) << tag;
    EXPECT_GE(edge_over, 2) << tag;
    EXPECT_GE(edge_under, 2) << tag;
  }
}

TEST(Huge, LargeFiltersHaveChainsInSomeChannelsOnly) {
  const Problem p = P("n1_i5x5_c512_k3x3_o100_same_f32");
  const Data run = FilledCase({p, Filling::kHuge, 1}).MakeRun(0);
  std::set<std::int64_t> channels;
  for (std::int64_t i = 0; i < run.out_backprop.element_count(); ++i) {
    if (run.out_backprop.value(i) != 0) channels.insert(i % 100);
  }
  EXPECT_EQ(channels.size(), 9u);  // one for each tap
  EXPECT_TRUE(channels.contains(99));
}

TEST(Huge, ShortChainsStillOverflowAndCancel) {
  const Problem one = P("n1_i1x1_c1_k1x1_o1_valid_f16");
  EXPECT_GT(SumOf(one, FilledCase({one, Filling::kHuge, 1}).MakeRun(0), 0).positive, 65520);
  const Problem two = P("n2_i1x1_c1_k1x1_o1_valid_f16");
  const Element pair = SumOf(two, FilledCase({two, Filling::kHuge, 1}).MakeRun(2), 0);
  EXPECT_GT(pair.positive, 65520);
  EXPECT_EQ(pair.positive, pair.negative);
}

TEST(Symmetry, RunsAreThePromisedMultiplesOfRunZero) {
  std::int64_t products = 0;
  for (const Problem& p : Table()) {
    const FilledCase filled({p, Filling::kSymmetry, 6});
    ASSERT_EQ(filled.relations().size(), 2u);
    const Data base = filled.MakeRun(0);
    for (const BitRelation& relation : filled.relations()) {
      const Data other = filled.MakeRun(relation.run);
      const double input = other.input.value(0) / base.input.value(0);
      const double out_backprop = other.out_backprop.value(0) / base.out_backprop.value(0);
      ASSERT_EQ(input * out_backprop, relation.factor);
      ASSERT_EQ(std::fabs(relation.factor), std::exp2(std::ilogb(relation.factor)));
      for (std::int64_t i = 0; i < p.input_count(); ++i) {
        ASSERT_EQ(other.input.value(i), base.input.value(i) * input) << Format(p);
      }
      for (std::int64_t i = 0; i < p.out_backprop_count(); ++i) {
        ASSERT_EQ(other.out_backprop.value(i), base.out_backprop.value(i) * out_backprop) << Format(p);
        ++products;
      }
    }
  }
  EXPECT_GT(products, 10000);
  EXPECT_TRUE(FilledCase({P(std::string(kGeometries[0]) + "f32"), Filling::kNormal, 6}).relations().empty());
}

TEST(Symmetry, HalfResultsAreMultiplesOfANormalNumber) {
  const Problem p = P("n2_i9x8_c3_k3x4_o5_d2x1_same_f16");
  const FilledCase filled({p, Filling::kSymmetry, 1});
  for (const int run : {0, 1}) {
    for (const Element& e : Elements(p, filled.MakeRun(run))) {
      for (const double term : e.terms) ASSERT_EQ(term * 0x1p14, std::nearbyint(term * 0x1p14));
    }
  }
}

}  // namespace
}  // namespace wgrad::oracle
