// The metamorphic properties: right kernels have all of them, and each one rejects a kernel that is wrong.
#include "fuzz/metamorphic.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/case.h"
#include "fuzz/kernels/wrong_kernels.h"
#include "optimized/filter_gradient.h"
#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

// Groups, dilation, strides with and without remainder, odd SAME totals, padding on one side, both layouts, windows
// that do not reach the end, all dtypes, an empty batch, no output.
const std::string kSpread[] = {
    "n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32",
    "n3_i8x11_c6_k3x4_o10_s3x2_g2_pt2b0l1r3_f32",
    "n3_i9x8_c6_k3x4_o10_d2x1_g2_same_nchw_f32",
    "n2_i9x8_c3_k3x2_o4_d1x3_valid_f64",
    "n3_i5x4_c6_k1x1_o10_s2x3_g2_pt1b0l0r1_f64",
    "n1_i1x1_c5_k3x4_o6_same_f32",
    "n2_i4x7_c5_k2x2_o7_s4x5_same_nchw_bf16",
    "n2_i11x10_c3_k3x2_o4_s2x3_d3x2_same_bf16",
    "n2_i6x6_c3_k3x3_o4_pt0b3l3r0_f16",
    "n2_i8x8_c4_k3x3_o4_s3x2_valid_f16_f32",
    "n5_i7x6_c4_k3x2_o8_s1x2_g4_same_nchw_bf16_f32",
    "n2_i3x3_c2_k2x2_o2_pt5b0l0r5_f32",
    "n0_i4x4_c2_k3x3_o2_same_f32",
    "n2_i2x2_c2_k3x3_o2_s2x2_valid_f32",
    "n2_i6x5_c2_k3x3_o0_same_f32",
};

oracle::Judging JudgingFor(const Problem& problem, const Candidate& candidate, const std::string& class_text = "") {
  oracle::JudgingChoice choice;
  if (!class_text.empty()) choice.any = oracle::ParseClass(class_text).value();
  return oracle::Resolve(problem, choice, candidate.greeting().declaration).value();
}

PropertyVerdict Check(std::string_view property, const std::string& text, Candidate& candidate,
                      const std::string& class_text = "") {
  const Problem problem = ParseProblem(text).value();
  return CheckProperty(property, problem, 1, candidate, JudgingFor(problem, candidate, class_text));
}

struct Totals {
  std::map<std::string, int> held;  // by property
  std::int64_t compared = 0;
};

Totals AllHold(Candidate& candidate) {
  Totals totals;
  for (const PropertyInfo& property : Properties()) {
    for (const std::string& text : kSpread) {
      const PropertyVerdict verdict = Check(property.name, text, candidate);
      EXPECT_TRUE(verdict.outcome == PropertyOutcome::kHolds || verdict.outcome == PropertyOutcome::kNotApplicable)
          << property.name << " on " << text << ": " << verdict.reason;
      EXPECT_EQ(verdict.broken, 0);
      EXPECT_EQ(verdict.outcome == PropertyOutcome::kHolds, verdict.compared > 0) << verdict.reason;
      totals.held[std::string(property.name)] += verdict.outcome == PropertyOutcome::kHolds;
      totals.compared += verdict.compared;
    }
  }
  return totals;
}

// How many of the spread's problems each property says something about.
const std::map<std::string, int> kApplicable = {
    {"scale_input", 14},
    {"scale_out_backprop", 14},
    {"negate_input", 14},
    {"negate_out_backprop", 14},
    {"linear_input", 14},
    {"linear_out_backprop", 14},
    {"zero_input_channel", 14},
    {"zero_out_channel", 14},
    {"batch_permutation", 12},
    {"batch_split", 12},
    {"input_channel_permutation", 13},
    {"out_channel_permutation", 14},
    {"group_permutation", 5},
    {"input_channel_split", 13},
    {"out_channel_split", 14},
    {"groups_apart", 5},
    {"data_format", 14},
    {"padding_written", 10},
    {"padded_input", 10},
    {"dense_filter", 3},
    {"dense_out_backprop", 7},
    {"mirrored_rows", 13},
    {"mirrored_columns", 13},
    {"transposed", 14},
    {"unread_pixels", 6},
};

TEST(Metamorphic, RightKernelsHaveEveryProperty) {
  const auto reference = reference::MakeReferenceCandidate();
  const auto openblas = optimized::MakeOpenBlasCandidate(1);
  const auto control = MakeWrongKernel("none");
  for (Candidate* candidate : {reference.get(), openblas.get(), control.get()}) {
    const Totals totals = AllHold(*candidate);
    for (const auto& [property, problems] : kApplicable) {
      EXPECT_EQ(totals.held.at(property), problems) << property << " with " << candidate->greeting().name;
    }
    EXPECT_EQ(totals.compared, 41590) << candidate->greeting().name;
  }
  EXPECT_EQ(Properties().size(), kApplicable.size());
}

struct Rejection {
  std::string_view property;
  std::string_view kernel;
};

const Rejection kRejections[] = {
    {"scale_input", "stale_output"},
    {"scale_out_backprop", "stale_output"},
    {"negate_input", "stale_output"},
    {"negate_out_backprop", "stale_output"},
    {"linear_input", "cached_by_shape"},
    {"linear_out_backprop", "stale_output"},
    {"zero_input_channel", "groups_read_first_channels"},
    {"zero_out_channel", "stale_output"},
    {"batch_permutation", "first_image_only"},
    {"batch_split", "divided_by_batch"},
    {"input_channel_permutation", "input_channel_tail_lost"},
    {"out_channel_permutation", "output_channel_tail_lost"},
    {"group_permutation", "first_group_only"},
    {"input_channel_split", "input_channel_tail_lost"},
    {"out_channel_split", "output_channel_tail_lost"},
    {"groups_apart", "group_by_modulo"},
    {"data_format", "input_layout_misread"},
    {"padding_written", "same_extra_before"},
    {"padded_input", "padding_repeats_edge"},
    {"dense_filter", "dilation_ignored"},
    {"dense_out_backprop", "last_output_lost_on_remainder"},
    {"mirrored_rows", "drops_last_term"},
    {"mirrored_columns", "output_column_tail_lost"},
    {"transposed", "row_stride_for_both"},
    {"unread_pixels", "last_taps_kept"},
};

// The first verdict over the spread that says broken, or nothing.
std::optional<PropertyVerdict> FirstBroken(std::string_view property, Candidate& candidate) {
  for (const std::string& text : kSpread) {
    PropertyVerdict verdict = Check(property, text, candidate);
    if (verdict.outcome == PropertyOutcome::kBroken) return verdict;
  }
  return std::nullopt;
}

TEST(Metamorphic, EachPropertyRejectsAWrongKernel) {
  std::set<std::string_view> rejecting;
  for (const Rejection& rejection : kRejections) {
    const auto broken = FirstBroken(rejection.property, *MakeWrongKernel(rejection.kernel));
    ASSERT_TRUE(broken) << rejection.property << " accepts " << rejection.kernel;
    EXPECT_GT(broken->broken, 0);
    EXPECT_LE(broken->broken, broken->compared);
    EXPECT_TRUE(broken->reason.starts_with("filter_backprop[kh=")) << broken->reason;
    EXPECT_TRUE(IsWrong(broken->outcome));
    rejecting.insert(rejection.property);
  }
  EXPECT_EQ(rejecting.size(), Properties().size());
}

TEST(Metamorphic, TheReasonNamesElementProblemsAndValues) {
  const PropertyVerdict verdict =
      Check("padding_written", "n1_i1x2_c1_k1x2_o1_same_f32", *MakeWrongKernel("same_extra_before"));
  EXPECT_EQ(verdict.outcome, PropertyOutcome::kBroken);
  EXPECT_EQ(verdict.compared, 2);
  EXPECT_EQ(verdict.broken, 2);
  EXPECT_EQ(verdict.calls, 2);
  EXPECT_EQ(verdict.reason,
            "filter_backprop[kh=0, kw=0, ic=0, oc=0] is -32424 with the plain call (n1_i1x2_c1_k1x2_o1_same_f32), but "
            "-12592 with the same padding written out (n1_i1x2_c1_k1x2_o1_pt0b0l0r1_f32, filter_backprop[kh=0, kw=0, "
            "ic=0, oc=0])");
}

// What no relation between results can show: a kernel that answers another question in a consistent way.
TEST(Metamorphic, MostStructuralFaultsShowWithoutAReference) {
  int rejected = 0;
  std::set<std::string> unseen;
  for (const WrongKernel& kernel : WrongKernels()) {
    if (kernel.family != FaultFamily::kStructural) continue;
    const auto candidate = MakeWrongKernel(kernel.name);
    bool seen = false;
    for (const PropertyInfo& property : Properties()) seen = seen || FirstBroken(property.name, *candidate).has_value();
    rejected += seen;
    if (!seen) unseen.insert(kernel.name);
  }
  EXPECT_EQ(rejected, 41);
  EXPECT_EQ(unseen, (std::set<std::string>{"taps_rotated"}));
}

TEST(Metamorphic, ANarrowAccumulatorIsWrongOnlyWhereTheClassForbidsIt) {
  const auto kernel = MakeWrongKernel("narrow_accumulator");
  const std::string text = "n3_i7x9_c3_k2x3_o4_same_bf16";
  EXPECT_EQ(Check("batch_permutation", text, *kernel, "wide").outcome, PropertyOutcome::kBroken);
  for (const PropertyInfo& property : Properties()) {
    const PropertyVerdict verdict = Check(property.name, text, *kernel, "order:bf16");
    EXPECT_FALSE(IsWrong(verdict.outcome)) << property.name << ": " << verdict.reason;
  }
  EXPECT_GT(Check("batch_permutation", text, *kernel, "order:bf16").compared, 0);
}

TEST(Metamorphic, FaithfulStoresAndPartialSumsCauseNoFalseAlarm) {
  int held = 0;
  for (const auto& [kernel_name, class_text] :
       std::map<std::string, std::string>{{"truncating_store", "wide_hw"}, {"narrow_partials", "split:5"}}) {
    const auto kernel = MakeWrongKernel(kernel_name);
    for (const PropertyInfo& property : Properties()) {
      for (const char* const text : {"n5_i7x9_c3_k2x3_o4_s2x1_same_bf16", "n5_i7x9_c3_k2x3_o4_s2x1_same_f16"}) {
        const PropertyVerdict verdict = Check(property.name, text, *kernel, class_text);
        EXPECT_FALSE(IsWrong(verdict.outcome)) << property.name << " with " << kernel_name << ": " << verdict.reason;
        held += verdict.outcome == PropertyOutcome::kHolds;
      }
    }
  }
  EXPECT_EQ(held, 84);
}

TEST(Metamorphic, RoundedInputsAreExactInSmallIntegers) {
  const auto kernel = MakeWrongKernel("tf32_inputs");
  for (const PropertyInfo& property : Properties()) {
    const PropertyVerdict verdict = Check(property.name, "n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32", *kernel, "input:tf32");
    EXPECT_FALSE(IsWrong(verdict.outcome)) << property.name << ": " << verdict.reason;
  }
}

TEST(Metamorphic, TransformsOfChannelsKeepZeroChannelsOnly) {
  const auto kernel = MakeWrongKernel("none");
  const std::string text = "n3_i7x9_c6_k2x3_o10_s2x3_g2_same_f32";
  int held = 0;
  for (const PropertyInfo& property : Properties()) {
    const PropertyVerdict by_channel = Check(property.name, text, *kernel, "channel:fft");
    held += by_channel.outcome == PropertyOutcome::kHolds;
    if (property.name == "zero_input_channel") {
      EXPECT_EQ(by_channel.compared, 2 * 3 * 5);
    }
    if (property.name == "zero_out_channel") {
      EXPECT_EQ(by_channel.compared, 2 * 3 * 3);
    }
    EXPECT_EQ(Check(property.name, text, *kernel, "tensor:strassen").outcome, PropertyOutcome::kNotApplicable);
  }
  EXPECT_EQ(held, 2);
  EXPECT_EQ(Check("zero_out_channel", text, *MakeWrongKernel("stale_output"), "channel:fft").outcome,
            PropertyOutcome::kBroken);
}

TEST(Metamorphic, ProblemsThatLeaveNothingToCompareAreSaidSo) {
  const auto kernel = MakeWrongKernel("none");
  const std::string plain = "n1_i3x3_c1_k2x2_o1_valid_f32";
  const std::map<std::string_view, std::string> reasons = {
      {"batch_split", "there are not two images"},
      {"groups_apart", "there is one group only"},
      {"input_channel_split", "a group has no two input channels"},
      {"padded_input", "there is no padding"},
      {"dense_filter", "there is no dilation"},
      {"dense_out_backprop", "there is no stride"},
      {"unread_pixels", "every pixel is read"},
  };
  for (const auto& [property, reason] : reasons) {
    const PropertyVerdict verdict = Check(property, plain, *kernel);
    EXPECT_EQ(verdict.outcome, PropertyOutcome::kNotApplicable);
    EXPECT_EQ(verdict.reason, reason);
    EXPECT_EQ(verdict.calls, 0);
  }
  EXPECT_EQ(Check("scale_input", "n1_i3x3_c1_k2x2_o0_valid_f32", *kernel).reason, "the filter has no elements");
}

// Answers the first calls rightly, and then in one way.
class GivesUp : public Candidate {
 public:
  GivesUp(int right_calls, AnswerKind kind, Capabilities capabilities = {}) : right_calls_(right_calls), kind_(kind) {
    greeting_.capabilities = std::move(capabilities);
  }
  const Greeting& greeting() const override { return greeting_; }
  Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) override {
    if (right_calls_-- <= 0) return Answer::Of(kind_, "no more");
    return right_->FilterGradient(problem, input, out_backprop);
  }

 private:
  int right_calls_;
  AnswerKind kind_;
  Greeting greeting_{.name = "gives up"};
  std::unique_ptr<Candidate> right_ = MakeWrongKernel("none");
};

TEST(Metamorphic, AnswersWithoutAResultComeThrough) {
  const std::map<AnswerKind, PropertyOutcome> outcomes = {{AnswerKind::kUnsupported, PropertyOutcome::kUnsupported},
                                                          {AnswerKind::kRejected, PropertyOutcome::kRejected},
                                                          {AnswerKind::kError, PropertyOutcome::kError},
                                                          {AnswerKind::kDied, PropertyOutcome::kDied}};
  for (const auto& [kind, outcome] : outcomes) {
    GivesUp candidate(1, kind);
    const PropertyVerdict verdict = Check("negate_input", "n1_i2x2_c1_k1x1_o1_valid_f32", candidate);
    EXPECT_EQ(verdict.outcome, outcome);
    EXPECT_EQ(verdict.reason, "with input negated (n1_i2x2_c1_k1x1_o1_valid_f32): no more");
    EXPECT_EQ(verdict.calls, 2);
    EXPECT_EQ(verdict.compared, 0);
    EXPECT_EQ(IsWrong(verdict.outcome), kind != AnswerKind::kUnsupported);
  }
}

TEST(Metamorphic, CallsOutsideTheCapabilitiesAreNotMade) {
  Capabilities nhwc;
  nhwc.data_formats = {"NHWC"};
  GivesUp candidate(0, AnswerKind::kDied, nhwc);
  const PropertyVerdict other = Check("data_format", "n1_i2x2_c1_k1x1_o1_valid_f32", candidate);
  EXPECT_EQ(other.outcome, PropertyOutcome::kNotApplicable);
  EXPECT_TRUE(other.reason.starts_with("the candidate does not cover n1_i2x2_c1_k1x1_o1_valid_nchw_f32: "))
      << other.reason;
  const PropertyVerdict itself = Check("negate_input", "n1_i2x2_c1_k1x1_o1_valid_nchw_f32", candidate);
  EXPECT_EQ(itself.outcome, PropertyOutcome::kUnsupported);
  EXPECT_EQ(itself.calls, 0);
}

}  // namespace
}  // namespace wgrad::fuzz
