// The pass rules in common use: their tolerances to the digit, a fault that all of them accept, and a right kernel
// that all of them refuse. docs/classic-rules.md shows the same numbers.
#include "fuzz/classic_rules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "core/case.h"
#include "fuzz/kernels/right_kernels.h"
#include "fuzz/kernels/wrong_kernels.h"
#include "oracle/examine.h"
#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

using Values = std::vector<double>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::nan("");

Problem ProblemOf(const std::string& text) { return ParseProblem(text).value(); }

Tensor TensorOf(DType dtype, const std::vector<std::int64_t>& shape, const Values& values) {
  Tensor tensor(dtype, shape);
  for (std::int64_t at = 0; at < tensor.element_count(); ++at)
    tensor.set_value(at, values[static_cast<std::size_t>(at)]);
  return tensor;
}

bool Passes(const std::string& rule, const std::string& dtype, double actual, double expected) {
  const Problem problem = ProblemOf("n1_i1x1_c1_k1x1_o1_valid_" + dtype);
  const auto one = [&](double value) { return TensorOf(problem.result_dtype(), problem.filter_sizes(), {value}); };
  return FindClassicRule(rule)->passes(problem, one(actual), one(expected));
}

struct Limit {
  std::string rule;
  std::string dtype;
  double expected;
  double passes;  // an actual value just inside
  double fails;   // and just outside
};

// Differences are powers of two in the last places, so that every value is one of its dtype.
const Limit kLimits[] = {
    {"numpy_allclose", "f32", 1, 1 + 83 * 0x1p-23, 1 + 84 * 0x1p-23},  // 1.001e-5 / 2^-23 = 83.97
    {"numpy_allclose", "f64", 0, 1e-8, 1.1e-8},
    {"numpy_allclose", "bf16", 1, 1, 1 + 0x1p-7},
    {"torch_assert_close", "f16", 1, 1 + 0x1p-10, 1 + 0x1p-9},             // 1.01e-3
    {"torch_assert_close", "bf16", 1, 1 + 0x1p-6, 1 + 3 * 0x1p-7},         // 1.601e-2 / 2^-7 = 2.05
    {"torch_assert_close", "f32", 1, 1 + 94 * 0x1p-23, 1 + 95 * 0x1p-23},  // 1.13e-5 / 2^-23 = 94.79
    {"torch_assert_close", "f64", 1, 1 + 1.9e-7, 1 + 2.1e-7},
    {"tensorflow_array_near", "f32", 1, 1 + 83 * 0x1p-23, 1 + 84 * 0x1p-23},  // 1e-5 / 2^-23 = 83.89
    {"tensorflow_array_near", "f32", 0x1p24, 0x1p24, 0x1p24 + 2},
    {"tensorflow_by_type", "f16", 1, 1 + 0x1p-10, 1 + 3 * 0x1p-10},  // 2e-3 / 2^-10 = 2.05, relative to the actual
    {"tensorflow_by_type", "bf16", 1, 1 + 0x1p-6, 1 + 3 * 0x1p-7},   // 2e-2 / 2^-7 = 2.56
    {"tensorflow_by_type", "f32", 1, 1 + 92 * 0x1p-23, 1 + 93 * 0x1p-23},  // 1.1e-5 / 2^-23 = 92.27
    {"tensorflow_by_type", "f64", 1, 1 + 1.09e-5, 1 + 1.11e-5},
    {"tensorflow_compare", "f32", 1, 1 + 1.99e-4, 1 + 2.01e-4},
    {"benchdnn_direct", "f32", 1, 1, 1 + 0x1p-23},
    {"benchdnn_direct", "f32", 1e-6, 1.1e-6, 1.2e-6},
    {"benchdnn_direct", "bf16", 0x1p-16, 0x1p-16, 0x1p-16 + 0x1p-23},  // above 1e-5
    {"benchdnn_direct", "f64", 1, 1 + 0x1p-30, 1 + 0x1p-20},           // compared as float32
};

TEST(ClassicRules, AcceptUpToTheirTolerance) {
  std::set<std::string> compared;
  for (const Limit& limit : kLimits) {
    SCOPED_TRACE(limit.rule + " " + limit.dtype);
    EXPECT_TRUE(Passes(limit.rule, limit.dtype, limit.passes, limit.expected));
    EXPECT_FALSE(Passes(limit.rule, limit.dtype, limit.fails, limit.expected));
    compared.insert(limit.rule);
  }
  EXPECT_EQ(compared.size(), ClassicRules().size());
}

TEST(ClassicRules, TakeSpecialValuesAsTheirSourcesDo) {
  const std::set<std::string> equal_nan = {"tensorflow_by_type", "tensorflow_compare"};
  for (const ClassicRule& rule : ClassicRules()) {
    SCOPED_TRACE(rule.name);
    EXPECT_FALSE(rule.source.empty());
    EXPECT_TRUE(Passes(rule.name, "f32", kInfinity, kInfinity));
    EXPECT_FALSE(Passes(rule.name, "f32", -kInfinity, kInfinity));
    EXPECT_FALSE(Passes(rule.name, "f32", 1, kInfinity));
    EXPECT_FALSE(Passes(rule.name, "f32", kInfinity, 1));
    EXPECT_FALSE(Passes(rule.name, "f32", kNaN, 1));
    EXPECT_FALSE(Passes(rule.name, "f32", 1, kNaN));
    EXPECT_EQ(Passes(rule.name, "f32", kNaN, kNaN), equal_nan.contains(rule.name));
    EXPECT_TRUE(Passes(rule.name, "f32", -0.0, 0.0));
  }
  EXPECT_TRUE(Passes("benchdnn_direct", "f16", kNaN, kNaN));
  EXPECT_FALSE(Passes("benchdnn_direct", "bf16", kNaN, kNaN));
  EXPECT_EQ(FindClassicRule("no_such_rule"), nullptr);
}

struct Seen {
  std::set<std::string> passing = {};  // the rules that accept
  Tensor actual = {};
  oracle::Outcome verdict = oracle::Outcome::kPass;
};

Seen Look(Candidate& kernel, const Problem& problem, const Values& input, const Values& out_backprop) {
  const Tensor x = TensorOf(problem.dtype(), problem.input_shape(), input);
  const Tensor dy = TensorOf(problem.dtype(), problem.out_backprop_shape(), out_backprop);
  Seen seen{.actual = kernel.FilterGradient(problem, x, dy).result};
  const Tensor expected = reference::RoundedFilterGradient(problem, x, dy);
  for (const ClassicRule& rule : ClassicRules()) {
    if (rule.passes(problem, seen.actual, expected)) seen.passing.insert(rule.name);
  }
  const oracle::Judging judging = oracle::Resolve(problem, {}, kernel.greeting().declaration).value();
  seen.verdict = oracle::JudgeResult(problem, x, dy, seen.actual, judging).outcome;
  return seen;
}

// Small gradients, as late in training: half of the sum is missing, below every absolute tolerance.
TEST(ClassicRules, AllAcceptALostImage) {
  const auto kernel = MakeWrongKernel("last_image_missing");
  const Seen seen = Look(*kernel, ProblemOf("n2_i1x1_c1_k1x1_o1_valid_f32"), {0x1p-15, 0x1p-15}, {0x1p-15, 0x1p-15});
  EXPECT_EQ(seen.actual.value(0), 0x1p-30);
  EXPECT_EQ(seen.passing.size(), ClassicRules().size());
  EXPECT_EQ(seen.verdict, oracle::Outcome::kFail);
}

// At the size of 1 it takes equality to see the loss of 2^-20.
TEST(ClassicRules, OnlyEqualityRefusesALostSmallImage) {
  const auto kernel = MakeWrongKernel("last_image_missing");
  const Seen seen = Look(*kernel, ProblemOf("n2_i1x1_c1_k1x1_o1_valid_f32"), {1, 0x1p-20}, {1, 1});
  EXPECT_EQ(seen.actual.value(0), 1);
  EXPECT_EQ(seen.passing.size(), ClassicRules().size() - 1);
  EXPECT_FALSE(seen.passing.contains("benchdnn_direct"));
  EXPECT_EQ(seen.verdict, oracle::Outcome::kFail);
}

// The plain float32 loop: 2^24 + 1 has no place for the 1. Where large terms cancel, no rule accepts what is right.
TEST(ClassicRules, NoneAcceptsAPlainLoopOnCancellation) {
  const auto kernel = MakeRightKernel("forward");
  const Seen seen = Look(*kernel, ProblemOf("n3_i1x1_c1_k1x1_o1_valid_f32"), {0x1p24, 1, -0x1p24}, {1, 1, 1});
  EXPECT_EQ(seen.actual.value(0), 0);  // 1 is exact
  EXPECT_EQ(seen.passing, std::set<std::string>());
  EXPECT_EQ(seen.verdict, oracle::Outcome::kPass);
}

// 0 * Inf: the NaN is due, and four of the six rules refuse it.
TEST(ClassicRules, MostRefuseANaNThatIsDue) {
  const auto kernel = MakeRightKernel("forward");
  const Seen seen = Look(*kernel, ProblemOf("n2_i1x1_c1_k1x1_o1_valid_f32"), {kInfinity, 1}, {0, 1});
  EXPECT_TRUE(std::isnan(seen.actual.value(0)));
  EXPECT_EQ(seen.passing, (std::set<std::string>{"tensorflow_by_type", "tensorflow_compare"}));
}

}  // namespace
}  // namespace wgrad::fuzz
