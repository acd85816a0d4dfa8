// The exact sums against TensorFlow's answers to 1,500 calls whose every partial sum is exact.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "reference/filter_gradient.h"
#include "reference/forward_map.h"
#include "tests/support/golden.h"

namespace wgrad::reference {
namespace {

TEST(GoldenExact, ReferenceReproducesEveryResult) {
  const auto calls = ReadGoldenCalls(WGRAD_TEST_DATA "/tensorflow/exact.jsonl");
  ASSERT_TRUE(calls.ok()) << calls.error().message;
  std::map<std::string, int> compared;
  int agreements = 0;
  for (const GoldenCall& call : *calls) {
    const auto problem = Validate(call.arguments);
    ASSERT_TRUE(problem.ok()) << call.id << ": " << problem.error().message;
    const Tensor result = RoundedFilterGradient(*problem, call.input, call.out_backprop);
    ASSERT_EQ(result.shape(), call.exact->shape());
    ASSERT_TRUE(std::ranges::equal(result.bytes(), call.exact->bytes())) << call.id << ": " << Format(*problem);
    ASSERT_FALSE(call.agree.empty()) << call.id;
    agreements += static_cast<int>(call.agree.size());
    ++compared["all"];
    ++compared[std::string(NameOf(problem->dtype()))];
    if (problem->groups() > 1) ++compared["groups"];
    if (problem->data_format() == DataFormat::kNchw) ++compared["nchw"];
  }
  EXPECT_EQ(compared["all"], 1500);
  EXPECT_EQ(agreements, 2839);
  for (const char* kind : {"f16", "bf16", "f32", "f64", "groups", "nchw"}) EXPECT_GT(compared[kind], 100) << kind;
}

TEST(GoldenExact, SecondDerivationReproducesATenthOfThem) {
  const auto calls = ReadGoldenCalls(WGRAD_TEST_DATA "/tensorflow/exact.jsonl");
  ASSERT_TRUE(calls.ok()) << calls.error().message;
  std::int64_t compared = 0;
  for (std::size_t i = 0; i < calls->size(); i += 10) {
    const GoldenCall& call = (*calls)[i];
    const Problem problem = Validate(call.arguments).value();
    std::int64_t index = 0;
    for (const ExactElement& element : FilterGradientByForward(problem, call.input, call.out_backprop)) {
      ASSERT_EQ(RoundedBits(element, problem.dtype()), call.exact->bits(index)) << call.id << " element " << index;
      ++index;
    }
    compared += index;
  }
  EXPECT_EQ(compared, 13505);
}

}  // namespace
}  // namespace wgrad::reference
