// Every structural fault shrinks to two numbers; deaths and failures that come and go shrink too, and say so.
#include "fuzz/shrink.h"

#include <gtest/gtest.h>

#include <memory>

#include "core/guarded_call.h"
#include "core/random.h"
#include "fuzz/case_source.h"
#include "fuzz/finding_file.h"
#include "fuzz/kernels/wrong_kernels.h"
#include "fuzz/witness.h"
#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

ProbeOptions Questions(CandidateFactory make) {
  return {std::move(make), {}, true, Clock::now() + std::chrono::minutes(5)};
}

// The first failure among random cases.
std::optional<oracle::CaseVerdict> FirstFailure(const CandidateFactory& make, std::uint64_t cases) {
  const CaseSource source(MakeSpace(make()->greeting().capabilities, {.max_work = 20'000}).value(), {.seed = 1});
  const auto candidate = make();
  for (std::uint64_t index = 0; index < cases; ++index) {
    const Case c = source.Draw(index);
    const oracle::Judging judging = oracle::Resolve(c.problem, {}, candidate->greeting().declaration).value();
    oracle::CaseVerdict verdict = oracle::Examine(c, *candidate, judging);
    if (IsWrong(verdict.outcome)) return verdict;
  }
  return std::nullopt;
}

TEST(Shrink, EveryStructuralFaultToTwoNumbers) {
  int shrunk_kernels = 0;
  for (const WrongKernel& kernel : WrongKernels()) {
    if (kernel.family != FaultFamily::kStructural) continue;
    const CandidateFactory make = [&] { return MakeWrongKernel(kernel.name); };
    const auto failure = FirstFailure(make, 2000);
    ASSERT_TRUE(failure) << kernel.name << " survives";
    const Shrunk shrunk = Shrink(*failure, Questions(make));
    EXPECT_TRUE(shrunk.rate.always()) << kernel.name;
    ASSERT_TRUE(shrunk.call) << kernel.name;
    EXPECT_LE(NonZeroCount(shrunk.call->data), 2) << kernel.name << ": " << shrunk.witness;
    EXPECT_LE(shrunk.plainest.problem.multiply_adds(), 64) << kernel.name << ": " << Format(shrunk.plainest);
    EXPECT_FALSE(shrunk.witness.empty());
    ++shrunk_kernels;
  }
  EXPECT_GE(shrunk_kernels, 42);
}

Shrunk ShrinkCase(const std::string& mutant, const std::string& text) {
  const CandidateFactory make = [mutant] { return MakeWrongKernel(mutant); };
  const Case c = ParseCase(text).value();
  const auto candidate = make();
  return Shrink(oracle::Examine(c, *candidate, oracle::Resolve(c.problem, {}, {}).value()), Questions(make));
}

TEST(Shrink, SaysWhereTheProductMustLand) {
  Shrunk shrunk = ShrinkCase("pad_before_after_swapped", "n5_i3x6_c2_k2x6_o2_d2x1_same_nchw_f32/normal/9");
  EXPECT_EQ(Format(shrunk.plainest), "n1_i1x1_c1_k1x2_o1_same_f32/int_a/1");
  EXPECT_EQ(shrunk.witness,
            "input[0,0,0,0] = 1 and out_backprop[0,0,0,0] = 1 must land on filter_backprop[0,0,0,0]; yours put it on "
            "[0,1,0,0]");
  shrunk = ShrinkCase("first_image_only", "n5_i3x6_c2_k2x6_o2_same_f32/normal/9");
  EXPECT_EQ(shrunk.witness,
            "input[1,0,0,0] = 1 and out_backprop[1,0,0,0] = 1 must land on filter_backprop[0,0,0,0]; yours lost it");
  shrunk = ShrinkCase("padding_repeats_edge", "n1_i3x6_c1_k2x6_o1_same_f32/int_a/9");
  EXPECT_NE(shrunk.witness.find("must be 0; yours is 1"), std::string::npos) << shrunk.witness;
  shrunk = ShrinkCase("adds_to_output", "n1_i3x6_c1_k2x6_o1_same_f32/int_a/9");
  EXPECT_EQ(shrunk.witness, "with zeros alone, filter_backprop[0,0,0,0] must be 0; yours is NaN");
}

// A right kernel that sometimes loses its first element.
CandidateFactory Intermittent(std::uint64_t one_in) {
  const auto calls = std::make_shared<std::uint64_t>(0);
  return [calls, one_in]() -> std::unique_ptr<Candidate> {
    const RawKernel kernel = [calls, one_in](const Problem& problem, const void* input, const void* out_backprop,
                                             void* result) {
      Tensor x(problem.dtype(), problem.input_shape());
      Tensor dy(problem.dtype(), problem.out_backprop_shape());
      std::copy_n(static_cast<const std::byte*>(input), x.byte_count(), x.data());
      std::copy_n(static_cast<const std::byte*>(out_backprop), dy.byte_count(), dy.data());
      Tensor due = reference::RoundedFilterGradient(problem, x, dy);
      if (SplitMix64(7, (*calls)++) % one_in == 0 && due.element_count() > 0) due.set_value(0, due.value(0) + 1);
      std::copy_n(due.data(), due.byte_count(), static_cast<std::byte*>(result));
      return KernelStatus{};
    };
    return MakeInProcessCandidate(Greeting{.name = "intermittent"}, kernel);
  };
}

TEST(Shrink, WhatFailsNowAndThenIsRunAgain) {
  const CandidateFactory make = Intermittent(12);
  const auto failure = FirstFailure(make, 2000);
  ASSERT_TRUE(failure);
  const Shrunk shrunk = Shrink(*failure, Questions(make));
  EXPECT_EQ(shrunk.rate.runs, 50);
  EXPECT_GT(shrunk.rate.failed, 0);
  EXPECT_LT(shrunk.rate.failed, 50);
  EXPECT_EQ(shrunk.plainest.problem.multiply_adds(), 1) << Format(shrunk.plainest);
  ASSERT_TRUE(shrunk.call);
  EXPECT_EQ(NonZeroCount(shrunk.call->data), 0) << shrunk.witness;
}

TEST(Shrink, WhatIsNotSeenAgainStaysAsItWasFound) {
  const CandidateFactory right = [] { return MakeWrongKernel("none"); };
  oracle::CaseVerdict failure;
  failure.c = ParseCase("n1_i3x6_c1_k2x6_o1_same_f32/int_a/9").value();
  failure.problem = failure.c->problem;
  failure.outcome = oracle::Outcome::kFail;
  const Shrunk shrunk = Shrink(failure, Questions(right));
  EXPECT_TRUE(shrunk.rate.never());
  EXPECT_EQ(shrunk.rate.runs, 50);
  EXPECT_EQ(shrunk.plainest, *failure.c);
  EXPECT_FALSE(shrunk.call);
}

TEST(Shrink, StopsWhereTimeIsOut) {
  const CandidateFactory make = [] { return MakeWrongKernel("first_image_only"); };
  const Case c = ParseCase("n5_i3x6_c2_k2x6_o2_same_f32/normal/9").value();
  const oracle::CaseVerdict failure = oracle::Examine(c, *make(), oracle::Resolve(c.problem, {}, {}).value());
  const Shrunk shrunk = Shrink(failure, {make, {}, true, Clock::now()});
  EXPECT_TRUE(shrunk.out_of_time);
  EXPECT_EQ(shrunk.rate.runs, 1);
  EXPECT_EQ(shrunk.plainest, c);
}

// A candidate that dies of more than one image.
class Dying : public Candidate {
 public:
  const Greeting& greeting() const override { return greeting_; }
  Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) override {
    if (problem.batch() > 1) return Answer::Of(AnswerKind::kDied, "signal 11");
    return Answer::Of(reference::RoundedFilterGradient(problem, input, out_backprop));
  }

 private:
  Greeting greeting_{.name = "dying"};
};

TEST(Shrink, DeathsShrinkToo) {
  const CandidateFactory make = [] { return std::make_unique<Dying>(); };
  const auto failure = FirstFailure(make, 100);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->outcome, oracle::Outcome::kDied);
  const Shrunk shrunk = Shrink(*failure, Questions(make));
  EXPECT_EQ(shrunk.verdict.outcome, oracle::Outcome::kDied);
  EXPECT_EQ(shrunk.plainest.problem.batch(), 2);
  EXPECT_EQ(shrunk.plainest.problem.multiply_adds(), 2);
  ASSERT_TRUE(shrunk.call);
  EXPECT_EQ(shrunk.witness, "with zeros alone: signal 11");
}

TEST(FindingFile, RunsAgainFromItsText) {
  const std::string text = "n5_i3x6_c2_k2x6_o2_d2x1_same_nchw_f32/normal/9";
  const Shrunk shrunk = ShrinkCase("dilation_ignored", text);
  oracle::CaseVerdict failure = shrunk.verdict;
  failure.c = ParseCase(text).value();
  const vectors::VectorFile file = FindingFile({"wgrad test", "mutant"}, failure, &shrunk);
  EXPECT_EQ(FindingFileName(*failure.c), "n5_i3x6_c2_k2x6_o2_d2x1_same_nchw_f32_normal_9.json");
  const Result<vectors::VectorFile> read = vectors::Parse(vectors::Format(file));
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(read->test_count(), 3u);
  Probe wrong(Questions([] { return MakeWrongKernel("dilation_ignored"); }));
  Probe right(Questions([] { return MakeWrongKernel("none"); }));
  for (const vectors::Group& group : read->groups) {
    for (const vectors::Test& test : group.tests) {
      EXPECT_EQ(RunTest(group.problem, test, wrong).outcome, oracle::Outcome::kFail) << test.id;
      EXPECT_EQ(RunTest(group.problem, test, right).outcome, oracle::Outcome::kPass) << test.id;
    }
  }
}

}  // namespace
}  // namespace wgrad::fuzz
