#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <tuple>

#include "oracle/facts_pair.h"
#include "oracle/facts_range.h"
#include "reference/filter_gradient.h"
#include "tests/oracle/facts_support.h"

namespace wgrad::oracle {
namespace {

using facts_test::Data;
using facts_test::kAllData;
using facts_test::MakeTensors;
using facts_test::Tensors;

using RouteSeen = std::tuple<Route, bool, bool, int>;  // route, two_product, wide, levels

std::vector<RouteLimits> EveryLimit() {
  std::vector<RouteLimits> all;
  std::vector<const Kernels*> kernels = {&PortableKernels()};
  if (Avx2Kernels() != nullptr) kernels.push_back(Avx2Kernels());
  for (const Kernels* set : kernels) {
    for (const int narrow_bits : {126, 0}) {
      for (const int levels : {kMostLevels, -1}) {
        for (const std::int64_t sparse_share : {0, 1, 16}) all.push_back({set, levels, narrow_bits, sparse_share});
      }
    }
  }
  return all;
}

// Sums the whole filter of a problem without groups under `limits`, tap by tap, and notes the routes taken.
void CompareRoutes(const RunPlanes& run, const std::vector<reference::ExactElement>& expected,
                   const RouteLimits& limits, std::set<RouteSeen>& seen) {
  const Problem& problem = run.problem;
  const Planner planner(problem.positions(), limits);
  std::size_t next = 0;
  for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
    for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
      const ElementRange range{kh, kw, 0, problem.filter_depth(), 0, problem.out_depth()};
      const RangeSums sums = SumRange(run, range, limits);
      for (std::int64_t i = 0; i < range.size(); ++i, ++next) {
        EXPECT_EQ(sums.sums.exact_sum(i), expected[next].sum());
        EXPECT_EQ(sums.sums.exact_abs_sum(i), expected[next].abs_sum());
        EXPECT_EQ(sums.terms[static_cast<std::size_t>(i)], expected[next].terms);
        const RowScan& x = run.input.scan(i / problem.out_depth());
        const RowScan& dy = run.out_backprop.scan(i % problem.out_depth());
        const PairPlan plan = planner.Plan(x, dy, IsSparse(dy, problem.positions(), limits));
        seen.insert({plan.route, plan.two_product, plan.wide, plan.levels});
      }
    }
  }
  EXPECT_EQ(next, expected.size());
}

TEST(Routes, AllGiveTheReferencesSums) {
  std::set<RouteSeen> seen;
  std::int64_t compared = 0;
  for (const char* text :
       {"n2_i6x7_c2_k2x1_o3_s1x2_same_f16", "n2_i6x7_c2_k2x1_o3_s1x2_same_bf16", "n2_i6x7_c2_k2x1_o3_s1x2_same_f32",
        "n2_i6x7_c2_k2x1_o3_s1x2_same_f64", "n1_i29x39_c1_k1x2_o1_same_f32", "n1_i29x39_c1_k1x2_o1_same_f64"}) {
    const Problem problem = ParseProblem(text).value();
    for (const Data kind : kAllData) {
      const Tensors data = MakeTensors(problem, kind, 31);
      const Planes input = Planes::OfInput(problem, data.input);
      const Planes out_backprop = Planes::OfOutBackprop(problem, data.out_backprop);
      const auto expected = reference::FilterGradient(problem, data.input, data.out_backprop);
      for (const RouteLimits& limits : EveryLimit()) {
        CompareRoutes({problem, input, out_backprop}, expected, limits, seen);
        compared += std::ssize(expected);
        ASSERT_FALSE(HasFailure()) << text << ' ' << static_cast<int>(kind);
      }
    }
  }
  EXPECT_GT(compared, 10'000);
  for (const bool wide : {false, true}) {
    EXPECT_TRUE(seen.count({Route::kSparse, false, wide, 0}) == 1) << wide;
    EXPECT_TRUE(seen.count({Route::kIntegers, false, wide, 0}) == 1) << wide;
    EXPECT_TRUE(seen.count({Route::kIntegers, true, wide, 0}) == 1) << wide;
    EXPECT_TRUE(seen.count({Route::kKernel, false, wide, 0}) == 1) << wide;
    EXPECT_TRUE(seen.count({Route::kKernel, false, wide, 1}) == 1) << wide;
    EXPECT_TRUE(seen.count({Route::kKernel, true, wide, 2}) == 1) << wide;
  }
  EXPECT_TRUE(seen.count({Route::kNothing, false, false, 0}) == 1);
}

// Rows of normal numbers in a window of binades, wide enough for the number of levels asked for.
TEST(Routes, ExtractionIsExactOnEveryNumberOfLevels) {
  std::set<RouteSeen> seen;
  std::int64_t compared = 0;
  for (const bool two_product : {false, true}) {
    for (int window = 0; window <= 100; window += 4) {
      const Problem problem =
          ParseProblem(two_product ? "n1_i33x34_c1_k1x1_o1_same_f64" : "n1_i33x34_c1_k1x1_o1_same_f32").value();
      Tensors data = MakeTensors(problem, Data::kUniform, static_cast<std::uint64_t>(window));
      for (Tensor* tensor : {&data.input, &data.out_backprop}) {
        for (std::int64_t i = 0; i < tensor->element_count(); ++i) {
          const auto draw = static_cast<int>(SplitMix64(3, static_cast<std::uint64_t>(i)) % 1000);
          const double sign = draw % 2 == 0 ? 1 : -1;
          tensor->set_value(i, sign * std::ldexp(tensor->value(i), draw * window / 1000 - window / 2));
        }
      }
      const Planes input = Planes::OfInput(problem, data.input);
      const Planes out_backprop = Planes::OfOutBackprop(problem, data.out_backprop);
      const auto expected = reference::FilterGradient(problem, data.input, data.out_backprop);
      for (const RouteLimits& limits : EveryLimit()) {
        CompareRoutes({problem, input, out_backprop}, expected, limits, seen);
        ++compared;
      }
      ASSERT_FALSE(HasFailure()) << window;
    }
  }
  for (int levels = 1; levels <= kMostLevels; ++levels) {
    EXPECT_TRUE(seen.count({Route::kKernel, false, true, levels}) == 1) << levels;
    if (levels == 1) continue;  // products of more than 53 bits span too much for one
    EXPECT_TRUE(seen.count({Route::kKernel, true, true, levels}) == 1) << levels;
  }
  EXPECT_TRUE(seen.count({Route::kKernel, false, false, 2}) == 1);
  EXPECT_GT(compared, 500);
}

TEST(Routes, BothSetsOfKernelsCountAlike) {
  if (Avx2Kernels() == nullptr) GTEST_SKIP() << "this processor has no AVX2";
  std::int64_t compared = 0;
  const Problem problem = ParseProblem("n2_i23x31_c2_k2x3_o3_same_f64").value();
  for (const Data kind : kAllData) {
    const Tensors data = MakeTensors(problem, kind, 37);
    const Planes input = Planes::OfInput(problem, data.input);
    const Planes out_backprop = Planes::OfOutBackprop(problem, data.out_backprop);
    const ElementRange range{1, 2, 0, 2, 0, 3};
    for (const double threshold : {-1.0, 0.0, 0x1p-1074, 1e-3, 1.0, 1e200, std::nan("")}) {
      const std::vector<double> thresholds(6, threshold);
      const RunPlanes run{problem, input, out_backprop};
      EXPECT_EQ(CountAbove(run, range, PortableKernels(), thresholds),
                CountAbove(run, range, *Avx2Kernels(), thresholds));
      compared += 6;
    }
  }
  EXPECT_EQ(compared, 13 * 7 * 6);
}

TEST(Superaccumulator, AddsAndSubtractsAcrossAllLimbs) {
  std::int64_t compared = 0;
  for (std::uint64_t round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> limbs(6);
    std::vector<std::uint64_t> positive(6);
    std::vector<std::uint64_t> negative(6);
    Dyadic expected;
    Dyadic expected_abs;
    for (std::uint64_t i = 0; i < 50; ++i, ++compared) {
      const std::uint64_t draw = SplitMix64(round, i);
      const int offset = 40 + static_cast<int>(draw % 160);
      auto value = static_cast<std::int64_t>(SplitMix64(round + 1000, i)) >> (draw / 256 % 64);
      if (i % 7 == 6 && expected.sign() != 0 && expected.Log2() < 50)
        value = -static_cast<std::int64_t>(expected.ToDouble());
      AddSigned(limbs, value, offset);
      const std::uint64_t magnitude =
          value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
      std::vector<std::uint64_t>& limbs_of_sign = value < 0 ? negative : positive;
      if (i % 2 == 0) AddMagnitude(limbs_of_sign.data(), magnitude, offset);
      if (i % 2 == 1) AddMagnitude(limbs_of_sign.data(), UInt128{magnitude} << 40, offset - 40);
      const Dyadic term = Dyadic(Dyadic::Integer(value), offset);
      expected = expected + term;
      expected_abs = expected_abs + Abs(term);
      ASSERT_EQ(ToDyadic(ConstLimbs(limbs), 0), expected);
    }
    ToSumAndAbsSum(positive, negative);
    ASSERT_EQ(ToDyadic(ConstLimbs(positive), -7), expected * Dyadic::PowerOfTwo(-7));
    ASSERT_EQ(ToDyadic(ConstLimbs(negative), 0), expected_abs);
  }
  EXPECT_EQ(compared, 200 * 50);
}

TEST(Superaccumulator, RoundsToDoubleDoubleWithinTwoToMinus100) {
  std::int64_t compared = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t draw = SplitMix64(41, i);
    const auto high = static_cast<std::int64_t>(SplitMix64(43, i)) >> (draw % 64);
    auto bits = (static_cast<UInt128>(static_cast<Int128>(high)) << 64) | SplitMix64(47, i);
    bits &= ~UInt128{0} << (draw / 64 % 128);  // trailing zeros, too
    if (draw % 5 == 0) bits = static_cast<UInt128>(static_cast<Int128>(high));
    const auto value = static_cast<Int128>(bits);
    const int exponent = static_cast<int>(draw / 8192 % 2200) - 1150;
    const Dyadic exact = ToDyadic(value, exponent);
    const std::uint64_t limbs[3] = {static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(bits >> 64),
                                    value < 0 ? ~std::uint64_t{0} : 0};
    ASSERT_EQ(ToDyadic(ConstLimbs(limbs), exponent), exact);
    for (const DoubleDouble& rounded : {ToDoubleDouble(value, exponent), ToDoubleDouble(ConstLimbs(limbs), exponent)}) {
      ++compared;
      if (exact.is_zero()) {
        EXPECT_EQ(rounded.high, 0);
      } else if (Compare(Abs(exact), Dyadic::PowerOfTwo(-900)) < 0 ||
                 Compare(Abs(exact), Dyadic::PowerOfTwo(1000)) > 0) {
        EXPECT_TRUE(std::isnan(rounded.high));
      } else {
        ASSERT_FALSE(std::isnan(rounded.high)) << exact.ToHex();
        const Dyadic error = Dyadic::FromDouble(rounded.high) + Dyadic::FromDouble(rounded.low) - exact;
        EXPECT_LE(Compare(Abs(error), Abs(exact) * Dyadic::PowerOfTwo(-100)), 0) << exact.ToHex();
      }
    }
  }
  EXPECT_EQ(compared, 40'000);
}

}  // namespace
}  // namespace wgrad::oracle
