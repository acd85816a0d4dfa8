// Problem: shapes, offsets and copies.
#include "core/problem.h"

#include <gtest/gtest.h>

#include "core/case.h"

namespace wgrad {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(Problem, GivesShapesInTheOrderOfTheDataFormat) {
  const Problem nhwc = ParseProblem("n2_i5x7_c6_k3x2_o4_g2_valid_f32").value();
  EXPECT_EQ(nhwc.input_shape(), (Shape{2, 5, 7, 6}));
  EXPECT_EQ(nhwc.out_backprop_shape(), (Shape{2, 3, 6, 4}));
  EXPECT_EQ(nhwc.filter_sizes(), (Shape{3, 2, 3, 4}));
  const Problem nchw = ParseProblem("n2_i5x7_c6_k3x2_o4_g2_valid_nchw_f32").value();
  EXPECT_EQ(nchw.input_shape(), (Shape{2, 6, 5, 7}));
  EXPECT_EQ(nchw.out_backprop_shape(), (Shape{2, 4, 3, 6}));
  EXPECT_EQ(nchw.filter_sizes(), (Shape{3, 2, 3, 4}));
  EXPECT_EQ(nchw.positions(), 2 * 3 * 6);
  EXPECT_EQ(nchw.multiply_adds(), 2 * 3 * 6 * 3 * 2 * 3 * 4);
}

// Walks a tensor's indices in memory order and expects the offsets 0, 1, 2, ...
template <typename Offset>
std::int64_t WalkInOrder(const Shape& shape, Offset offset) {
  std::int64_t next = 0;
  for (std::int64_t a = 0; a < shape[0]; ++a) {
    for (std::int64_t b = 0; b < shape[1]; ++b) {
      for (std::int64_t c = 0; c < shape[2]; ++c) {
        for (std::int64_t d = 0; d < shape[3]; ++d) EXPECT_EQ(offset(a, b, c, d), next++);
      }
    }
  }
  return next;
}

TEST(Problem, OffsetsCoverEachTensorInMemoryOrder) {
  using I = std::int64_t;
  const Problem nhwc = ParseProblem("n2_i5x7_c6_k3x2_o4_g2_same_f32").value();
  EXPECT_EQ(WalkInOrder(nhwc.input_shape(), [&](I n, I h, I w, I c) { return nhwc.InputOffset(n, h, w, c); }),
            nhwc.input_count());
  EXPECT_EQ(
      WalkInOrder(nhwc.out_backprop_shape(), [&](I n, I h, I w, I c) { return nhwc.OutBackpropOffset(n, h, w, c); }),
      nhwc.out_backprop_count());
  const Problem nchw = ParseProblem("n2_i5x7_c6_k3x2_o4_g2_same_nchw_f32").value();
  EXPECT_EQ(WalkInOrder(nchw.input_shape(), [&](I n, I c, I h, I w) { return nchw.InputOffset(n, h, w, c); }),
            nchw.input_count());
  EXPECT_EQ(
      WalkInOrder(nchw.out_backprop_shape(), [&](I n, I c, I h, I w) { return nchw.OutBackpropOffset(n, h, w, c); }),
      nchw.out_backprop_count());
  for (const Problem& problem : {nhwc, nchw}) {
    EXPECT_EQ(WalkInOrder(problem.filter_sizes(), [&](I h, I w, I c, I o) { return problem.FilterOffset(h, w, c, o); }),
              problem.filter_count());
  }
}

TEST(WithDType, ChangesNothingElse) {
  const Problem problem = ParseProblem("n2_i5x7_c6_k3x2_o4_s2x1_g2_pt1b0l2r1_nchw_f32").value();
  EXPECT_EQ(Format(WithDType(problem, DType::kFloat16, DType::kFloat32)),
            "n2_i5x7_c6_k3x2_o4_s2x1_g2_pt1b0l2r1_nchw_f16_f32");
  EXPECT_EQ(WithDType(WithDType(problem, DType::kFloat64, DType::kFloat64), DType::kFloat32, DType::kFloat32), problem);
}

TEST(WithBatchTimes, MultipliesTheBatchAndRefusesOverflow) {
  const Problem problem = ParseProblem("n2_i5x7_c6_k3x2_o4_same_f32").value();
  EXPECT_EQ(Format(WithBatchTimes(problem, 3).value()), "n6_i5x7_c6_k3x2_o4_same_f32");
  EXPECT_EQ(Format(WithBatchTimes(problem, 0).value()), "n0_i5x7_c6_k3x2_o4_same_f32");
  EXPECT_EQ(WithBatchTimes(problem, std::int64_t{1} << 62).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(WithBatchTimes(problem, -1).error().code, ErrorCode::kTooLarge);
  EXPECT_EQ(WithBatchTimes(problem, std::int64_t{1} << 58).error().rule, 26);
}

}  // namespace
}  // namespace wgrad
