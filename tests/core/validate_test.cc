// Validation rules V0 to V26: the first wrong and the last right value of each, their order, and the degenerate
// arguments on which TensorFlow's kernels crash or disagree.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "core/case.h"
#include "core/problem.h"

namespace wgrad {
namespace {

constexpr std::int64_t kBig = std::int64_t{1} << 60;

// n2_i5x7_c4_k3x2_o6_s2x1_d1x2_g2_valid_f32: output 2 x 5.
OpArguments Base() {
  OpArguments arguments;
  arguments.input_shape = {2, 5, 7, 4};
  arguments.filter_sizes = {3, 2, 2, 6};
  arguments.out_backprop_shape = {2, 2, 5, 6};
  arguments.strides = {1, 2, 1, 1};
  arguments.dilations = {1, 1, 2, 1};
  return arguments;
}

using Change = std::function<void(OpArguments&)>;

// `right` is the nearest change that the rule permits.
struct RuleCase {
  int rule;
  const char* name;
  Change wrong;
  Change right;
};

void SetExplicit(OpArguments& a, std::vector<std::int64_t> pads) {
  a.padding = std::string("EXPLICIT");
  a.explicit_paddings = std::move(pads);
}

// EXPLICIT padding that adds a row above and a column on each side to the base, in either form.
const std::vector<std::int64_t> kPads = {0, 0, 2, 0, 1, 1, 0, 0};
void FitExplicit(OpArguments& a) { a.out_backprop_shape = {2, 3, 7, 6}; }

const std::vector<RuleCase>& RuleCases() {
  static const std::vector<RuleCase> cases = {
      {0, "three pairs",
       [](auto& a) {
         a.padding = PaddingPairs{{0, 0}, {2, 0}, {1, 1}};
       },
       [](auto& a) {
         a.padding = PaddingPairs{{0, 0}, {2, 0}, {1, 1}, {0, 0}}, FitExplicit(a);
       }},
      {0, "a triple",
       [](auto& a) {
         a.padding = PaddingPairs{{0, 0}, {2, 0, 0}, {1, 1}, {0, 0}};
       },
       [](auto&) {}},
      {0, "both lists",
       [](auto& a) {
         a.padding = PaddingPairs{{0, 0}, {0, 0}, {0, 0}, {0, 0}}, a.explicit_paddings = {0};
       },
       [](auto& a) {
         a.padding = PaddingPairs{{0, 0}, {0, 0}, {0, 0}, {0, 0}};
       }},
      {0, "EXPLICIT alone", [](auto& a) { SetExplicit(a, {}); },
       [](auto& a) { SetExplicit(a, kPads), FitExplicit(a); }},
      {1, "int32", [](auto& a) { a.dtype = a.out_backprop_dtype = "int32"; },
       [](auto& a) { a.dtype = a.out_backprop_dtype = "half"; }},
      {1, "two dtypes", [](auto& a) { a.out_backprop_dtype = "f64"; },
       [](auto& a) { a.dtype = "float", a.out_backprop_dtype = "f32"; }},
      {1, "narrower result", [](auto& a) { a.result_dtype = "f16"; }, [](auto& a) { a.result_dtype = "f32"; }},
      {1, "float64 result", [](auto& a) { a.dtype = a.out_backprop_dtype = "f16", a.result_dtype = "f64"; },
       [](auto& a) { a.dtype = a.out_backprop_dtype = "f16", a.result_dtype = "f32"; }},
      {2, "lower case", [](auto& a) { a.data_format = "nhwc"; }, [](auto& a) { a.data_format = "NHWC"; }},
      {3, "no strides", [](auto& a) { a.strides = {}; }, [](auto&) {}},
      {3, "three strides",
       [](auto& a) {
         a.strides = {1, 2, 1};
       },
       [](auto&) {}},
      {3, "five strides",
       [](auto& a) {
         a.strides = {1, 2, 1, 1, 1};
       },
       [](auto&) {}},
      {4, "batch stride 2",
       [](auto& a) {
         a.strides = {2, 2, 1, 1};
       },
       [](auto&) {}},
      {4, "depth stride 0",
       [](auto& a) {
         a.strides = {1, 2, 1, 0};
       },
       [](auto&) {}},
      {5, "row stride 0",
       [](auto& a) {
         a.strides = {1, 0, 1, 1};
       },
       [](auto& a) {
         a.strides = {1, 1, 1, 1}, a.out_backprop_shape[1] = 3;
       }},
      {5, "column stride -1",
       [](auto& a) {
         a.strides = {1, 2, -1, 1};
       },
       [](auto&) {}},
      {6, "lower-case word", [](auto& a) { a.padding = std::string("same"); },
       [](auto& a) {
         a.padding = std::string("SAME"), a.out_backprop_shape = {2, 3, 7, 6};
       }},
      {7, "zeros beside VALID", [](auto& a) { a.explicit_paddings = {0, 0, 0, 0, 0, 0, 0, 0}; },
       [](auto& a) {
         SetExplicit(a, {0, 0, 0, 0, 0, 0, 0, 0});
       }},
      {7, "seven pads",
       [](auto& a) {
         SetExplicit(a, {0, 0, 2, 0, 1, 1, 0});
       },
       [](auto&) {}},
      {7, "nine pads",
       [](auto& a) {
         SetExplicit(a, {0, 0, 2, 0, 1, 1, 0, 0, 0});
       },
       [](auto&) {}},
      {7, "negative pad",
       [](auto& a) {
         SetExplicit(a, {0, 0, -1, 0, 1, 1, 0, 0});
       },
       [](auto&) {}},
      {7, "batch pad",
       [](auto& a) {
         SetExplicit(a, {1, 0, 2, 0, 1, 1, 0, 0});
       },
       [](auto&) {}},
      {7, "depth pad",
       [](auto& a) {
         SetExplicit(a, {0, 0, 2, 0, 1, 1, 0, 1});
       },
       [](auto&) {}},
      {8, "three dilations",
       [](auto& a) {
         a.dilations = {1, 1, 2};
       },
       [](auto&) {}},
      {9, "depth dilation 2",
       [](auto& a) {
         a.dilations = {1, 1, 2, 2};
       },
       [](auto&) {}},
      {9, "batch dilation 0",
       [](auto& a) {
         a.dilations = {0, 1, 2, 1};
       },
       [](auto&) {}},
      {10, "row dilation 0",
       [](auto& a) {
         a.dilations = {1, 0, 2, 1};
       },
       [](auto&) {}},
      {10, "column dilation -1",
       [](auto& a) {
         a.dilations = {1, 1, -1, 1};
       },
       [](auto& a) {
         a.dilations = {1, 1, 1, 1}, a.out_backprop_shape[2] = 6;
       }},
      {11, "a scalar", [](auto& a) { a.filter_sizes_rank = 0; }, [](auto& a) { a.filter_sizes_rank = 1; }},
      {11, "a matrix", [](auto& a) { a.filter_sizes_rank = 2; }, [](auto& a) { a.filter_sizes_rank = 1; }},
      {12, "minus one", [](auto& a) { a.filter_sizes.resize(4), a.filter_sizes[0] = -1; },
       [](auto& a) { a.filter_sizes[0] = 0, a.out_backprop_shape[1] = 3; }},
      {13, "2^63 elements",
       [](auto& a) {
         a.filter_sizes = {kBig, 2, 2, 2};
       },
       [](auto&) {}},
      {14, "rank 3",
       [](auto& a) {
         a.input_shape = {5, 7, 4};
       },
       [](auto&) {}},
      {14, "rank 5",
       [](auto& a) {
         a.input_shape = {2, 1, 5, 7, 4};
       },
       [](auto&) {}},
      {14, "rank 0", [](auto& a) { a.input_shape = {}; }, [](auto&) {}},
      {15, "three sizes",
       [](auto& a) {
         a.filter_sizes = {3, 2, 2};
       },
       [](auto&) {}},
      {15, "five sizes",
       [](auto& a) {
         a.filter_sizes = {3, 2, 2, 6, 1};
       },
       [](auto&) {}},
      {15, "no sizes", [](auto& a) { a.filter_sizes = {}; }, [](auto&) {}},
      {16, "rank 3",
       [](auto& a) {
         a.out_backprop_shape = {2, 5, 6};
       },
       [](auto&) {}},
      {16, "rank 5",
       [](auto& a) {
         a.out_backprop_shape = {2, 2, 5, 6, 1};
       },
       [](auto&) {}},
      {17, "one image more", [](auto& a) { a.input_shape[0] = 3; },
       [](auto& a) { a.input_shape[0] = a.out_backprop_shape[0] = 3; }},
      {18, "filter depth 0", [](auto& a) { a.filter_sizes[2] = 0; },
       [](auto& a) { a.filter_sizes[2] = 1, a.filter_sizes[3] = a.out_backprop_shape[3] = 4; }},
      {19, "no multiple", [](auto& a) { a.input_shape[3] = 5; }, [](auto& a) { a.input_shape[3] = 6; }},
      {19, "input depth 0", [](auto& a) { a.input_shape[3] = 0; }, [](auto& a) { a.input_shape[3] = 2; }},
      {20, "one out channel more", [](auto& a) { a.filter_sizes[3] = 8; },
       [](auto& a) { a.filter_sizes[3] = a.out_backprop_shape[3] = 8; }},
      {21, "odd out depth in two groups", [](auto& a) { a.filter_sizes[3] = a.out_backprop_shape[3] = 7; },
       [](auto& a) { a.filter_sizes[3] = a.out_backprop_shape[3] = 0; }},
      {22, "filter 4 rows too high", [](auto& a) { a.filter_sizes[0] = 9, a.out_backprop_shape[1] = 0; },
       [](auto& a) { a.filter_sizes[0] = 8, a.out_backprop_shape[1] = 0; }},
      {23, "a row too many", [](auto& a) { a.out_backprop_shape[1] = 3; }, [](auto&) {}},
      {23, "a row too few", [](auto& a) { a.out_backprop_shape[1] = 1; }, [](auto&) {}},
      {24, "filter 2 columns too wide", [](auto& a) { a.filter_sizes[1] = 5, a.out_backprop_shape[2] = 0; },
       [](auto& a) { a.filter_sizes[1] = 4, a.out_backprop_shape[2] = 1; }},
      {25, "a column too many", [](auto& a) { a.out_backprop_shape[2] = 6; }, [](auto&) {}},
      {25, "no column", [](auto& a) { a.out_backprop_shape[2] = 0; }, [](auto&) {}},
      {26, "2^60 elements", [](auto& a) { a.input_shape[0] = a.out_backprop_shape[0] = kBig; },
       [](auto& a) { a.input_shape[0] = a.out_backprop_shape[0] = std::int64_t{1} << 50; }},
  };
  return cases;
}

int RuleOf(const OpArguments& arguments) {
  const Result<Problem> problem = Validate(arguments);
  return problem.ok() ? -1 : problem.error().rule;
}

TEST(Validate, AcceptsTheBaseArguments) {
  const Result<Problem> problem = Validate(Base());
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(Format(*problem), "n2_i5x7_c4_k3x2_o6_s2x1_d1x2_g2_valid_f32");
}

TEST(Validate, RefusesTheFirstWrongValueOfEachRuleUnderItsNumber) {
  std::set<int> rules;
  for (const RuleCase& rule_case : RuleCases()) {
    OpArguments arguments = Base();
    rule_case.wrong(arguments);
    const Result<Problem> problem = Validate(arguments);
    ASSERT_FALSE(problem.ok()) << rule_case.name;
    EXPECT_EQ(problem.error().rule, rule_case.rule) << rule_case.name << ": " << problem.error().message;
    EXPECT_EQ(problem.error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(problem.error().message.rfind("V" + std::to_string(rule_case.rule) + ": ", 0), 0u)
        << problem.error().message;
    EXPECT_NE(problem.error().message.find("got"), std::string::npos) << problem.error().message;
    rules.insert(rule_case.rule);
  }
  EXPECT_EQ(rules.size(), 27u);
}

TEST(Validate, AcceptsTheLastRightValueOfEachRule) {
  for (const RuleCase& rule_case : RuleCases()) {
    OpArguments arguments = Base();
    rule_case.right(arguments);
    const Result<Problem> problem = Validate(arguments);
    EXPECT_TRUE(problem.ok()) << "V" << rule_case.rule << ", " << rule_case.name << ": " << problem.error().message;
  }
}

TEST(Validate, ReportsTheFirstOfTwoBrokenRules) {
  int pairs = 0;
  for (const RuleCase& first : RuleCases()) {
    for (const RuleCase& second : RuleCases()) {
      if (first.rule >= second.rule) continue;
      OpArguments arguments = Base();
      second.wrong(arguments);
      first.wrong(arguments);
      EXPECT_EQ(RuleOf(arguments), first.rule) << first.name << " before V" << second.rule << ", " << second.name;
      ++pairs;
    }
  }
  EXPECT_GT(pairs, 1000);
}

TEST(Validate, RefusesNegativeExtents) {
  OpArguments arguments = Base();
  arguments.input_shape[0] = arguments.out_backprop_shape[0] = -1;
  EXPECT_EQ(RuleOf(arguments), 26);
}

TEST(Validate, ReadsListsInTheOrderOfTheDataFormat) {
  OpArguments arguments = Base();
  arguments.data_format = "NCHW";
  arguments.input_shape = {2, 4, 5, 7};
  arguments.out_backprop_shape = {2, 6, 2, 5};
  arguments.strides = {1, 1, 2, 1};
  arguments.dilations = {1, 1, 1, 2};
  const Result<Problem> problem = Validate(arguments);
  ASSERT_TRUE(problem.ok()) << problem.error().message;
  EXPECT_EQ(Format(*problem), "n2_i5x7_c4_k3x2_o6_s2x1_d1x2_g2_valid_nchw_f32");

  arguments.strides = {1, 2, 1, 1};
  EXPECT_EQ(RuleOf(arguments), 4);
  arguments.strides = {1, 1, 2, 1};
  arguments.dilations = {1, 2, 1, 1};
  EXPECT_EQ(RuleOf(arguments), 9);
  arguments.dilations = {1, 1, 1, 2};
  SetExplicit(arguments, {0, 0, 0, 1, 0, 0, 0, 0});
  EXPECT_EQ(RuleOf(arguments), 7);
}

TEST(Validate, TakesPairsForThePadsOfEitherFormat) {
  OpArguments arguments = Base();
  arguments.padding = PaddingPairs{{0, 0}, {2, 0}, {1, 1}, {0, 0}};
  FitExplicit(arguments);
  EXPECT_EQ(Format(Validate(arguments).value()), "n2_i5x7_c4_k3x2_o6_s2x1_d1x2_g2_pt2b0l1r1_f32");
  arguments.data_format = "NCHW";
  arguments.padding = PaddingPairs{{0, 0}, {0, 0}, {2, 0}, {1, 1}};
  arguments.input_shape = {2, 4, 5, 7};
  arguments.out_backprop_shape = {2, 6, 3, 7};
  arguments.strides = {1, 1, 2, 1};
  arguments.dilations = {1, 1, 1, 2};
  EXPECT_EQ(Format(Validate(arguments).value()), "n2_i5x7_c4_k3x2_o6_s2x1_d1x2_g2_pt2b0l1r1_nchw_f32");
}

TEST(Validate, IgnoresNameAndUseCudnn) {
  OpArguments arguments = Base();
  arguments.name = "anything at all";
  arguments.use_cudnn_on_gpu = false;
  EXPECT_EQ(Validate(arguments).value(), Validate(Base()).value());
}

// One row of the table of degenerate arguments; rule -1 where they are valid.
struct Degenerate {
  const char* name;
  std::vector<std::int64_t> input, filter, out_backprop, strides;
  const char* padding;
  int rule;
};

TEST(Validate, DecidesTheDegenerateArgumentsOnWhichKernelsDisagree) {
  const std::vector<std::int64_t> one = {1, 1, 1, 1};
  const std::vector<std::int64_t> two = {1, 2, 2, 1};
  const Degenerate rows[] = {
      {"output 0 by truncation", {1, 2, 2, 1}, {3, 3, 1, 1}, {1, 0, 0, 1}, two, "VALID", -1},
      {"filter one larger than the input", {1, 2, 2, 1}, {3, 3, 1, 1}, {1, 0, 0, 1}, one, "VALID", -1},
      {"no input rows under SAME", {1, 0, 2, 1}, {3, 3, 1, 1}, {1, 0, 2, 1}, one, "SAME", -1},
      {"computed size -1", {1, 2, 2, 1}, {4, 3, 1, 1}, {1, 0, 0, 1}, one, "VALID", 22},
      {"computed size -1 of columns", {1, 2, 2, 1}, {3, 4, 1, 1}, {1, 0, 0, 1}, one, "VALID", 24},
      {"output 0, out_backprop 1x1", {1, 2, 2, 1}, {3, 3, 1, 1}, {1, 1, 1, 1}, one, "VALID", 23},
      {"empty batch of input only", {0, 3, 3, 1}, {2, 2, 1, 1}, {1, 2, 2, 1}, one, "VALID", 17},
      {"empty batch of out_backprop only", {1, 3, 3, 1}, {2, 2, 1, 1}, {0, 2, 2, 1}, one, "VALID", 17},
      {"wrong size beside an empty batch", {0, 3, 3, 1}, {2, 2, 1, 1}, {0, 9, 2, 1}, one, "VALID", 23},
      {"no strides", {1, 3, 3, 1}, {2, 2, 1, 1}, {1, 2, 2, 1}, {}, "VALID", 3},
      {"two strides", {1, 3, 3, 1}, {2, 2, 1, 1}, {1, 2, 2, 1}, {1, 1}, "VALID", 3},
      {"input of rank 3", {3, 3, 1}, {2, 2, 1, 1}, {1, 2, 2, 1}, one, "VALID", 14},
      {"out_backprop of rank 0", {1, 3, 3, 1}, {2, 2, 1, 1}, {}, one, "VALID", 16},
      {"input of rank 5", {1, 3, 3, 1, 1}, {2, 2, 1, 1}, {1, 2, 2, 1}, one, "VALID", 14},
      {"stride 0", {1, 3, 3, 1}, {2, 2, 1, 1}, {1, 2, 2, 1}, {1, 0, 1, 1}, "VALID", 5},
      {"filter depth 0", {1, 3, 3, 1}, {2, 2, 0, 1}, {1, 2, 2, 1}, one, "VALID", 18},
      {"everything 0", {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, one, "VALID", 18},
      {"out depth no multiple of the groups", {1, 3, 3, 2}, {2, 2, 1, 3}, {1, 2, 2, 3}, one, "VALID", 21},
      {"input depth 0", {1, 3, 3, 0}, {2, 2, 2, 1}, {1, 2, 2, 1}, one, "VALID", 19},
      {"no filter rows", {1, 3, 3, 1}, {0, 2, 1, 1}, {1, 4, 2, 1}, one, "VALID", -1},
      {"no out depth", {1, 3, 3, 1}, {2, 2, 1, 0}, {1, 2, 2, 0}, one, "VALID", -1},
      {"empty batch", {0, 3, 3, 1}, {2, 2, 1, 1}, {0, 2, 2, 1}, one, "VALID", -1},
  };
  int valid = 0;
  for (const Degenerate& row : rows) {
    OpArguments arguments;
    arguments.input_shape = row.input;
    arguments.filter_sizes = row.filter;
    arguments.out_backprop_shape = row.out_backprop;
    arguments.strides = row.strides;
    arguments.padding = std::string(row.padding);
    EXPECT_EQ(RuleOf(arguments), row.rule) << row.name;
    valid += row.rule == -1 ? 1 : 0;
  }
  EXPECT_EQ(valid, 6);
}

TEST(Validate, RefusesSizesThatOverflowWhereverTheyArise) {
  OpArguments arguments = Base();
  arguments.dilations = {1, std::int64_t{1} << 62, 2, 1};
  arguments.padding = std::string("SAME");
  arguments.out_backprop_shape = {2, 3, 7, 6};
  EXPECT_EQ(RuleOf(arguments), 26) << "a dilated filter of 2^63 rows";

  arguments = Base();
  SetExplicit(arguments, {0, 0, std::int64_t{1} << 62, std::int64_t{1} << 62, 0, 0, 0, 0});
  EXPECT_EQ(RuleOf(arguments), 26) << "a padded image of 2^63 rows";

  arguments = Base();
  arguments.input_shape = {std::int64_t{1} << 29, 5, 7, std::int64_t{1} << 22};
  arguments.filter_sizes = {3, 2, std::int64_t{1} << 22, std::int64_t{1} << 4};
  arguments.out_backprop_shape = {std::int64_t{1} << 29, 2, 5, std::int64_t{1} << 4};
  EXPECT_EQ(RuleOf(arguments), 26) << "tensors that fit, but 60 * 2^55 multiply-adds";
  arguments.filter_sizes[3] = arguments.out_backprop_shape[3] = 1;
  EXPECT_EQ(RuleOf(arguments), -1);

  arguments = Base();
  const std::int64_t far = std::int64_t{1} << 31;
  SetExplicit(arguments, {0, 0, far, 0, far, 0, 0, 0});
  arguments.strides = {1, 1, 1, 1};
  arguments.filter_sizes[3] = 0;
  arguments.out_backprop_shape = {2, far + 3, far + 5, 0};
  EXPECT_EQ(RuleOf(arguments), 26) << "an extent of 0 hides no overflow of the others";
}

}  // namespace
}  // namespace wgrad
