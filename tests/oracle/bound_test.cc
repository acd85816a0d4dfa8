#include "oracle/bound.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/case.h"

namespace wgrad::oracle {
namespace {

Problem ProblemOf(const std::string& text) { return ParseProblem(text).value(); }
AccuracyClass ClassOf(const std::string& text) { return ParseClass(text).value(); }

// Facts of an element whose terms are `products`.
ElementFacts FactsOf(const std::vector<double>& products) {
  ElementFacts facts;
  for (const double product : products) {
    if (product == 0) continue;
    ++facts.terms;
    facts.sum = facts.sum + Dyadic::FromDouble(product);
    facts.abs_sum = facts.abs_sum + Abs(Dyadic::FromDouble(product));
  }
  return facts;
}

AllowedSet Allow(const std::string& problem, const std::string& name, const ElementFacts& facts,
                 const Policy& policy = {}) {
  ClassBound bound(ProblemOf(problem), ClassOf(name), policy);
  // Data without a grid: the rule of exact sums stays out of the way.
  TensorScan scan;
  scan.max_abs = 1;
  scan.min_abs = 0x1p-100;
  scan.lowest_bit = -140;
  scan.max_significant_bits = 24;
  bound.SetData(scan, scan);
  return bound.Allow(facts);
}

TEST(Bound, DepthFactorIsAboveThePower) {
  // E1(k, v) >= (1 + v)^k - 1 exactly, on both sides of kv = 1 and of kv = 8.
  const Problem problem = ProblemOf("n1_i64x64_c1_k1x1_o1_valid_bf16");
  int compared = 0;
  for (const int terms : {1, 2, 3, 10, 40, 43, 100, 300, 341, 345, 1000}) {
    ClassBound bound(problem, ClassOf("order_hw"), {});
    const Rational factor = bound.CoefficientsFor(terms).alpha;
    Rational power = 1;
    for (int i = 0; i < 3 * terms; ++i) power *= 1 + PowerOfTwo(-7);
    EXPECT_GE(factor, power - 1) << terms;
    ++compared;
  }
  EXPECT_EQ(compared, 11);
}

// A transform leaves rounding errors of other pixels in an element that has no term; a channel of zeros leaves none.
TEST(Bound, TransformsMayLeaveErrorsWhereThereIsNoTerm) {
  const std::string problem = "n1_i4x4_c1_k3x3_o1_same_f32";
  for (const char* const name : {"channel:fft", "channel:winograd_f3x3_2x2", "tensor:strassen"}) {
    ElementFacts facts = FactsOf({});
    EXPECT_FALSE(Allow(problem, name, facts).Contains(0x1p-40, DType::kFloat32)) << name;
    facts.norm = 1;
    EXPECT_TRUE(Allow(problem, name, facts).Contains(0x1p-40, DType::kFloat32)) << name;
    EXPECT_FALSE(Allow(problem, name, facts).Contains(1, DType::kFloat32)) << name;
  }
  EXPECT_FALSE(Allow(problem, "order", FactsOf({})).Contains(0x1p-40, DType::kFloat32));
}

// Dot2 in float32 keeps 2^24 + 1 and 2^-30 apart no better than its bound says, whatever a double could.
TEST(Bound, CompensatedSumsAreExactOnTheResultsGridOnly) {
  TensorScan scan;
  scan.max_abs = 0x1p20;
  scan.min_abs = 1;
  scan.lowest_bit = 0;
  scan.max_significant_bits = 21;
  ClassBound wide(ProblemOf("n1_i64x64_c1_k1x1_o1_valid_f32"), ClassOf("wide"), {});
  wide.SetData(scan, scan);
  EXPECT_TRUE(wide.ExactByGrid(0x1p24));
  EXPECT_FALSE(wide.ExactByGrid(0x1p25));
}

TEST(Bound, OrderIsLinearForLongSums) {
  // (2n - 1)u takes over where n*u is large.
  ClassBound bound(ProblemOf("n1_i64x64_c1_k1x1_o1_valid_bf16"), ClassOf("order"), {});
  EXPECT_EQ(bound.CoefficientsFor(4096).alpha, (2 * 4096 - 1) * PowerOfTwo(-8));
  EXPECT_EQ(bound.vacuous_from(), 256);
}

TEST(Bound, TreeIsLogarithmic) {
  ClassBound tree(ProblemOf("n1_i64x64_c1_k1x1_o1_valid_f32"), ClassOf("depth:tree"), {});
  const Rational kv = 13 * PowerOfTwo(-24);
  EXPECT_EQ(tree.CoefficientsFor(4096).alpha, kv / (1 - kv / 2));
  EXPECT_LT(tree.CoefficientsFor(3).alpha, tree.CoefficientsFor(5).alpha);
}

TEST(Allowed, CorrectRoundingLeavesOneValue) {
  const ElementFacts facts = FactsOf({1, 0x1p-24, 0x1p-60});
  const AllowedSet set = Allow("n3_i1x1_c1_k1x1_o1_valid_f32", "cr", facts);
  EXPECT_EQ(set.low, 1 + 0x1p-23);
  EXPECT_EQ(set.high, 1 + 0x1p-23);
  EXPECT_FALSE(set.Contains(1, DType::kFloat32));
  const AllowedSet faithful = Allow("n3_i1x1_c1_k1x1_o1_valid_f32", "faithful", facts);
  EXPECT_TRUE(faithful.Contains(1, DType::kFloat32));
  EXPECT_FALSE(faithful.Contains(1 - 0x1p-24, DType::kFloat32));
}

TEST(Allowed, NoTermMeansZeroOfEitherSign) {
  for (const char* const name : {"cr", "order", "wide_hw", "channel:fft"}) {
    const AllowedSet set = Allow("n1_i4x4_c1_k3x3_o1_same_f16", name, ElementFacts{});
    EXPECT_TRUE(set.Contains(0.0, DType::kFloat16)) << name;
    EXPECT_TRUE(set.Contains(-0.0, DType::kFloat16)) << name;
    EXPECT_FALSE(set.Contains(0x1p-24, DType::kFloat16)) << name;
    EXPECT_FALSE(set.Contains(std::nan(""), DType::kFloat16)) << name;
  }
}

TEST(Allowed, OneTermRoundsOnce) {
  const AllowedSet set = Allow("n1_i1x1_c1_k1x1_o1_valid_f32", "order", FactsOf({1 + 0x1p-30}));
  EXPECT_EQ(set.low, 1);
  EXPECT_EQ(set.high, 1);
}

TEST(Allowed, HalfAccumulatorMayOverflowEveryWayBetween) {
  const ElementFacts facts = FactsOf({60000, 60000, -60000, -60000});
  const AllowedSet narrow = Allow("n4_i1x1_c1_k1x1_o1_valid_f16", "order:f16", facts);
  for (const double right : {0.0, HUGE_VAL, -HUGE_VAL, std::nan("")})
    EXPECT_TRUE(narrow.Contains(right, DType::kFloat16)) << right;
  const AllowedSet wide = Allow("n4_i1x1_c1_k1x1_o1_valid_f16", "wide", facts);
  EXPECT_TRUE(wide.Contains(0, DType::kFloat16));
  for (const double wrong : {HUGE_VAL, -HUGE_VAL, std::nan("")})
    EXPECT_FALSE(wide.Contains(wrong, DType::kFloat16)) << wrong;
}

TEST(Allowed, OverflowAtTheStoreBeginsHalfAStepAboveTheLargest) {
  const std::string problem = "n2_i1x1_c1_k1x1_o1_valid_f16";
  EXPECT_TRUE(Allow(problem, "cr", FactsOf({65504, 15})).Contains(65504, DType::kFloat16));
  EXPECT_FALSE(Allow(problem, "cr", FactsOf({65504, 15})).Contains(HUGE_VAL, DType::kFloat16));
  EXPECT_TRUE(Allow(problem, "cr", FactsOf({65504, 16})).Contains(HUGE_VAL, DType::kFloat16));
  EXPECT_FALSE(Allow(problem, "cr", FactsOf({65504, 16})).Contains(65504, DType::kFloat16));
  EXPECT_TRUE(Allow(problem, "cr", FactsOf({65504, 16}), {.saturate = true}).Contains(65504, DType::kFloat16));
}

TEST(Allowed, SpecialValuesFollowTheCensus) {
  const std::string problem = "n2_i4x4_c1_k3x3_o1_same_f32";
  auto with = [](std::uint8_t census) {
    ElementFacts facts = FactsOf({1, 2});
    facts.census = census;
    return facts;
  };
  const double nan = std::nan("");
  EXPECT_FALSE(Allow(problem, "order", with(kCensusNaN)).Contains(3, DType::kFloat32));
  EXPECT_TRUE(Allow(problem, "order", with(kCensusNaN)).Contains(nan, DType::kFloat32));
  EXPECT_TRUE(Allow(problem, "order", with(kCensusNaN), {.zero_skip = true}).Contains(3, DType::kFloat32));
  EXPECT_FALSE(Allow(problem, "order", with(kCensusNaN | kCensusNaNTimesNonZero), {.zero_skip = true})
                   .Contains(3, DType::kFloat32));
  EXPECT_TRUE(Allow(problem, "order", with(kCensusPlusInfinity)).Contains(HUGE_VAL, DType::kFloat32));
  EXPECT_FALSE(Allow(problem, "order", with(kCensusPlusInfinity)).Contains(nan, DType::kFloat32));
  EXPECT_FALSE(Allow(problem, "order", with(kCensusPlusInfinity)).Contains(3.4028234663852886e38, DType::kFloat32));
  EXPECT_TRUE(Allow(problem, "order", with(kCensusPlusInfinity | kCensusMinusInfinity)).Contains(nan, DType::kFloat32));
  EXPECT_TRUE(Allow(problem, "order", with(kCensusPlusInfinity | kCensusSubnormalTimesInfinity), {.daz = true})
                  .Contains(nan, DType::kFloat32));
  const AllowedSet either = Allow(problem, "order", with(kCensusPaddingNonFinite));
  EXPECT_TRUE(either.Contains(nan, DType::kFloat32));
  EXPECT_TRUE(either.Contains(3, DType::kFloat32));
  EXPECT_FALSE(either.Contains(HUGE_VAL, DType::kFloat32));
  EXPECT_FALSE(
      Allow(problem, "order", with(kCensusPaddingNonFinite), {.pad = PadPolicy::kSkip}).Contains(nan, DType::kFloat32));
  EXPECT_FALSE(Allow(problem, "order", with(kCensusPaddingNonFinite), {.pad = PadPolicy::kMultiply})
                   .Contains(3, DType::kFloat32));
}

TEST(Allowed, FlushedResultsNeedThePolicy) {
  const ElementFacts facts = FactsOf({0x1p-130, 0x1p-131});
  const std::string problem = "n2_i1x1_c1_k1x1_o1_valid_f32";
  EXPECT_FALSE(Allow(problem, "order", facts).Contains(0, DType::kFloat32));
  EXPECT_TRUE(Allow(problem, "order", facts, {.ftz = true}).Contains(0, DType::kFloat32));
  EXPECT_FALSE(Allow(problem, "order", FactsOf({1, 1}), {.ftz = true}).Contains(0, DType::kFloat32));
}

TEST(Allowed, ExactGridsLeaveNoError) {
  ClassBound bound(ProblemOf("n4_i1x1_c1_k1x1_o1_valid_f32"), ClassOf("order"), {});
  TensorScan integers;
  integers.max_abs = 100;
  integers.min_abs = 1;
  integers.lowest_bit = 0;
  integers.max_significant_bits = 7;
  bound.SetData(integers, integers);
  EXPECT_TRUE(bound.ExactByGrid(0x1p24));
  EXPECT_FALSE(bound.ExactByGrid(0x1p24 + 1));
  const AllowedSet set = bound.Allow(FactsOf({10000, -9999, 3, 5}));
  EXPECT_EQ(set.low, 9);
  EXPECT_EQ(set.high, 9);
}

// Classes are nested as docs/classes.md says, on exact coefficients.
TEST(Bound, WeakerClassesAreWider) {
  const Problem problem = ProblemOf("n4_i16x16_c1_k1x1_o1_valid_f32");
  auto alpha = [&](const std::string& name, std::int64_t terms) {
    return ClassBound(problem, ClassOf(name), {}).CoefficientsFor(terms).alpha;
  };
  const std::pair<const char*, const char*> nested[] = {
      {"wide", "wide_hw"},          {"depth:tree", "order"},    {"depth:3", "depth:7"},
      {"order", "order_hw"},        {"order", "split:8"},       {"split:4", "split:8"},
      {"order_hw", "input:bf16x3"}, {"order_hw", "input:tf32"}, {"input:bf16x3", "input:tf32"},
      {"input:tf32", "input:bf16"}};
  int compared = 0;
  for (const auto& [narrow, wide] : nested) {
    for (const std::int64_t terms : {1, 2, 7, 100, 1024}) {
      EXPECT_LE(alpha(narrow, terms), alpha(wide, terms)) << narrow << " in " << wide << " at " << terms;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 50);
}

}  // namespace
}  // namespace wgrad::oracle
