// Problems and cases as text: exact round trip, and errors that point at the right character.
#include "core/case.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/random.h"

namespace wgrad {
namespace {

// A random draw of arguments with small sizes; most are valid.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : seed_(seed) {}
  std::int64_t Below(std::int64_t limit) {
    return static_cast<std::int64_t>(SplitMix64(seed_, index_++) % static_cast<std::uint64_t>(limit));
  }
  std::int64_t Size() { return Below(12) == 0 ? 0 : 1 + Below(9); }

 private:
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
};

std::string RandomText(Draw& draw) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const std::int64_t groups = 1 + draw.Below(3) * draw.Below(2);
  std::string text = "n" + number(draw.Size()) + "_i" + number(draw.Size()) + "x" + number(draw.Size()) + "_c" +
                     number(groups * (1 + draw.Below(4))) + "_k" + number(draw.Below(4)) + "x" + number(draw.Below(4)) +
                     "_o" + number(groups * draw.Below(4));
  if (draw.Below(2) == 0) text += "_s" + number(1 + draw.Below(3)) + "x" + number(1 + draw.Below(3));
  if (draw.Below(3) == 0) text += "_d" + number(1 + draw.Below(3)) + "x" + number(1 + draw.Below(3));
  if (groups != 1) text += "_g" + number(groups);
  const std::int64_t padding = draw.Below(3);
  if (padding == 0) text += "_same";
  if (padding == 1) text += "_valid";
  if (padding == 2) {
    text += "_pt" + number(draw.Below(3)) + "b" + number(draw.Below(3)) + "l" + number(draw.Below(3)) + "r" +
            number(draw.Below(3));
  }
  if (draw.Below(2) == 0) text += "_nchw";
  static constexpr const char* kTags[] = {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"};
  return text + "_" + kTags[draw.Below(6)];
}

TEST(ProblemText, RoundTripsOverRandomProblems) {
  std::map<std::string, int> seen;
  std::set<std::string> texts;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    Draw draw(seed);
    const std::string text = RandomText(draw);
    const Result<Problem> problem = ParseProblem(text);
    if (!problem.ok()) {
      ASSERT_TRUE(problem.error().rule == 22 || problem.error().rule == 24) << problem.error().message;
      ++seen["invalid"];
      continue;
    }
    const std::string formatted = Format(*problem);
    const Result<Problem> again = ParseProblem(formatted);
    ASSERT_TRUE(again.ok()) << formatted;
    ASSERT_EQ(*again, *problem) << formatted;
    ASSERT_EQ(Format(*again), formatted);
    ASSERT_EQ(Validate(problem->arguments()).value(), *problem) << formatted;
    ASSERT_EQ(formatted.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), std::string::npos) << formatted;
    texts.insert(formatted);
    ++seen["tag " + DTypeTag(*problem)];
    ++seen["padding " + std::to_string(static_cast<int>(problem->padding()))];
    if (formatted != text) ++seen["defaults written out"];
    if (problem->filter_count() == 0) ++seen["empty filter"];
    if (problem->groups() > 1) ++seen["groups"];
  }
  EXPECT_GT(texts.size(), 15000u);
  EXPECT_EQ(seen.size(), 13u);
  for (const auto& [what, count] : seen) EXPECT_GT(count, 100) << what;
}

TEST(ProblemText, LeavesDefaultsOut) {
  const char* const canonical = "n2_i5x7_c6_k3x2_o4_same_f32";
  for (const char* text : {canonical, "n2_i5x7_c6_k3x2_o4_s1x1_same_f32", "n2_i5x7_c6_k3x2_o4_d1x1_same_f32",
                           "n2_i5x7_c6_k3x2_o4_g1_same_f32", "n2_i5x7_c6_k3x2_o4_s1x1_d1x1_g1_same_f32"}) {
    const Result<Problem> problem = ParseProblem(text);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    EXPECT_EQ(Format(*problem), canonical);
  }
}

TEST(ProblemText, KeepsExplicitPaddingOfZerosApartFromValid) {
  const Problem explicit_zeros = ParseProblem("n1_i4x4_c1_k2x2_o1_pt0b0l0r0_f32").value();
  const Problem valid = ParseProblem("n1_i4x4_c1_k2x2_o1_valid_f32").value();
  EXPECT_EQ(Format(explicit_zeros), "n1_i4x4_c1_k2x2_o1_pt0b0l0r0_f32");
  EXPECT_NE(explicit_zeros, valid);
}

TEST(ProblemText, NamesEveryPart) {
  const Problem problem = ParseProblem("n2_i5x7_c6_k3x2_o4_s2x1_d1x3_g2_pt1b2l3r4_nchw_bf16_f32").value();
  EXPECT_EQ(problem.batch(), 2);
  EXPECT_EQ(problem.input_depth(), 6);
  EXPECT_EQ(problem.filter_depth(), 3);
  EXPECT_EQ(problem.out_depth(), 4);
  EXPECT_EQ(problem.groups(), 2);
  EXPECT_EQ(problem.rows(), (Axis{5, 3, 2, 1, 1, 2, 3}));
  EXPECT_EQ(problem.columns(), (Axis{7, 2, 1, 3, 3, 4, 11}));
  EXPECT_EQ(problem.data_format(), DataFormat::kNchw);
  EXPECT_EQ(problem.dtype(), DType::kBFloat16);
  EXPECT_EQ(problem.result_dtype(), DType::kFloat32);
}

struct Malformed {
  const char* text;
  int character;         // 1-based
  const char* expected;  // what the message says instead
};

TEST(ProblemText, PointsAtTheCharacterWhereItStopsBeingOne) {
  const Malformed table[] = {
      {"", 1, "expected \"n\", found the end"},
      {"m2", 1, "expected \"n\", found 'm'"},
      {"n", 2, "the batch as a decimal number, found the end"},
      {"nx", 2, "the batch as a decimal number"},
      {"n-2_i5x7", 2, "the batch as a decimal number"},
      {"n02_i5x7", 2, "the batch as a decimal number"},
      {"n9223372036854775808_i5x7", 2, "the batch below 2^63"},
      {"n2i5x7", 3, "expected \"_i\""},
      {"n2_i5_c6", 6, "expected \"x\""},
      {"n2_i5x_c6", 7, "the input's width"},
      {"n2_i5x7_k3x2", 8, "expected \"_c\""},
      {"n2_i5x7_c6_k3x2_o", 18, "the out depth"},
      {"n2_i5x7_c6_k3x2_o4", 19, "expected \"_\", found the end"},
      {"n2_i5x7_c6_k3x2_o4_", 20, "or a padding"},
      {"n2_i5x7_c6_k3x2_o4_sane_f32", 21, "the stride of rows"},
      {"n2_i5x7_c6_k3x2_o4_s2_same_f32", 22, "expected \"x\""},
      {"n2_i5x7_c6_k3x2_o4_g2_d1x2_same_f32", 23, "or a padding"},
      {"n2_i5x7_c6_k3x2_o4_pt1b2l3_f32", 27, "expected \"r\""},
      {"n2_i5x7_c6_k3x2_o4_same", 24, "expected \"_\", found the end"},
      {"n2_i5x7_c6_k3x2_o4_same_nhwc_f32", 25, "expected nchw or a dtype"},
      {"n2_i5x7_c6_k3x2_o4_same_nchw", 29, "expected \"_\", found the end"},
      {"n2_i5x7_c6_k3x2_o4_same_f8", 25, "expected nchw or a dtype"},
      {"n2_i5x7_c6_k3x2_o4_same_f32x", 28, "expected the end of the problem"},
      {"n2_i5x7_c6_k3x2_o4_same_f64_f32", 28, "expected the end of the problem"},
      {"n2_i5x7_c6_k3x2_o4_same_f32 ", 28, "expected the end of the problem, found ' '"},
      {" n2_i5x7_c6_k3x2_o4_same_f32", 1, "expected \"n\", found ' '"},
      {"N2_i5x7_c6_k3x2_o4_same_f32", 1, "expected \"n\", found 'N'"},
  };
  for (const Malformed& row : table) {
    const Result<Problem> problem = ParseProblem(row.text);
    ASSERT_FALSE(problem.ok()) << row.text;
    const Error& error = problem.error();
    EXPECT_EQ(error.code, ErrorCode::kBadText);
    EXPECT_EQ(error.rule, 0);
    EXPECT_EQ(error.message.rfind("character " + std::to_string(row.character) + " of ", 0), 0u) << error.message;
    EXPECT_NE(error.message.find(row.expected), std::string::npos) << error.message;
    // The caret of the last line stands below the character.
    EXPECT_EQ(error.message.size() - 1 - error.message.rfind('\n'), static_cast<std::size_t>(row.character) + 2);
  }
}

TEST(ProblemText, HandsInvalidArgumentsToTheRules) {
  const auto rule_of = [](const char* text) {
    const Result<Problem> problem = ParseProblem(text);
    return problem.ok() ? -1 : problem.error().rule;
  };
  EXPECT_EQ(rule_of("n2_i5x7_c6_k3x2_o4_s0x1_same_f32"), 5);
  EXPECT_EQ(rule_of("n2_i5x7_c6_k3x2_o4_d1x0_same_f32"), 10);
  EXPECT_EQ(rule_of("n2_i5x7_c6_k3x2_o4_g0_same_f32"), 19);
  EXPECT_EQ(rule_of("n2_i5x7_c6_k3x2_o4_g4_same_f32"), 19);
  EXPECT_EQ(rule_of("n2_i5x7_c0_k3x2_o4_same_f32"), 18);
  EXPECT_EQ(rule_of("n2_i5x7_c6_k3x2_o4_g3_same_f32"), 21);
  EXPECT_EQ(rule_of("n2_i5x7_c6_k9x2_o4_valid_f32"), 22);
  EXPECT_EQ(rule_of("n2_i5x7_c6_k3x9_o4_valid_f32"), 24);
  EXPECT_EQ(rule_of("n1152921504606846976_i1x1_c1_k1x1_o1_same_f32"), 26);
  EXPECT_EQ(rule_of("n0_i5x7_c6_k3x2_o0_same_f32"), -1);
}

TEST(CaseText, RoundTripsEveryFillingAndTheSeedsAtTheEdges) {
  int compared = 0;
  for (int filling = 0; filling < kFillingCount; ++filling) {
    for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{17}, ~std::uint64_t{0}}) {
      const Case c{ParseProblem("n2_i5x7_c6_k3x2_o4_g2_same_f32").value(), static_cast<Filling>(filling), seed};
      const Result<Case> again = ParseCase(Format(c));
      ASSERT_TRUE(again.ok()) << Format(c);
      EXPECT_EQ(*again, c);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 45);
  EXPECT_EQ(Format(ParseCase("n2_i5x7_c6_k3x2_o4_g2_same_f32/int_a/17").value()),
            "n2_i5x7_c6_k3x2_o4_g2_same_f32/int_a/17");
}

TEST(CaseText, PointsAtWhatIsWrong) {
  const auto message_of = [](const std::string& tail) {
    const Result<Case> c = ParseCase("n1_i4x4_c1_k2x2_o1_same_f32" + tail);
    EXPECT_FALSE(c.ok()) << tail;
    return c.ok() ? std::string() : c.error().message;
  };
  EXPECT_EQ(message_of("").rfind("a case is PROBLEM/FILLING/SEED", 0), 0u);
  EXPECT_EQ(message_of("/int_a").rfind("a case is PROBLEM/FILLING/SEED", 0), 0u);
  EXPECT_EQ(message_of("/int_b/1").rfind("character 29 of", 0), 0u);
  EXPECT_NE(message_of("/int_b/1").find("unknown filling \"int_b\""), std::string::npos);
  for (const char* seed : {"", "x", "-1", "+1", "01", "1 ", "1/2", "0x1", "18446744073709551616"}) {
    EXPECT_EQ(message_of(std::string("/int_a/") + seed).rfind("character 35 of", 0), 0u) << seed;
  }
  EXPECT_EQ(message_of("x/int_a/1").rfind("character 28 of", 0), 0u);
}

TEST(FillingNames, RoundTrip) {
  std::set<std::string_view> names;
  for (int filling = 0; filling < kFillingCount; ++filling) {
    const std::string_view name = NameOf(static_cast<Filling>(filling));
    names.insert(name);
    EXPECT_EQ(FillingFromName(name), static_cast<Filling>(filling));
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kFillingCount));
  EXPECT_EQ(FillingFromName("INT_A"), std::nullopt);
}

TEST(DTypeTags, NameBothDTypesOnlyWhereTheyDiffer) {
  for (const char* tag : {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"}) {
    EXPECT_EQ(DTypeTag(ParseProblem(std::string("n1_i1x1_c1_k1x1_o1_valid_") + tag).value()), tag);
  }
  EXPECT_EQ(DTypePairFromTag("bf16_f32"), (DTypePair{DType::kBFloat16, DType::kFloat32}));
  EXPECT_EQ(DTypePairFromTag("f32_f64"), std::nullopt);
  EXPECT_EQ(DTypePairFromTag("half"), std::nullopt);
}

}  // namespace
}  // namespace wgrad
