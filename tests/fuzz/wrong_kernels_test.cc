// Each structural fault on the smallest input that shows it, with the wrong result in numbers, and the control beside
// it.
#include "fuzz/kernels/wrong_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "core/case.h"
#include "core/random.h"
#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

using Values = std::vector<double>;

Problem ProblemOf(const std::string& text) { return ParseProblem(text).value(); }

Tensor Filled(const Problem& problem, const std::vector<std::int64_t>& shape, const auto& value) {
  Tensor tensor(problem.dtype(), shape);
  for (std::int64_t at = 0; at < tensor.element_count(); ++at) tensor.set_value(at, value(at));
  return tensor;
}

Values Counting(const Tensor& tensor) {
  Values values(static_cast<std::size_t>(tensor.element_count()));
  for (std::size_t at = 0; at < values.size(); ++at) values[at] = static_cast<double>(at + 1);
  return values;
}

Answer AnswerOf(Candidate& kernel, const Problem& problem, const Values& input, const Values& out_backprop) {
  const auto from = [](const Values& values) {
    return [&values](std::int64_t at) { return values[static_cast<std::size_t>(at)]; };
  };
  return kernel.FilterGradient(problem, Filled(problem, problem.input_shape(), from(input)),
                               Filled(problem, problem.out_backprop_shape(), from(out_backprop)));
}

// The result on 1, 2, 3, .. in both inputs, or nothing where the call is no result.
Values OnCounting(std::string_view name, const Problem& problem) {
  const Values input = Counting(Tensor(problem.dtype(), problem.input_shape()));
  const Values out_backprop = Counting(Tensor(problem.dtype(), problem.out_backprop_shape()));
  const Answer answer = AnswerOf(*MakeWrongKernel(name), problem, input, out_backprop);
  return answer.kind == AnswerKind::kResult ? ToDoubles(answer.result) : Values();
}

struct SmallestInput {
  std::string id;
  std::string problem;
  Values correct;
  Values wrong;
};

const SmallestInput kSmallestInputs[] = {
    {"P1", "n1_i1x1_c1_k2x1_o1_same_f32", {1, 0}, {0, 1}},
    {"P1", "n1_i1x1_c1_k1x2_o1_same_f32", {1, 0}, {0, 1}},
    {"P2", "n1_i1x2_c1_k1x2_o1_s1x2_d1x2_same_f32", {1, 0}, {0, 2}},
    {"P2", "n1_i1x4_c1_k1x3_o1_s1x2_same_f32", {7, 10, 3}, {4, 7, 10}},
    {"P3", "n1_i1x1_c1_k1x2_o1_d1x2_same_f32", {0, 0}, {1, 0}},
    {"P4", "n1_i1x3_c1_k1x1_o1_s1x3_same_f32", {1}, {2}},
    {"P5", "n1_i1x1_c1_k1x3_o1_same_f32", {0, 1, 0}, {0, 0, 0}},
    {"P6", "n1_i1x1_c1_k1x2_o1_same_f32", {1, 0}, {0, 1}},
    {"P7", "n1_i1x1_c1_k1x2_o1_same_f32", {1, 0}, {0, 1}},
    {"S1", "n1_i1x2_c1_k1x1_o1_s2x1_valid_f32", {5}, {1}},
    {"S2", "n1_i1x2_c1_k1x1_o1_s1x2_valid_f32", {1}, {2}},
    {"S3", "n1_i1x2_c1_k1x1_o1_s1x2_valid_f32", {1}, {0}},
    {"S4", "n1_i1x1_c1_k2x1_o1_s2x1_pt1b1l0r0_f32", {0, 1}, {0, 0}},
    {"D1", "n1_i1x1_c1_k1x2_o1_d1x2_same_f32", {0, 0}, {0, 1}},
    {"D2", "n1_i1x1_c1_k1x2_o1_d1x2_same_f32", {0, 0}, {0, 1}},
    {"D3", "n1_i1x1_c1_k1x3_o1_d1x2_same_f32", {0, 1, 0}, {0, 0, 0}},
    {"D4", "n1_i1x1_c1_k1x2_o1_d1x2_same_f32", {0, 0}, {0, 1}},
    {"F1", "n1_i1x1_c1_k1x2_o1_same_f32", {1, 0}, {0, 1}},
    {"F2", "n1_i1x2_c1_k2x2_o1_s1x2_same_f32", {1, 2, 0, 0}, {1, 0, 2, 0}},
    {"L1", "n1_i1x1_c4_k1x1_o2_g2_valid_f32", {1, 6, 2, 8}, {1, 2, 6, 8}},
    {"L2", "n1_i1x1_c1_k1x2_o2_same_f32", {1, 2, 0, 0}, {1, 0, 2, 0}},
    {"L3", "n1_i1x1_c1_k1x2_o2_same_f32", {1, 2, 0, 0}, {1, 0, 2, 0}},
    {"L4", "n1_i1x2_c2_k1x1_o1_s1x2_valid_f32", {1, 2}, {1, 3}},
    {"L5", "n1_i1x1_c1_k1x2_o2_same_f32", {1, 2, 0, 0}, {1, 0, 2, 0}},
    {"G1", "n1_i1x1_c2_k1x1_o4_g2_valid_f32", {1, 2, 6, 8}, {1, 4, 3, 8}},
    {"G2", "n1_i1x1_c2_k1x1_o2_g2_valid_f32", {1, 4}, {1, 2}},
    {"G3", "n1_i1x1_c2_k1x1_o2_g2_valid_f32", {1, 4}, {1, 0}},
    {"G4", "n1_i1x1_c4_k1x1_o2_g2_valid_f32", {1, 6, 2, 8}, {1, 4, 3, 8}},
    {"G5", "n1_i1x1_c2_k1x1_o4_g2_valid_f32", {1, 2, 6, 8}, {1, 6, 2, 8}},
    {"G6", "n1_i1x1_c2_k1x1_o2_s1x2_g2_valid_f32", {1, 4}, {1, 2}},
    {"B1", "n2_i1x1_c1_k1x1_o1_valid_f32", {5}, {1}},
    {"B2", "n3_i1x1_c1_k1x1_o1_valid_f32", {14}, {5}},
    {"B3", "n2_i1x1_c1_k1x1_o1_valid_f32", {5}, {2.5}},
    {"B4", "n1_i1x2_c1_k1x1_o1_valid_f32", {5}, {2.5}},
    {"T1", "n1_i1x1_c5_k1x1_o1_valid_f32", {1, 2, 3, 4, 5}, {1, 2, 3, 4, 0}},
    {"T2", "n1_i1x1_c1_k1x1_o5_valid_f32", {1, 2, 3, 4, 5}, {1, 2, 3, 4, 0}},
    {"T3", "n1_i1x5_c1_k1x1_o1_valid_f32", {55}, {30}},
    {"T4", "n1_i1x4_c1_k1x4_o1_valid_f32", {1, 2, 3, 4}, {1, 2, 3, 0}},
    {"Q1", "n1_i1x3_c1_k1x1_o1_s1x2_valid_f32", {7}, {5}},
    {"Q2", "n1_i1x1_c1_k1x1_o1_s1x2_pt0b0l1r0_f32", {0}, {1}},
    {"Q3", "n1_i1x1_c2_k1x2_o2_d1x2_g2_same_f32", {0, 0, 0, 0}, {1, 4, 0, 0}},
    {"Q4", "n1_i1x1_c1_k1x2_o1_same_f32", {1, 0}, {1, 1}},
    {"Q5", "n1_i2x1_c1_k1x2_o1_s2x1_same_f32", {1, 0}, {1, 2}},
    {"K1", "n1_i1x2_c1_k2x1_o1_s1x2_same_f32", {1, 0}, {1, 2}},
};

std::map<std::string, std::string> StructuralNames() {
  std::map<std::string, std::string> names;
  for (const WrongKernel& kernel : WrongKernels()) {
    if (kernel.family == FaultFamily::kStructural) names[kernel.id] = kernel.name;
  }
  return names;
}

TEST(WrongKernels, StructuralOnesAreWrongAsRecordedOnTheSmallestInput) {
  const std::map<std::string, std::string> names = StructuralNames();
  std::set<std::string> shown;
  for (const SmallestInput& smallest : kSmallestInputs) {
    ASSERT_TRUE(names.contains(smallest.id)) << smallest.id;
    const std::string& name = names.at(smallest.id);
    const Problem problem = ProblemOf(smallest.problem);
    EXPECT_EQ(OnCounting("none", problem), smallest.correct) << smallest.problem;
    EXPECT_EQ(OnCounting(name, problem), smallest.wrong) << name << " on " << smallest.problem;
    shown.insert(smallest.id);
  }
  EXPECT_EQ(shown.size(), 42u);
  EXPECT_EQ(names.size(), 42u);
}

TEST(WrongKernels, ExchangedChannelAxesShowWithoutGroups) {
  const Problem problem = ProblemOf("n1_i1x1_c2_k1x1_o2_valid_f32");
  EXPECT_EQ(ToDoubles(AnswerOf(*MakeWrongKernel("none"), problem, {1, 2}, {1, 3}).result), (Values{1, 3, 2, 6}));
  EXPECT_EQ(ToDoubles(AnswerOf(*MakeWrongKernel("channel_axes_exchanged"), problem, {1, 2}, {1, 3}).result),
            (Values{1, 2, 3, 6}));
}

struct DotProduct {
  std::string name;
  std::string dtype;
  std::int64_t batch;  // of 1x1 images
  Values input;
  Values out_backprop;
  double correct;
  double wrong;
};

TEST(WrongKernels, NumericOnesAreWrongAsRecordedOnDotProducts) {
  const double infinity = std::numeric_limits<double>::infinity();
  const DotProduct products[] = {
      {"narrow_accumulator", "bf16", 1, {256, 1, 1}, {1, 1, 1}, 258, 256},
      {"narrow_accumulator", "f16", 1, {2048, 1, 1}, {1, 1, 1}, 2050, 2048},
      {"narrow_accumulator", "f32", 1, {256, 1, 1}, {1, 1, 1}, 258, 256},
      {"narrow_partials", "bf16", 3, {256, 1, 1}, {1, 1, 1}, 258, 256},
      {"saturates", "f16", 1, {256}, {256}, infinity, 65504},
      {"half_through_bfloat16", "f16", 1, {1 + 0x1p-10}, {1024}, 1025, 1024},
      {"tf32_inputs", "f32", 1, {1 + 0x1p-12}, {4096}, 4097, 4096},
      {"truncating_store", "bf16", 1, {1, 0x1p-8, 0x1p-9}, {1, 1, 1}, 1.0078125, 1},
      {"stale_output", "f64", 1, {1}, {1}, 1, 1 + 1e-4},
      {"drops_last_term", "f32", 1, {1, 2, 4}, {1, 1, 1}, 7, 3},
      {"last_image_missing", "f32", 3, {1, 2, 4}, {1, 1, 1}, 7, 3},
      {"lost_update_in_one_element", "f32", 3, {1, 2, 4}, {1, 1, 1}, 7, 5},
  };
  for (const DotProduct& product : products) {
    const auto width = static_cast<std::int64_t>(product.input.size()) / product.batch;
    const Problem problem = ProblemOf("n" + std::to_string(product.batch) + "_i1x" + std::to_string(width) +
                                      "_c1_k1x1_o1_valid_" + product.dtype);
    EXPECT_EQ(AnswerOf(*MakeWrongKernel("none"), problem, product.input, product.out_backprop).result.value(0),
              product.correct);
    EXPECT_EQ(AnswerOf(*MakeWrongKernel(product.name), problem, product.input, product.out_backprop).result.value(0),
              product.wrong)
        << product.name;
  }
}

TEST(WrongKernels, SpecialValuesDisappear) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Problem problem = ProblemOf("n1_i1x2_c1_k1x1_o1_valid_f32");
  for (const char* const name : {"zero_terms_skipped", "nan_swallowed"}) {
    EXPECT_TRUE(std::isnan(AnswerOf(*MakeWrongKernel("none"), problem, {nan, 2}, {0, 3}).result.value(0)));
    EXPECT_EQ(AnswerOf(*MakeWrongKernel(name), problem, {nan, 2}, {0, 3}).result.value(0), 6) << name;
  }
}

TEST(WrongKernels, WhatTheResultHeldBeforeComesThrough) {
  const Problem problem = ProblemOf("n1_i1x1_c1_k1x1_o4_valid_f32");
  const auto not_numbers = [&](const char* name) {
    const Values result = OnCounting(name, problem);
    return std::count_if(result.begin(), result.end(), [](double value) { return std::isnan(value); });
  };
  EXPECT_EQ(not_numbers("none"), 0);
  EXPECT_EQ(not_numbers("adds_to_output"), 4);
  EXPECT_EQ(not_numbers("scales_output_by_zero"), 4);
  EXPECT_EQ(not_numbers("clears_a_quarter"), 3);
}

TEST(WrongKernels, AnEmptyBatchLeavesTheResultUntouched) {
  const Problem problem = ProblemOf("n0_i1x1_c1_k1x1_o1_valid_f32");
  EXPECT_EQ(AnswerOf(*MakeWrongKernel("none"), problem, {}, {}).result.bits(0), 0u);
  EXPECT_EQ(AnswerOf(*MakeWrongKernel("empty_batch_untouched"), problem, {}, {}).result.bits(0),
            PoisonBits(DType::kFloat32));
}

TEST(WrongKernels, TheCacheForgetsTheData) {
  const Problem problem = ProblemOf("n1_i1x1_c1_k1x1_o1_valid_f32");
  const Problem other = ProblemOf("n1_i1x1_c1_k1x1_o1_same_f32");
  const auto cached = MakeWrongKernel("cached_by_shape");
  EXPECT_EQ(AnswerOf(*cached, problem, {2}, {3}).result.value(0), 6);
  EXPECT_EQ(AnswerOf(*cached, problem, {5}, {7}).result.value(0), 6);
  EXPECT_EQ(AnswerOf(*cached, other, {5}, {7}).result.value(0), 35);
}

TEST(WrongKernels, DamageAroundTheCallIsAnError) {
  const Problem problem = ProblemOf("n1_i1x1_c1_k1x1_o1_valid_f16");
  const Answer past_end = AnswerOf(*MakeWrongKernel("writes_past_end"), problem, {2}, {3});
  EXPECT_EQ(past_end.kind, AnswerKind::kError);
  EXPECT_EQ(past_end.message, "wrote past the end of filter_backprop");
  const Answer changed = AnswerOf(*MakeWrongKernel("changes_input"), problem, {2}, {3});
  EXPECT_EQ(changed.kind, AnswerKind::kError);
  EXPECT_EQ(changed.message, "changed its input input");
}

TEST(WrongKernels, TheControlIsTheCorrectlyRoundedResult) {
  const std::string problems[] = {
      "n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32",
      "n3_i8x11_c6_k3x4_o10_s3x2_g2_pt2b0l1r3_f32",
      "n3_i9x8_c6_k3x4_o10_d2x1_g2_same_f32",
      "n3_i5x4_c6_k1x1_o10_s2x3_g2_pt1b0l0r1_f32",
      "n3_i1x1_c5_k3x4_o6_same_f32",
      "n3_i4x5_c5_k2x3_o10_s1x2_g5_pt1b0l1r1_f32",
      "n2_i4x7_c2_k2x2_o3_s4x5_same_f32",
      "n3_i7x9_c6_k2x3_o10_s2x3_g2_same_nchw_f32",
      "n2_i11x10_c3_k3x2_o4_s2x3_d3x2_same_nchw_bf16",
      "n1_i4x4_c2_k2x2_o2_pt5b0l0r5_f64",
      "n2_i2x3_c3_k5x7_o4_same_f16",
      "n2_i8x8_c4_k3x3_o4_s2x2_valid_f16",
      "n2_i9x9_c3_k3x3_o4_d1x3_valid_bf16_f32",
      "n2_i7x9_c3_k2x3_o5_s2x3_same_f16_f32",
      "n0_i4x4_c2_k3x3_o2_same_f32",
      "n1_i2x2_c1_k3x3_o1_s2x2_valid_f32",
  };
  const auto control = MakeWrongKernel("none");
  std::int64_t compared = 0;
  for (const std::string& text : problems) {
    const Problem problem = ProblemOf(text);
    const auto small = [](std::uint64_t seed) {
      return [seed](std::int64_t at) {
        return static_cast<double>(SplitMix64(seed, static_cast<std::uint64_t>(at)) % 9) - 4;
      };
    };
    const Tensor input = Filled(problem, problem.input_shape(), small(1));
    const Tensor out_backprop = Filled(problem, problem.out_backprop_shape(), small(2));
    const Tensor expected = reference::RoundedFilterGradient(problem, input, out_backprop);
    const Answer answer = control->FilterGradient(problem, input, out_backprop);
    ASSERT_EQ(answer.kind, AnswerKind::kResult) << text << ": " << answer.message;
    ASSERT_EQ(answer.result.shape(), expected.shape());
    EXPECT_EQ(ToDoubles(answer.result), ToDoubles(expected)) << text;
    compared += expected.element_count();
  }
  EXPECT_EQ(compared, 2449);
}

TEST(WrongKernels, HaveNamesOfTheirOwnAndSayWhatIsWrong) {
  std::set<std::string> names;
  std::set<std::string> ids;
  std::map<FaultFamily, int> families;
  for (const WrongKernel& kernel : WrongKernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_TRUE(kernel.id.empty() || ids.insert(kernel.id).second) << kernel.id;
    EXPECT_FALSE(kernel.description.empty()) << kernel.name;
    ++families[kernel.family];
    const auto candidate = MakeWrongKernel(kernel.name);
    ASSERT_NE(candidate, nullptr) << kernel.name;
    EXPECT_EQ(candidate->greeting().name, "mutant:" + kernel.name);
    EXPECT_EQ(candidate->greeting().version, "1");
    EXPECT_EQ(candidate->greeting().capabilities, Capabilities());
    EXPECT_TRUE(candidate->greeting().declaration.accuracy_class.empty());
    EXPECT_TRUE(candidate->greeting().declaration.deterministic);
  }
  EXPECT_EQ(WrongKernels().front().name, "none");
  EXPECT_EQ(families[FaultFamily::kControl], 1);
  EXPECT_EQ(families[FaultFamily::kStructural], 42);
  EXPECT_EQ(families[FaultFamily::kNumeric], 8);
  EXPECT_EQ(families[FaultFamily::kMemory], 8);
  EXPECT_EQ(families[FaultFamily::kLostTerm], 3);
  EXPECT_EQ(MakeWrongKernel("no_such_kernel"), nullptr);
}

}  // namespace
}  // namespace wgrad::fuzz
