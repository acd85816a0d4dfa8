// The same call again: differences are counted, judged, and decide only where they may.
#include "oracle/repeat.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "core/guarded_call.h"
#include "oracle/examine.h"
#include "reference/filter_gradient.h"

namespace wgrad::oracle {
namespace {

Tensor Floats(std::initializer_list<double> values) {
  Tensor tensor(DType::kFloat32, {static_cast<std::int64_t>(values.size())});
  std::int64_t at = 0;
  for (const double value : values) tensor.set_value(at++, value);
  return tensor;
}

TEST(CompareBits, CountsElementsAndSteps) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const Tensor first = Floats({1, 2, 0, -1, kNan});
  EXPECT_EQ(CompareBits(first, first).elements, 0);
  Tensor again = first;
  again.set_bits(0, again.bits(0) + 3);
  again.set_bits(3, again.bits(3) - 1);
  again.set_bits(4, again.bits(4) ^ 1);  // another NaN is a NaN
  const BitDifference steps = CompareBits(first, again);
  EXPECT_EQ(steps.elements, 2);
  EXPECT_EQ(steps.max_ulps, 3);
  EXPECT_EQ(Format(steps, first), "2 of 5 elements differ by up to 3 ulp");
  const BitDifference zeros = CompareBits(Floats({0.0}), Floats({-0.0}));
  EXPECT_EQ(zeros.elements, 1);
  EXPECT_EQ(zeros.max_ulps, 0);
  EXPECT_EQ(CompareBits(Floats({std::ldexp(1, -149)}), Floats({-std::ldexp(1, -149)})).max_ulps, 2);
  EXPECT_TRUE(std::isinf(CompareBits(Floats({1}), Floats({kNan})).max_ulps));
}

/// Right, but from the second call on every result has `ulps` added to its last element.
std::unique_ptr<Candidate> Drifting(int ulps, bool deterministic) {
  Greeting greeting{.name = "drifting"};
  greeting.declaration.deterministic = deterministic;
  const auto calls = std::make_shared<int>(0);
  return MakeInProcessCandidate(
      greeting,
      [calls, ulps](const Problem& problem, const void* input, const void* out_backprop, void* result) -> KernelStatus {
        Tensor x(problem.dtype(), problem.input_shape());
        Tensor dy(problem.dtype(), problem.out_backprop_shape());
        std::memcpy(x.data(), input, x.byte_count());
        std::memcpy(dy.data(), out_backprop, dy.byte_count());
        Tensor exact = reference::RoundedFilterGradient(problem, x, dy);
        const std::int64_t last = exact.element_count() - 1;
        if ((*calls)++ > 0) exact.set_bits(last, exact.bits(last) + static_cast<std::uint64_t>(ulps));
        std::memcpy(result, exact.data(), exact.byte_count());
        return {};
      });
}

CaseVerdict ExamineDrifting(int ulps, bool deterministic, Filling filling = Filling::kNormal) {
  const Problem problem = ParseProblem("n2_i5x7_c6_k3x2_o4_same_f32").value();
  const auto candidate = Drifting(ulps, deterministic);
  const Judging judging = Resolve(problem, {}, candidate->greeting().declaration).value();
  return Examine({problem, filling, 1}, *candidate, judging, true);
}

TEST(Repeats, ADifferenceInsideTheBoundIsAnAdvisory) {
  const CaseVerdict verdict = ExamineDrifting(1, false);
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.reason;
  EXPECT_EQ(verdict.repeats.compared, 1);
  EXPECT_EQ(verdict.repeats.differing, 1);
  ASSERT_FALSE(verdict.advisories.empty());
  EXPECT_EQ(verdict.advisories.back(), "repeatability: 1 of 144 elements differ by up to 1 ulp in a second call");
}

TEST(Repeats, ADifferenceFailsWhereDeterminismIsDeclared) {
  const CaseVerdict verdict = ExamineDrifting(1, true);
  EXPECT_EQ(verdict.outcome, Outcome::kFail);
  EXPECT_EQ(verdict.reason, "determinism is declared, but 1 of 144 elements differ by up to 1 ulp in a second call");
}

TEST(Repeats, ASecondResultOutsideItsBoundFails) {
  const CaseVerdict verdict = ExamineDrifting(1 << 20, false);
  EXPECT_EQ(verdict.outcome, Outcome::kFail);
  EXPECT_EQ(verdict.wrong_elements, 1);
  ASSERT_FALSE(verdict.worst.empty());
  EXPECT_EQ(verdict.worst[0].run_label, "called again");
  // On integers every bit is due.
  EXPECT_EQ(ExamineDrifting(1, false, Filling::kIntA).outcome, Outcome::kFail);
}

TEST(Repeats, WhoHasAnsweredCannotStepBack) {
  const Problem problem = ParseProblem("n2_i5x7_c6_k3x2_o4_same_f32").value();
  for (const AnswerKind kind : {AnswerKind::kUnsupported, AnswerKind::kRejected}) {
    const auto calls = std::make_shared<int>(0);
    const auto candidate = MakeInProcessCandidate(
        {.name = "once"}, [calls, kind](const Problem& p, const void*, const void*, void* result) -> KernelStatus {
          if ((*calls)++ > 0) return {kind, "not again"};
          std::memset(result, 0, static_cast<std::size_t>(p.filter_count()) * sizeof(float));
          return {};
        });
    const CaseVerdict verdict = Examine({problem, Filling::kNormal, 1}, *candidate, Resolve(problem, {}, {}).value());
    EXPECT_EQ(verdict.outcome, Outcome::kFail);
    EXPECT_EQ(verdict.wrong_elements, 144) << verdict.reason;  // what was found before is not lost
  }
}

TEST(Repeats, TheRightOnesAreTheSame) {
  const CaseVerdict verdict = ExamineDrifting(0, true);
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.reason;
  EXPECT_EQ(verdict.repeats.compared, 1);
  EXPECT_EQ(verdict.repeats.differing, 0);
}

TEST(CompareInstances, JudgesEachByItself) {
  CaseVerdict verdict = ExamineDrifting(0, false);
  ASSERT_TRUE(verdict.first_result.has_value());
  const auto near = Drifting(1, false);
  const auto far = Drifting(1 << 20, false);
  for (const auto& candidate : {near.get(), far.get()}) {
    Tensor nothing(DType::kFloat32, verdict.problem->input_shape());
    Tensor less(DType::kFloat32, verdict.problem->out_backprop_shape());
    candidate->FilterGradient(*verdict.problem, nothing, less);  // the first call is right
  }
  const Instance slightly_off[] = {{"in a fresh process", near.get()}};
  CompareInstances(slightly_off, verdict);
  EXPECT_EQ(verdict.outcome, Outcome::kPass) << verdict.reason;
  EXPECT_EQ(verdict.repeats.compared, 2);
  EXPECT_EQ(verdict.repeats.differing, 1);
  const Instance wrong[] = {{"under MALLOC_PERTURB_=128", far.get()}};
  CompareInstances(wrong, verdict);
  EXPECT_EQ(verdict.outcome, Outcome::kFail);
  EXPECT_TRUE(verdict.repeats.elsewhere);
  EXPECT_TRUE(verdict.reason.starts_with("under MALLOC_PERTURB_=128: ")) << verdict.reason;
  EXPECT_EQ(verdict.wrong_elements, 1);
}

}  // namespace
}  // namespace wgrad::oracle
