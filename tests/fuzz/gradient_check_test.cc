// Gradient checks: exact maps agree with each other, right kernels pass, and each identity rejects something wrong.
#include "fuzz/gradient_check.h"

#include <gtest/gtest.h>

#include "core/case.h"
#include "fuzz/kernels/wrong_kernels.h"
#include "optimized/filter_gradient.h"
#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

const std::string kSpread[] = {
    "n2_i5x7_c4_k2x3_o6_s2x3_g2_same_f32",   "n1_i6x5_c3_k3x2_o2_pt2b0l1r3_f32",
    "n2_i7x6_c2_k3x2_o4_d2x1_same_nchw_f32", "n2_i9x8_c1_k3x2_o2_d1x3_valid_f64",
    "n2_i5x4_c4_k1x1_o2_s2x3_g2_valid_f64",  "n1_i1x1_c3_k3x4_o2_same_bf16",
    "n2_i4x5_c2_k2x2_o3_s3x2_same_f16",      "n2_i4x4_c2_k2x2_o2_valid_f16_f32",
};

Problem ProblemOf(const std::string& text) { return ParseProblem(text).value(); }

GradientVerdict Check(const std::string& text, Candidate& candidate, const std::string& class_text = "",
                      std::uint64_t seed = 1) {
  const Problem problem = ProblemOf(text);
  oracle::JudgingChoice choice;
  if (!class_text.empty()) choice.any = oracle::ParseClass(class_text).value();
  return CheckGradient(problem, seed, candidate,
                       oracle::Resolve(problem, choice, candidate.greeting().declaration).value());
}

const IdentityVerdict& Of(const GradientVerdict& verdict, Identity identity) {
  return verdict.identities[static_cast<std::size_t>(identity)];
}

std::int64_t Comparisons(const GradientVerdict& verdict) {
  std::int64_t sum = 0;
  for (const IdentityVerdict& identity : verdict.identities) sum += identity.comparisons;
  return sum;
}

TEST(GradientCheck, OwnMapsAgreeInEveryIdentity) {
  std::int64_t compared = 0;
  for (const std::string& text : kSpread) {
    const GradientVerdict verdict = CheckMaps(ProblemOf(text), 1);
    EXPECT_EQ(verdict.outcome, PropertyOutcome::kHolds) << text << ": " << verdict.reason;
    for (int i = 0; i < kIdentityCount; ++i) {
      EXPECT_GT(Of(verdict, static_cast<Identity>(i)).comparisons, 0) << text << " identity " << i;
    }
    EXPECT_LE(Of(verdict, Identity::kRounded).ratio, 1);
    compared += Comparisons(verdict);
  }
  EXPECT_EQ(compared, 988);
}

TEST(GradientCheck, RightKernelsPass) {
  std::int64_t compared = 0;
  for (const auto& candidate :
       {reference::MakeReferenceCandidate(), optimized::MakeOpenBlasCandidate(1), MakeWrongKernel("none")}) {
    for (const std::string& text : kSpread) {
      for (const std::uint64_t seed : {std::uint64_t{1}, std::uint64_t{2}}) {
        const GradientVerdict verdict = Check(text, *candidate, "", seed);
        EXPECT_EQ(verdict.outcome, PropertyOutcome::kHolds) << text << ": " << verdict.reason;
        EXPECT_LE(Of(verdict, Identity::kRounded).ratio, 1);
        compared += Comparisons(verdict);
      }
    }
  }
  EXPECT_EQ(compared, 5736);
}

struct Rejection {
  Identity identity;
  std::string mutant;
  std::string problem;
};

TEST(GradientCheck, EachIdentityRejectsAWrongKernel) {
  const Rejection rejections[] = {
      {Identity::kBasisProbe, "taps_rotated", "n2_i5x7_c4_k2x3_o6_s2x3_g2_same_f32"},
      {Identity::kCentralDifference, "pad_before_after_swapped", "n1_i6x5_c3_k3x2_o2_pt2b0l1r3_f32"},
      {Identity::kOneSidedDifference, "dilation_ignored", "n2_i9x8_c1_k3x2_o2_d1x3_valid_f64"},
      {Identity::kForwardAdjoint, "drops_last_term", "n2_i4x4_c2_k2x2_o2_valid_f16_f32"},
      {Identity::kInputAdjoint, "first_group_only", "n2_i5x4_c4_k1x1_o2_s2x3_g2_valid_f64"},
      {Identity::kMixedInput, "cached_by_shape", "n2_i4x5_c2_k2x2_o3_s3x2_same_f16"},
      {Identity::kMixedOutBackprop, "cached_by_shape", "n2_i4x5_c2_k2x2_o3_s3x2_same_f16"},
      {Identity::kPureSecond, "narrow_accumulator", "n2_i7x6_c2_k3x2_o4_d2x1_same_nchw_f32"},
      {Identity::kRounded, "tf32_inputs", "n1_i6x5_c3_k3x2_o2_pt2b0l1r3_f32"},
  };
  int rejected = 0;
  for (const auto& [identity, mutant, problem] : rejections) {
    const GradientVerdict verdict = Check(problem, *MakeWrongKernel(mutant));
    EXPECT_EQ(verdict.outcome, PropertyOutcome::kBroken) << mutant;
    EXPECT_GT(Of(verdict, identity).failures, 0) << NameOf(identity) << " does not reject " << mutant;
    EXPECT_NE(verdict.reason.find("filter_backprop[kh="), std::string::npos) << verdict.reason;
    EXPECT_NE(verdict.reason.find(" is due"), std::string::npos) << verdict.reason;
    rejected += Of(verdict, identity).failures > 0 ? 1 : 0;
  }
  EXPECT_EQ(rejected, kIdentityCount);
}

// Which identities fail where one of the three maps is broken: "basis_probe central_difference ..".
std::string Broken(const ExactMaps& maps) {
  const GradientVerdict verdict = CheckMaps(ProblemOf("n2_i5x4_c2_k2x3_o3_same_f32"), 1, maps);
  std::string names;
  for (int i = 0; i < kIdentityCount; ++i) {
    const auto identity = static_cast<Identity>(i);
    if (Of(verdict, identity).failures > 0) names += (names.empty() ? "" : " ") + std::string(NameOf(identity));
  }
  return names;
}

TEST(GradientCheck, BrokenMapsAreTold) {
  EXPECT_EQ(Broken(ReferenceMaps()), "");
  ExactMaps input_gradient = ReferenceMaps();
  input_gradient.input_gradient = [](const Problem& problem, const Numbers& filter, const Numbers& out_backprop) {
    Numbers gradient = ReferenceMaps().input_gradient(problem, filter, out_backprop);
    gradient.front() += 1;
    return gradient;
  };
  EXPECT_EQ(Broken(input_gradient), "input_adjoint");
  ExactMaps forward = ReferenceMaps();
  forward.forward = [](const Problem& problem, const Numbers& input, const Numbers& filter) {
    Numbers outputs = ReferenceMaps().forward(problem, input, filter);
    for (oracle::Rational& output : outputs) output *= output;
    return outputs;
  };
  EXPECT_EQ(Broken(forward),
            "basis_probe central_difference one_sided_difference forward_adjoint mixed_input mixed_out_backprop "
            "pure_second rounded");
  ExactMaps filter_gradient = ReferenceMaps();
  filter_gradient.filter_gradient = [](const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
    Numbers gradient = ReferenceMaps().filter_gradient(problem, input, out_backprop);
    gradient.back() += 1;
    return gradient;
  };
  // A constant cancels in second differences.
  EXPECT_EQ(Broken(filter_gradient),
            "basis_probe central_difference one_sided_difference forward_adjoint input_adjoint mixed_input "
            "mixed_out_backprop");
}

TEST(GradientCheck, TheUsualCheckPassesWhatIdentitiesReject) {
  // A float64 gradient that is summed in float32, and one that keeps a remainder of 1e-4 in each element.
  for (const std::string mutant : {"narrow_accumulator", "stale_output"}) {
    const GradientVerdict verdict = Check("n2_i9x8_c1_k3x2_o2_d1x3_valid_f64", *MakeWrongKernel(mutant));
    EXPECT_EQ(verdict.outcome, PropertyOutcome::kBroken);
    EXPECT_TRUE(verdict.classic.passed) << mutant << " " << verdict.classic.error;
    EXPECT_GT(verdict.classic.error, 0);
    EXPECT_EQ(verdict.classic.elements, 12);
    EXPECT_GT(Of(verdict, Identity::kRounded).ratio, 1e4) << mutant;
  }
}

TEST(GradientCheck, TheUsualCheckRefusesARightKernel) {
  const GradientVerdict verdict = Check("n2_i7x6_c2_k3x2_o4_d2x1_same_nchw_f32", *MakeWrongKernel("none"));
  EXPECT_EQ(verdict.outcome, PropertyOutcome::kHolds) << verdict.reason;
  EXPECT_FALSE(verdict.classic.passed) << verdict.classic.error;
}

TEST(GradientCheck, SaysWhatCouldNotBeCompared) {
  const auto right = MakeWrongKernel("none");
  const GradientVerdict empty = Check("n1_i4x4_c2_k2x2_o0_valid_f32", *right);
  EXPECT_EQ(empty.outcome, PropertyOutcome::kNotApplicable);
  EXPECT_EQ(empty.reason, "the filter has no elements");
  // No sum is exact under such a class, but the inner product has its tolerance.
  const GradientVerdict channel = Check("n1_i4x4_c2_k2x2_o2_valid_f32", *right, "channel:16");
  EXPECT_EQ(channel.outcome, PropertyOutcome::kHolds) << channel.reason;
  EXPECT_EQ(Of(channel, Identity::kBasisProbe).comparisons, 0);
  EXPECT_EQ(Of(channel, Identity::kBasisProbe).reason, "class channel:16 makes no sum exact");
  EXPECT_EQ(Of(channel, Identity::kRounded).comparisons, 1);
}

TEST(GradientCheck, WhatIsNoResultIsSaid) {
  EXPECT_EQ(Check(kSpread[0], *MakeWrongKernel("changes_input")).outcome, PropertyOutcome::kError);
  const GradientVerdict unwritten = Check("n0_i4x4_c2_k2x2_o2_valid_f32", *MakeWrongKernel("empty_batch_untouched"));
  EXPECT_EQ(unwritten.outcome, PropertyOutcome::kBroken);
  EXPECT_EQ(unwritten.reason, "filter_backprop[kh=0, kw=0, ic=0, oc=0] was never written, but 0 is due");
}

}  // namespace
}  // namespace wgrad::fuzz
