#include "oracle/facts.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/filter_gradient.h"
#include "tests/oracle/facts_support.h"

namespace wgrad::oracle {
namespace {

using facts_test::Data;
using facts_test::kAllData;
using facts_test::MakeTensors;
using facts_test::Tensors;

constexpr const char* kGeometries[] = {
    "n3_i7x9_c6_k2x3_o10_s2x3_g2_same",
    "n3_i8x11_c6_k3x4_o10_s3x2_g2_pt2b0l1r3",
    "n3_i9x8_c6_k3x4_o10_d2x1_g2_same",
    "n3_i5x4_c6_k1x1_o10_s2x3_g2_pt1b0l0r1",
    "n3_i1x1_c5_k3x4_o6_same",
    "n3_i4x5_c5_k2x3_o10_s1x2_g5_pt1b0l1r1",
    "n2_i4x7_c2_k2x2_o3_s4x5_same",
    "n3_i8x11_c6_k3x4_o10_s3x2_g2_pt2b0l1r3_nchw",
    "n3_i9x8_c6_k3x4_o10_d2x1_g2_same_nchw",
    "n2_i8x8_c4_k3x3_o4_s2x2_valid",
    "n2_i10x9_c3_k2x2_o4_s5x4_valid",
    "n2_i2x3_c3_k5x7_o4_same",
    "n2_i6x6_c3_k3x3_o4_pt2b1l0r0",
    "n1_i4x4_c2_k2x2_o2_pt5b0l0r5",
    "n2_i11x10_c3_k3x2_o4_s2x3_d3x2_same",
    "n2_i4x4_c2_k2x2_o2_d4x4_same",
    "n1_i2x2_c1_k3x3_o1_s2x2_valid",
    "n0_i4x4_c2_k3x3_o2_same",
    "n2_i4x4_c2_k3x3_o0_same",
    "n1_i6x5_c17_k3x3_o15_same",
    "n2_i7x5_c12_k2x3_o8_d2x1_g4_same_nchw",
    "n1_i40x1_c3_k7x1_o4_same",
    "n300_i1x1_c2_k1x1_o3_valid",
    "n2_i37x33_c1_k3x3_o1_same",
};

constexpr const char* kDTypes[] = {"_f16", "_bf16", "_f32", "_f64"};

Problem MakeProblem(const std::string& text) { return ParseProblem(text).value(); }

// |high + low - exact| <= 2^-100 |exact|, or NaN for what is outside [2^-900, 2^1000].
::testing::AssertionResult IsCloseTo(const DoubleDouble& value, const Dyadic& exact) {
  if (std::isnan(value.high)) {
    const bool outside = !exact.is_zero() && (Compare(Abs(exact), Dyadic::PowerOfTwo(-900)) < 0 ||
                                              Compare(Abs(exact), Dyadic::PowerOfTwo(1000)) > 0);
    return outside ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << "NaN for " << exact.ToHex();
  }
  const Dyadic error = Dyadic::FromDouble(value.high) + Dyadic::FromDouble(value.low) - exact;
  if (Compare(Abs(error), Abs(exact) * Dyadic::PowerOfTwo(-100)) <= 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << value.high << " + " << value.low << " for " << exact.ToHex();
}

std::uint8_t CensusOf(const reference::ExactElement& element) {
  return static_cast<std::uint8_t>((element.nan ? kCensusNaN : 0) | (element.plus_infinity ? kCensusPlusInfinity : 0) |
                                   (element.minus_infinity ? kCensusMinusInfinity : 0) |
                                   (element.padding_nonfinite ? kCensusPaddingNonFinite : 0));
}

// Compares every `step`-th element of the problem; returns how many.
std::int64_t CompareWithReference(const Problem& problem, const Tensors& data, std::int64_t step) {
  constexpr std::uint8_t kInReference =
      kCensusNaN | kCensusPlusInfinity | kCensusMinusInfinity | kCensusPaddingNonFinite;
  FactsEngine engine(problem, data.input, data.out_backprop, {});
  std::int64_t seen = 0;
  std::int64_t compared = 0;
  for (const ElementRange& range : engine.Blocks()) {
    const std::unique_ptr<FactsBlock> block = engine.Sum(range);
    std::int64_t i = -1;
    for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
      for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc) {
        ++i;
        if (seen++ % step != 0) continue;
        const reference::ExactElement element =
            reference::SumElement(problem, data.input, data.out_backprop, range.kh, range.kw, ic, oc);
        const Dyadic sum = block->exact_sum(i);
        const Dyadic abs_sum = block->exact_abs_sum(i);
        ++compared;
        if (sum == element.sum() && abs_sum == element.abs_sum() && block->terms(i) == element.terms &&
            (block->census(i) & kInReference) == CensusOf(element)) {
          if (compared % 8 == 0) {
            EXPECT_TRUE(IsCloseTo(block->sum(i), sum));
            EXPECT_TRUE(IsCloseTo(block->abs_sum(i), abs_sum));
          }
          continue;
        }
        ADD_FAILURE() << Format(problem) << " at " << range.kh << ' ' << range.kw << ' ' << ic << ' ' << oc << ": S "
                      << sum.ToHex() << " for " << element.sum().ToHex() << ", A " << abs_sum.ToHex() << " for "
                      << element.abs_sum().ToHex() << ", n " << block->terms(i) << " for " << element.terms
                      << ", census " << int{block->census(i)} << " for " << int{CensusOf(element)};
        return compared;
      }
    }
  }
  EXPECT_EQ(seen, problem.filter_count());
  return compared;
}

TEST(FactsEngine, EqualsTheReferenceOnEveryGeometryDtypeAndKindOfData) {
  std::int64_t compared = 0;
  for (const char* geometry : kGeometries) {
    for (const char* dtype : kDTypes) {
      const Problem problem = MakeProblem(std::string(geometry) + dtype);
      for (const Data kind : kAllData) {
        SCOPED_TRACE(static_cast<int>(kind));
        const std::int64_t step = 1 + problem.multiply_adds() / 2000;
        const auto seed = static_cast<std::uint64_t>(compared);
        compared += CompareWithReference(problem, MakeTensors(problem, kind, seed), step);
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(compared, 50'000);
}

TEST(FactsEngine, EqualsTheReferenceOnAMillionShortSums) {
  std::int64_t compared = 0;
  for (const char* dtype : kDTypes) {
    const Problem problem = MakeProblem(std::string("n1_i2x2_c96_k2x2_o128_same") + dtype);
    for (const Data kind : {Data::kNormal, Data::kAnyFinite, Data::kPlanted, Data::kTiny, Data::kWide}) {
      SCOPED_TRACE(static_cast<int>(kind));
      compared += CompareWithReference(problem, MakeTensors(problem, kind, 5), 1);
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(compared, 983'040);
}

TEST(FactsEngine, EqualsTheReferenceOnSumsOfManyChunks) {
  std::int64_t compared = 0;
  for (const char* dtype : kDTypes) {
    const Problem problem = MakeProblem(std::string("n3_i41x43_c3_k3x2_o2_same") + dtype);
    for (const Data kind : kAllData) {
      SCOPED_TRACE(static_cast<int>(kind));
      compared += CompareWithReference(problem, MakeTensors(problem, kind, 7), 19);
      if (HasFailure()) return;
    }
  }
  EXPECT_EQ(compared, 4 * 13 * 2);
}

// Calls function(tap element index, x bits, dy bits) for each position inside the image, by the definition.
struct ElementAt {
  std::int64_t kh, kw, ic, oc;
};
template <typename Function>
void ForEachFactorPair(const Problem& problem, const Tensors& data, const ElementAt& at, Function function) {
  const std::int64_t c = at.oc / problem.out_depth_per_group() * problem.filter_depth() + at.ic;
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (std::int64_t oh = 0; oh < problem.rows().output; ++oh) {
      for (std::int64_t ow = 0; ow < problem.columns().output; ++ow) {
        const std::int64_t ih =
            oh * problem.rows().stride + at.kh * problem.rows().dilation - problem.rows().pad_before;
        const std::int64_t iw =
            ow * problem.columns().stride + at.kw * problem.columns().dilation - problem.columns().pad_before;
        const bool inside = ih >= 0 && ih < problem.rows().input && iw >= 0 && iw < problem.columns().input;
        if (!inside) continue;
        function(data.input.bits(problem.InputOffset(n, ih, iw, c)),
                 data.out_backprop.bits(problem.OutBackpropOffset(n, oh, ow, at.oc)));
      }
    }
  }
}

template <typename Function>
void ForEachElement(const ElementRange& range, Function function) {
  std::int64_t i = 0;
  for (std::int64_t ic = range.ic_begin; ic < range.ic_end; ++ic) {
    for (std::int64_t oc = range.oc_begin; oc < range.oc_end; ++oc) {
      function(i++, ElementAt{range.kh, range.kw, ic, oc});
    }
  }
}

bool IsFinite(DType dtype, std::uint64_t bits) { return !IsNaN(dtype, bits) && !IsInf(dtype, bits); }

TEST(FactsEngine, TakesTheCensusOfSubnormalAndNonZeroPartners) {
  std::int64_t found = 0;
  for (const char* text : {"n2_i6x5_c4_k3x3_o4_s2x1_g2_same_f16", "n2_i6x5_c4_k3x3_o4_s2x1_g2_same_f64"}) {
    const Problem problem = MakeProblem(text);
    const DType dtype = problem.dtype();
    const Tensors data = MakeTensors(problem, Data::kPlanted, 11);
    FactsEngine engine(problem, data.input, data.out_backprop, {});
    for (const ElementRange& range : engine.Blocks()) {
      const auto block = engine.Sum(range);
      ForEachElement(range, [&](std::int64_t i, const ElementAt& at) {
        int expected = 0;
        ForEachFactorPair(problem, data, at, [&](std::uint64_t x, std::uint64_t dy) {
          const bool nan = IsNaN(dtype, x) || IsNaN(dtype, dy);
          const bool zero = IsZero(dtype, x) || IsZero(dtype, dy);
          if (nan && !zero) expected |= kCensusNaNTimesNonZero;
          const bool infinity = IsInf(dtype, x) || IsInf(dtype, dy);
          const bool subnormal = IsSubnormal(dtype, x) || IsSubnormal(dtype, dy);
          if (infinity && subnormal) expected |= kCensusSubnormalTimesInfinity;
        });
        const int mask = kCensusNaNTimesNonZero | kCensusSubnormalTimesInfinity;
        EXPECT_EQ(block->census(i) & mask, expected);
        found += expected != 0 ? 1 : 0;
      });
    }
  }
  EXPECT_GT(found, 50);
}

TEST(FactsEngine, SumsTheProductsWithASubnormalFactorOnlyWhereAsked) {
  std::int64_t non_zero = 0;
  for (const char* dtype : kDTypes) {
    const Problem problem = MakeProblem(std::string("n2_i5x6_c3_k2x3_o4_same") + dtype);
    for (const Data kind : {Data::kTiny, Data::kAnyBits, Data::kUniform}) {
      const Tensors data = MakeTensors(problem, kind, 13);
      FactsEngine engine(problem, data.input, data.out_backprop, {.subnormal_sums = true});
      FactsEngine plain(problem, data.input, data.out_backprop, {});
      for (const ElementRange& range : engine.Blocks()) {
        const auto block = engine.Sum(range);
        const auto plain_block = plain.Sum(range);
        ForEachElement(range, [&](std::int64_t i, const ElementAt& at) {
          Dyadic expected;
          ForEachFactorPair(problem, data, at, [&](std::uint64_t x, std::uint64_t dy) {
            if (!IsFinite(problem.dtype(), x) || !IsFinite(problem.dtype(), dy)) return;
            if (!IsSubnormal(problem.dtype(), x) && !IsSubnormal(problem.dtype(), dy)) return;
            expected = expected + Abs(Dyadic::FromDouble(DecodeBits(problem.dtype(), x)) *
                                      Dyadic::FromDouble(DecodeBits(problem.dtype(), dy)));
          });
          EXPECT_EQ(block->exact_subnormal_abs_sum(i), expected);
          EXPECT_TRUE(plain_block->exact_subnormal_abs_sum(i).is_zero());
          non_zero += expected.is_zero() ? 0 : 1;
        });
      }
    }
  }
  EXPECT_GT(non_zero, 300);
}

TEST(FactsEngine, CountsTermsAboveThresholdsAndNeverTooMany) {
  std::int64_t exact_total = 0;
  std::int64_t total = 0;
  for (const char* dtype : kDTypes) {
    const Problem problem = MakeProblem(std::string("n2_i5x6_c3_k2x3_o4_s1x2_same") + dtype);
    for (const Data kind : kAllData) {
      const Tensors data = MakeTensors(problem, kind, 17);
      FactsEngine engine(problem, data.input, data.out_backprop, {});
      for (const ElementRange& range : engine.Blocks()) {
        const auto block = engine.Sum(range);
        std::vector<double> thresholds;
        ForEachElement(range, [&](std::int64_t i, const ElementAt&) {
          const double mean = block->exact_abs_sum(i).ToDouble() / 12;
          thresholds.push_back(i % 5 == 4 ? 0
                                          : std::min(mean, 0x1p1000) * std::ldexp(1.0, static_cast<int>(i % 5) - 2));
        });
        const std::vector<std::int64_t> counts = engine.CountTermsAbove(range, thresholds);
        ForEachElement(range, [&](std::int64_t i, const ElementAt& at) {
          const Dyadic threshold = Dyadic::FromDouble(thresholds[static_cast<std::size_t>(i)]);
          const Dyadic doubtful = threshold * Dyadic::FromDouble(1 + 0x1p-50) + Dyadic::PowerOfTwo(-1070);
          std::int64_t above = 0;
          std::int64_t clearly_above = 0;
          ForEachFactorPair(problem, data, at, [&](std::uint64_t x, std::uint64_t dy) {
            if (!IsFinite(problem.dtype(), x) || !IsFinite(problem.dtype(), dy)) return;
            const Dyadic product = Abs(Dyadic::FromDouble(DecodeBits(problem.dtype(), x)) *
                                       Dyadic::FromDouble(DecodeBits(problem.dtype(), dy)));
            above += Compare(product, threshold) > 0 ? 1 : 0;
            clearly_above += Compare(product, doubtful) > 0 ? 1 : 0;
          });
          const std::int64_t count = counts[static_cast<std::size_t>(i)];
          EXPECT_LE(count, above) << Format(problem) << static_cast<int>(kind);
          EXPECT_GE(count, clearly_above) << Format(problem) << static_cast<int>(kind);
          exact_total += above;
          total += count;
        });
      }
    }
  }
  EXPECT_GT(total, 10'000);
  EXPECT_GT(total * 100, exact_total * 99);
}

TEST(FactsEngine, BoundsTheSumsOfFactorsFromCloselyAbove) {
  std::int64_t compared = 0;
  for (const char* text : {"n2_i5x6_c4_k2x3_o6_s1x2_g2_same_f32", "n2_i25x26_c2_k2x3_o2_same_nchw_f64"}) {
    const Problem problem = MakeProblem(text);
    for (const Data kind : {Data::kNormal, Data::kSparse, Data::kTiny, Data::kPlanted}) {
      const Tensors data = MakeTensors(problem, kind, 19);
      FactsEngine engine(problem, data.input, data.out_backprop, {});
      for (const ElementRange& range : engine.Blocks()) {
        const auto block = engine.Sum(range);
        ForEachElement(range, [&](std::int64_t i, const ElementAt& at) {
          Dyadic sums[2];
          ForEachFactorPair(problem, data, at, [&](std::uint64_t x, std::uint64_t dy) {
            const std::uint64_t factors[2] = {x, dy};
            for (int which = 0; which < 2; ++which) {
              if (!IsFinite(problem.dtype(), factors[which])) continue;
              sums[which] = sums[which] + Abs(Dyadic::FromDouble(DecodeBits(problem.dtype(), factors[which])));
            }
          });
          const double bounds[2] = {block->input_abs_bound(i), block->out_backprop_abs_bound(i)};
          for (int which = 0; which < 2; ++which) {
            ++compared;
            if (!std::isfinite(bounds[which])) {
              EXPECT_GT(Compare(sums[which], Dyadic::PowerOfTwo(1023)), 0);
              continue;
            }
            EXPECT_GE(Compare(Dyadic::FromDouble(bounds[which]), sums[which]), 0);
            const Dyadic slack = sums[which] * Dyadic::FromDouble(1 + 0x1p-36);
            EXPECT_LE(Compare(Dyadic::FromDouble(bounds[which]), slack), 0);
          }
        });
      }
    }
  }
  EXPECT_GT(compared, 500);
}

TEST(FactsEngine, SquaresChannelsExactly) {
  std::int64_t compared = 0;
  for (const char* dtype : kDTypes) {
    const Problem problem = MakeProblem(std::string("n2_i5x6_c3_k2x3_o4_same_nchw") + dtype);
    for (const Data kind : kAllData) {
      const Tensors data = MakeTensors(problem, kind, 23);
      FactsEngine engine(problem, data.input, data.out_backprop, {});
      for (std::int64_t c = 0; c < 3; ++c, ++compared) {
        Dyadic expected;
        for (std::int64_t at = 0; at < 60; ++at) {
          const double x = data.input.value((at / 30 * 3 + c) * 30 + at % 30);
          if (std::isfinite(x)) expected = expected + Dyadic::FromDouble(x) * Dyadic::FromDouble(x);
        }
        EXPECT_EQ(engine.input_channel_square(c), expected);
      }
      for (std::int64_t oc = 0; oc < 4; ++oc, ++compared) {
        Dyadic expected;
        for (std::int64_t at = 0; at < 60; ++at) {
          const double dy = data.out_backprop.value((at / 30 * 4 + oc) * 30 + at % 30);
          if (std::isfinite(dy)) expected = expected + Dyadic::FromDouble(dy) * Dyadic::FromDouble(dy);
        }
        EXPECT_EQ(engine.out_backprop_channel_square(oc), expected);
      }
    }
  }
  EXPECT_EQ(compared, 4 * 13 * 7);
}

TEST(Scan, DescribesFiniteNonZeroValues) {
  std::int64_t compared = 0;
  for (const DType dtype : kAllDTypes) {
    for (const Data kind : kAllData) {
      const Tensor tensor = facts_test::MakeTensor(dtype, {3, 40}, kind, 29);
      const TensorScan scan = Scan(tensor);
      TensorScan expected;
      bool on_grid = true;
      bool touches_grid = false;
      for (std::int64_t i = 0; i < tensor.element_count(); ++i, ++compared) {
        const double value = std::fabs(tensor.value(i));
        if (!std::isfinite(value)) {
          expected.has_nonfinite = true;
        } else if (value == 0) {
          expected.has_zero = true;
        } else {
          expected.has_subnormal = expected.has_subnormal || IsSubnormal(dtype, tensor.bits(i));
          expected.max_abs = std::max(expected.max_abs, value);
          expected.min_abs = expected.min_abs == 0 ? value : std::min(expected.min_abs, value);
          Dyadic::Integer odd = Dyadic::FromDouble(value).mantissa();
          const int lowest = Dyadic::FromDouble(value).exponent() + static_cast<int>(lsb(odd));
          odd >>= lsb(odd);
          expected.max_significant_bits = std::max(expected.max_significant_bits, static_cast<int>(msb(odd)) + 1);
          on_grid = on_grid && lowest >= scan.lowest_bit;
          touches_grid = touches_grid || lowest == scan.lowest_bit;
        }
      }
      EXPECT_TRUE(on_grid && (touches_grid || expected.max_abs == 0));
      EXPECT_EQ(scan.max_abs, expected.max_abs);
      EXPECT_EQ(scan.min_abs, expected.min_abs);
      EXPECT_EQ(scan.max_significant_bits, expected.max_significant_bits);
      EXPECT_EQ(scan.has_zero, expected.has_zero);
      EXPECT_EQ(scan.has_subnormal, expected.has_subnormal);
      EXPECT_EQ(scan.has_nonfinite, expected.has_nonfinite);
    }
  }
  EXPECT_EQ(compared, 4 * 13 * 120);
}

}  // namespace
}  // namespace wgrad::oracle
