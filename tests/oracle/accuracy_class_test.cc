#include "oracle/accuracy_class.h"

#include <gtest/gtest.h>

#include "core/case.h"
#include "oracle/ladder.h"

namespace wgrad::oracle {
namespace {

Problem ProblemOf(const std::string& text) { return ParseProblem(text).value(); }

TEST(AccuracyClass, RoundTripsThroughItsText) {
  const char* const texts[] = {"cr",
                               "faithful",
                               "wide",
                               "wide:f32",
                               "wide:f64",
                               "wide_hw",
                               "depth:17",
                               "depth:tree",
                               "depth:blocked64",
                               "depth:lanes16",
                               "order",
                               "order:f16",
                               "order:bf16",
                               "order_hw",
                               "split:8",
                               "input:tf32",
                               "input:bf16",
                               "input:bf16x3",
                               "channel:winograd_f3x3_2x2",
                               "channel:fft",
                               "channel:12.5",
                               "tensor:strassen",
                               "tensor:1000"};
  for (const char* const text : texts) {
    const Result<AccuracyClass> parsed = ParseClass(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(Format(*parsed), text);
    EXPECT_EQ(ParseClass(Format(*parsed)).value(), *parsed) << text;
  }
}

TEST(AccuracyClass, RefusesWhatIsNoClassInOneSentence) {
  const char* const texts[] = {"",          "Order",         "order:",     "order:f8",     "cr:f32",      "depth",
                               "depth:0",   "depth:blocked", "split",      "split:1",      "split:x",     "input",
                               "input:f64", "channel:-1",    "tensor:nan", "order_hw:f32", "depth:tree2", "wide:wide"};
  for (const char* const text : texts) {
    const Result<AccuracyClass> parsed = ParseClass(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.error().message.find("\"" + std::string(text) + "\""), std::string::npos)
        << parsed.error().message;
  }
}

TEST(Resolve, PrefersTheChoiceThenTheDeclarationThenTheDefault) {
  const Problem problem = ProblemOf("n1_i4x4_c1_k3x3_o1_same_f32");
  Declaration declaration;
  EXPECT_EQ(Resolve(problem, {}, declaration)->class_source, "default");
  EXPECT_EQ(Format(Resolve(problem, {}, declaration)->accuracy_class), "order");
  declaration.accuracy_class["f32"] = "depth:tree";
  declaration.ftz = true;
  declaration.pad = "skip";
  const Judging declared = Resolve(problem, {}, declaration).value();
  EXPECT_EQ(Format(declared.accuracy_class), "depth:tree");
  EXPECT_EQ(declared.class_source, "declared by the candidate");
  EXPECT_EQ(Format(declared.policy), "pad skip, ftz");
  JudgingChoice choice;
  choice.any = ParseClass("faithful").value();
  choice.by_dtype.emplace_back("f64", ParseClass("cr").value());
  choice.ftz = false;
  choice.pad = PadPolicy::kMultiply;
  const Judging chosen = Resolve(problem, choice, declaration).value();
  EXPECT_EQ(Format(chosen.accuracy_class), "faithful");
  EXPECT_EQ(chosen.class_source, "command line");
  EXPECT_EQ(Format(chosen.policy), "pad multiply");
  choice.by_dtype.emplace_back("f32", ParseClass("cr").value());
  EXPECT_EQ(Format(Resolve(problem, choice, declaration)->accuracy_class), "cr");
}

TEST(Resolve, RefusesAnAccumulatorThatDoesNotFitTheResult) {
  JudgingChoice choice;
  choice.any = ParseClass("wide:f32").value();
  EXPECT_FALSE(Resolve(ProblemOf("n1_i4x4_c1_k3x3_o1_same_f32"), choice, {}).ok());
  EXPECT_TRUE(Resolve(ProblemOf("n1_i4x4_c1_k3x3_o1_same_f16"), choice, {}).ok());
  choice.any = ParseClass("order:f32").value();
  EXPECT_TRUE(Resolve(ProblemOf("n1_i4x4_c1_k3x3_o1_same_f32"), choice, {}).ok());
  EXPECT_FALSE(Resolve(ProblemOf("n1_i4x4_c1_k3x3_o1_same_bf16"), choice, {}).ok());
}

TEST(DefaultClass, FollowsTheDType) {
  const std::pair<const char*, const char*> expected[] = {{"f16", "wide_hw"},      {"bf16", "wide_hw"},
                                                          {"f32", "order"},        {"f64", "order"},
                                                          {"f16_f32", "order_hw"}, {"bf16_f32", "order_hw"}};
  for (const auto& [tag, name] : expected) {
    EXPECT_EQ(Format(DefaultClass(ProblemOf("n1_i4x4_c1_k3x3_o1_same_" + std::string(tag)))), name) << tag;
  }
}

TEST(Ladder, StartsAtTheBestAndNamesNarrowAccumulators) {
  EXPECT_EQ(BestGrade(GradeSet{}, {DType::kFloat32, DType::kFloat32}), "cr");
  GradeSet grades;
  grades.alive &= ~0x1fu;  // everything above `order` is gone
  EXPECT_EQ(BestGrade(grades, {DType::kFloat32, DType::kFloat32}), "order");
  EXPECT_EQ(BestGrade(grades, {DType::kBFloat16, DType::kBFloat16}), "order:bf16");
  EXPECT_EQ(BestGrade(GradeSet{0}, {DType::kFloat32, DType::kFloat32}), std::nullopt);
}

}  // namespace
}  // namespace wgrad::oracle
