// int_a, int_o and partition keep the promises of docs/fillings.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "oracle/fillings.h"
#include "tests/oracle/fillings_support.h"

namespace wgrad::oracle {
namespace {

TEST(IntA, IsDenseIntegersWhoseSumsAreExactInTheAccumulator) {
  std::int64_t elements = 0;
  for (const Problem& p : Table()) {
    const Data run = FilledCase({p, Filling::kIntA, 3}).MakeRun(0);
    const double largest = p.dtype() == DType::kFloat64 ? 0x1p26 : 256;
    for (const Tensor* tensor : {&run.input, &run.out_backprop}) {
      for (std::int64_t i = 0; i < tensor->element_count(); ++i) {
        const double value = tensor->value(i);
        ASSERT_EQ(value, std::nearbyint(value));
        ASSERT_NE(value, 0);
        ASSERT_LE(std::fabs(value), largest);
      }
    }
    const double limit = p.result_dtype() == DType::kFloat16 ? 65504 : std::ldexp(1.0, AccumulatorBits(p));
    for (const Element& e : Elements(p, run)) {
      ASSERT_LE(e.abs_sum(), limit) << Format(p);
      ++elements;
    }
  }
  EXPECT_GT(elements, 10000);
}

TEST(IntA, UsesTheAccumulatorsRange) {
  for (const char* text : {"n1_i20x20_c2_k3x3_o4_valid_f32", "n1_i20x20_c2_k3x3_o4_valid_bf16",
                           "n1_i20x20_c2_k3x3_o4_valid_f64", "n4_i50x50_c1_k1x1_o2_valid_f32"}) {
    const Problem p = P(text);
    const Data run = FilledCase({p, Filling::kIntA, 1}).MakeRun(0);
    for (const Element& e : Elements(p, run)) {
      EXPECT_GT(e.abs_sum(), std::ldexp(1.0, AccumulatorBits(p) - 1)) << text;
    }
  }
}

TEST(IntA, ThinsBeyondTheAccumulatorsRange) {
  const Problem p = P("n17_i1024x1024_c1_k1x1_o1_valid_bf16");
  ASSERT_GT(p.positions(), std::int64_t{1} << 24);
  const Data run = FilledCase({p, Filling::kIntA, 1}).MakeRun(0);
  std::int64_t nonzero = 0;
  for (const std::uint16_t bits : run.out_backprop.values<std::uint16_t>()) nonzero += bits != 0;
  EXPECT_LE(nonzero, std::int64_t{1} << 24);
  EXPECT_GT(nonzero, std::int64_t{1} << 23);
  EXPECT_NE(run.out_backprop.value(0), 0);
  EXPECT_NE(run.out_backprop.value(p.positions() - 1), 0);
}

TEST(IntO, SumsAreExactInTheInputsOwnFormat) {
  std::int64_t elements = 0;
  for (const Problem& p : Table()) {
    const Data run = FilledCase({p, Filling::kIntO, 3}).MakeRun(0);
    const double limit = std::ldexp(1.0, FormatOf(p.dtype()).precision);
    for (const Element& e : Elements(p, run)) {
      ASSERT_LE(e.abs_sum(), limit) << Format(p);
      for (const double term : e.terms) ASSERT_EQ(term, std::nearbyint(term));
      ++elements;
    }
  }
  EXPECT_GT(elements, 10000);
}

TEST(IntO, KeepsEachTapsFirstAndLastTermAndTheTileEdges) {
  const Problem p = P("n3_i30x41_c1_k3x3_o5_same_bf16");
  const Data run = FilledCase({p, Filling::kIntO, 1}).MakeRun(0);
  std::int64_t nonzero = 0;
  for (std::int64_t i = 0; i < run.out_backprop.element_count(); ++i) nonzero += run.out_backprop.value(i) != 0;
  EXPECT_LE(nonzero, 128 * 5);
  EXPECT_LT(nonzero, p.out_backprop_count() / 4);
  for (const Element& e : Elements(p, run)) {
    EXPECT_NE(e.terms.front(), 0);
    EXPECT_NE(e.terms.back(), 0);
  }
  for (std::int64_t oc = 0; oc < 5; ++oc) {
    std::set<std::int64_t> images, rows, columns;
    for (std::int64_t n = 0; n < 3; ++n) {
      for (std::int64_t oh = 0; oh < 30; ++oh) {
        for (std::int64_t ow = 0; ow < 41; ++ow) {
          if (run.out_backprop.value(p.OutBackpropOffset(n, oh, ow, oc)) == 0) continue;
          images.insert(n);
          rows.insert(oh);
          columns.insert(ow);
        }
      }
    }
    for (const std::int64_t row : {0, 1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 28, 29}) EXPECT_TRUE(rows.contains(row));
    for (const std::int64_t column : {0, 1, 7, 8, 9, 31, 32, 33, 39, 40}) EXPECT_TRUE(columns.contains(column));
    EXPECT_EQ(images.size(), 3u);
  }
}

TEST(Partition, PartsAreDisjointAndAddUpToTheWhole) {
  for (const char* text : {"n5_i4x5_c2_k2x2_o3_same_f32", "n2_i4x5_c2_k2x2_o3_same_nchw_bf16",
                           "n1_i4x5_c2_k2x2_o3_same_f16", "n1_i1x5_c2_k1x2_o3_same_f64"}) {
    const Problem p = P(text);
    const FilledCase filled({p, Filling::kPartition, 1});
    const std::int64_t extent = p.batch() > 1 ? p.batch() : p.rows().output;
    ASSERT_EQ(filled.run_count(), 1 + std::min<std::int64_t>(3, extent));
    const Data whole = filled.MakeRun(0);
    std::vector<int> owners(static_cast<std::size_t>(p.out_backprop_count()), 0);
    for (int run = 1; run < filled.run_count(); ++run) {
      const Data part = filled.MakeRun(run);
      for (std::int64_t i = 0; i < p.out_backprop_count(); ++i) {
        if (part.out_backprop.value(i) == 0) continue;
        ASSERT_EQ(part.out_backprop.bits(i), whole.out_backprop.bits(i));
        ++owners[static_cast<std::size_t>(i)];
      }
      EXPECT_TRUE(std::ranges::equal(part.input.bytes(), whole.input.bytes()));
    }
    for (const int count : owners) EXPECT_EQ(count, 1);
  }
}

}  // namespace
}  // namespace wgrad::oracle
