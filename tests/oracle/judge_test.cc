// The quick verdict out of doubles agrees with the allowed set, at the places where the spacing of the format changes.
#include "oracle/judge.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle/examine.h"

namespace wgrad::oracle {
namespace {

Outcome JudgeSum(const std::vector<double>& terms, double actual, const std::string& accuracy_class) {
  const Problem problem = ParseProblem("n" + std::to_string(terms.size()) + "_i1x1_c1_k1x1_o1_valid_f64").value();
  Tensor input(problem.dtype(), problem.input_shape());
  Tensor out_backprop(problem.dtype(), problem.out_backprop_shape());
  Tensor result(problem.result_dtype(), problem.filter_sizes());
  for (std::int64_t at = 0; at < input.element_count(); ++at) {
    input.set_value(at, terms[static_cast<std::size_t>(at)]);
    out_backprop.set_value(at, 1);
  }
  result.set_value(0, actual);
  Judging judging;
  judging.accuracy_class = ParseClass(accuracy_class).value();
  return JudgeResult(problem, input, out_backprop, result, judging).outcome;
}

// 1 is as far from 1 + 2^-53 as float64 allows above it, and twice as far as it allows below.
TEST(Judge, APowerOfTwoHasItsWiderGapOnTheSumsSide) {
  const double half_a_step = 0x1p-53;
  int judged = 0;
  for (const char* const name : {"wide", "cr", "faithful", "order"}) {
    for (const double sign : {1.0, -1.0}) {
      for (const double scale : {1.0, 0x1p-300, 0x1p300}) {
        const double one = sign * scale;
        EXPECT_EQ(JudgeSum({one, one * half_a_step}, one, name), Outcome::kPass) << name << " of " << one;
        EXPECT_EQ(JudgeSum({one, -one * half_a_step / 2}, one, name), Outcome::kPass) << name << " of " << one;
        ++judged;
      }
    }
  }
  EXPECT_EQ(judged, 24);
}

TEST(Judge, BelowAPowerOfTwoTheGapIsTheNarrowOne) {
  EXPECT_EQ(JudgeSum({1, -0x1.8p-54}, 1, "wide"), Outcome::kFail);  // 1 - 2^-53 is nearer
  EXPECT_EQ(JudgeSum({1, 0x1.8p-53}, 1, "wide"), Outcome::kFail);   // 1 + 2^-52 is nearer
}

}  // namespace
}  // namespace wgrad::oracle
