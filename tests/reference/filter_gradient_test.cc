#include "reference/filter_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/case.h"

namespace wgrad::reference {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

struct Data {
  Tensor input;
  Tensor out_backprop;
};

// 1, 2, 3, .. in the order of NHWC, whatever the problem's layout.
Data CountUp(const Problem& problem) {
  Data data{Tensor(problem.dtype(), problem.input_shape()), Tensor(problem.dtype(), problem.out_backprop_shape())};
  double next = 1;
  for (std::int64_t n = 0; n < problem.batch(); ++n)
    for (std::int64_t ih = 0; ih < problem.rows().input; ++ih)
      for (std::int64_t iw = 0; iw < problem.columns().input; ++iw)
        for (std::int64_t c = 0; c < problem.input_depth(); ++c)
          data.input.set_value(problem.InputOffset(n, ih, iw, c), next++);
  next = 1;
  for (std::int64_t n = 0; n < problem.batch(); ++n)
    for (std::int64_t oh = 0; oh < problem.rows().output; ++oh)
      for (std::int64_t ow = 0; ow < problem.columns().output; ++ow)
        for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc)
          data.out_backprop.set_value(problem.OutBackpropOffset(n, oh, ow, oc), next++);
  return data;
}

Data Of(const Problem& problem, const std::vector<double>& input, const std::vector<double>& out_backprop) {
  Data data{Tensor(problem.dtype(), problem.input_shape()), Tensor(problem.dtype(), problem.out_backprop_shape())};
  EXPECT_EQ(data.input.element_count(), static_cast<std::int64_t>(input.size()));
  EXPECT_EQ(data.out_backprop.element_count(), static_cast<std::int64_t>(out_backprop.size()));
  for (std::size_t i = 0; i < input.size(); ++i) data.input.set_value(static_cast<std::int64_t>(i), input[i]);
  for (std::size_t i = 0; i < out_backprop.size(); ++i) {
    data.out_backprop.set_value(static_cast<std::int64_t>(i), out_backprop[i]);
  }
  return data;
}

// The one element of a problem with a 1x1 filter over four pixels.
ExactElement Dot4(DType dtype, const std::vector<double>& input, const std::vector<double>& out_backprop) {
  const Problem problem = ParseProblem("n1_i2x2_c1_k1x1_o1_valid_" + std::string(NameOf(dtype))).value();
  const Data data = Of(problem, input, out_backprop);
  return FilterGradient(problem, data.input, data.out_backprop).at(0);
}

struct GoldenCase {
  const char* problem;  // without the data format and dtype
  std::vector<double> expected;
};

// TensorFlow's own test cases: inputs and out_backprop count up from 1.
const std::vector<GoldenCase>& GoldenCases() {
  static const std::vector<GoldenCase> kCases = {
      {"n1_i2x3_c1_k2x2_o1_valid", {5, 8, 14, 17}},
      {"n1_i2x3_c1_k2x2_o0_valid", {}},
      {"n0_i2x3_c1_k2x2_o1_valid", {0, 0, 0, 0}},
      {"n1_i2x3_c3_k2x2_o3_valid", {17, 22, 27,  22, 29, 36,  27, 36, 45,  32, 43,  54,  37, 50,  63,  42, 57,  72,
                                    62, 85, 108, 67, 92, 117, 72, 99, 126, 77, 106, 135, 82, 113, 144, 87, 120, 153}},
      {"n1_i3x6_c1_k2x2_o1_s1x2_valid", {161, 182, 287, 308}},
      {"n1_i4x4_c1_k1x1_o1_s2x2_same", {78}},
      {"n1_i2x2_c1_k2x2_o2_valid", {1, 2, 2, 4, 3, 6, 4, 8}},
      {"n1_i4x4_c3_k1x1_o2_valid", {8056, 8432, 8312, 8704, 8568, 8976}},
      {"n1_i3x3_c1_k1x2_o1_valid", {120, 141}},
      {"n1_i1x5_c1_k1x2_o1_s3x3_valid", {9, 12}},
      {"n1_i1x6_c1_k1x2_o1_s3x3_valid", {9, 12}},
      {"n1_i1x7_c1_k1x2_o1_s3x3_valid", {9, 12}},
      {"n1_i1x4_c1_k1x3_o1_valid", {5, 8, 11}},
      {"n1_i1x4_c1_k1x3_o1_same", {20, 30, 20}},
      {"n1_i1x4_c1_k1x3_o1_s2x2_same", {7, 10, 3}},
      {"n1_i2x3_c1_k2x2_o1_same", {91, 58, 32, 17}},
      {"n1_i3x5_c1_k1x3_o1_s2x2_valid", {92, 102, 112}},
      {"n1_i2x3_c1_k2x2_o1_s2x2_same", {7, 2, 16, 5}},
      {"n1_i3x6_c1_k2x2_o1_d2x1_valid", {55, 70, 235, 250}},
      {"n1_i2x3_c1_k2x2_o1_d1x2_valid", {1, 3, 4, 6}},
      {"n1_i2x3_c1_k2x2_o0_d1x2_valid", {}},
      {"n1_i3x4_c3_k2x2_o3_d2x2_valid",
       {17,  22,  27,  22,  29,  36,  27,  36,  45,  47,  64,  81,  52,  71,  90,  57,  78,  99,
        137, 190, 243, 142, 197, 252, 147, 204, 261, 167, 232, 297, 172, 239, 306, 177, 246, 315}},
      {"n1_i3x3_c1_k2x2_o2_d2x2_valid", {1, 2, 3, 6, 7, 14, 9, 18}},
      {"n1_i2x2_c2_k2x2_o2_g2_valid", {1, 4, 3, 8, 5, 12, 7, 16}},
      {"n1_i2x3_c1_k2x2_o1_pt0b0l0r0", {5, 8, 14, 17}},
      {"n1_i3x4_c2_k2x2_o3_s2x2_pt0b0l0r0",
       {21, 27, 33, 26, 34, 42, 31, 41, 51, 36, 48, 60, 61, 83, 105, 66, 90, 114, 71, 97, 123, 76, 104, 132}},
      {"n1_i2x3_c1_k2x2_o2_pt1b1l1r1", {401, 422, 359, 380, 233, 254, 191, 212}},
      {"n1_i2x3_c2_k1x1_o1_s1x2_pt1b1l1r1", {87, 100}},
      {"n1_i4x3_c1_k2x2_o1_s1x2_d2x2_pt1b1l1r1", {102, 87, 108, 84}},
      {"n2_i3x1_c1_k2x1_o1_s3x1_pt2b2l2r2", {106, 132}},
      {"n1_i3x6_c1_k3x2_o1_s1x2_d2x3_pt2b2l2r2", {103, 124, 723, 696, 139, 100}},
      {"n1_i2x3_c1_k2x2_o1_pt1b8l4r2", {418, 397, 250, 229}},
      {"n1_i5x3_c1_k3x2_o1_s3x1_pt1b8l4r2", {338, 314, 502, 463, 682, 625}},
      {"n1_i3x3_c1_k2x1_o1_pt5b0l2r2", {928, 1887}},
      {"n1_i4x2_c1_k3x3_o1_s1x2_d2x1_pt5b0l2r2", {0, 0, 0, 38, 56, 34, 132, 160, 116}},
  };
  return kCases;
}

TEST(FilterGradient, ReproducesTensorFlowsOwnCases) {
  int compared = 0;
  for (const GoldenCase& golden : GoldenCases()) {
    for (const char* suffix : {"_f16", "_bf16", "_f32", "_f64", "_f16_f32", "_bf16_f32", "_nchw_f32", "_nchw_f64"}) {
      const auto problem = ParseProblem(std::string(golden.problem) + suffix);
      ASSERT_TRUE(problem.ok()) << golden.problem << ": " << problem.error().message;
      const Data data = CountUp(*problem);
      const Tensor result = RoundedFilterGradient(*problem, data.input, data.out_backprop);
      ASSERT_EQ(result.shape(), problem->filter_sizes());
      ASSERT_EQ(result.element_count(), static_cast<std::int64_t>(golden.expected.size())) << golden.problem;
      for (std::int64_t i = 0; i < result.element_count(); ++i) {
        const double expected = golden.expected[static_cast<std::size_t>(i)];
        EXPECT_EQ(result.bits(i), EncodeNearest(problem->result_dtype(), expected)) << Format(*problem) << " " << i;
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 35 * 8);
}

TEST(FilterGradient, SumsPositiveAndNegativeProductsApart) {
  for (const DType dtype : kAllDTypes) {
    const ExactElement element = Dot4(dtype, {3, -5, 0, 2}, {2, 1, 7, -4});
    EXPECT_EQ(element.positive, Dyadic::FromDouble(6));
    EXPECT_EQ(element.negative, Dyadic::FromDouble(13));
    EXPECT_EQ(element.sum(), Dyadic::FromDouble(-7));
    EXPECT_EQ(element.abs_sum(), Dyadic::FromDouble(19));
    EXPECT_EQ(element.terms, 3);
    EXPECT_EQ(element, Dot4(dtype, {-0.0, 2, 3, -5}, {7, -4, 2, 1}));
  }
}

TEST(FilterGradient, KeepsTheLargestAndTheSmallestProductInOneSum) {
  for (const DType dtype : kAllDTypes) {
    const double largest = DecodeBits(dtype, LargestFiniteBits(dtype, false));
    const double smallest = DecodeBits(dtype, 1);
    const Dyadic big = Dyadic::FromDouble(largest) * Dyadic::FromDouble(largest);
    const Dyadic small = Dyadic::PowerOfTwo(2 * FormatOf(dtype).lowest_exponent());
    const ExactElement element = Dot4(dtype, {largest, smallest, largest, 0}, {largest, smallest, -largest, 1});
    EXPECT_EQ(element.positive, big + small);
    EXPECT_EQ(element.negative, big);
    EXPECT_EQ(element.sum(), small);
    const ExactElement full = Dot4(dtype, {largest, largest, largest, largest}, {largest, largest, largest, largest});
    EXPECT_EQ(full.sum(), big * Dyadic::PowerOfTwo(2));
  }
}

TEST(FilterGradient, TakesTheCensusOfSpecialValues) {
  for (const DType dtype : kAllDTypes) {
    const std::vector<double> ones = {1, 1, 1, 1};
    const ExactElement plus = Dot4(dtype, {-kInf, 2, 1, 1}, {-1, 1, 1, 0});
    EXPECT_TRUE(plus.plus_infinity && !plus.minus_infinity && !plus.nan && !plus.padding_nonfinite);
    EXPECT_EQ(plus.sum(), Dyadic::FromDouble(3));
    EXPECT_EQ(plus.terms, 2);
    const ExactElement minus = Dot4(dtype, {1, 1, -2, 1}, {1, 1, kInf, 1});
    EXPECT_TRUE(minus.minus_infinity && !minus.plus_infinity && !minus.nan);
    const ExactElement both = Dot4(dtype, {kInf, -kInf, 1, 1}, ones);
    EXPECT_TRUE(both.plus_infinity && both.minus_infinity && !both.nan);
    for (const double zero : {0.0, -0.0}) {
      const ExactElement invalid = Dot4(dtype, {kInf, 1, 1, 1}, {zero, 1, 1, 1});
      EXPECT_TRUE(invalid.nan && !invalid.plus_infinity && !invalid.minus_infinity);
    }
    const ExactElement nan = Dot4(dtype, {1, 1, kNaN, 1}, {1, 1, kInf, 1});
    EXPECT_TRUE(nan.nan && !nan.plus_infinity);
    EXPECT_EQ(nan.terms, 3);
  }
}

TEST(FilterGradient, NotesNonFiniteValuesAtPaddingWithoutAddingThem) {
  // A 3x3 window over 1x1: only the middle tap ever meets the pixel.
  const Problem problem = ParseProblem("n1_i1x1_c1_k3x3_o1_same_f32").value();
  for (const double special : {kInf, -kInf, kNaN}) {
    const Data data = Of(problem, {2}, {special});
    const std::vector<ExactElement> elements = FilterGradient(problem, data.input, data.out_backprop);
    ASSERT_EQ(elements.size(), 9u);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const bool middle = i == 4;
      EXPECT_EQ(elements[i].padding_nonfinite, !middle);
      EXPECT_EQ(elements[i].nan, middle && std::isnan(special));
      EXPECT_EQ(elements[i].plus_infinity, middle && special > 0);
      EXPECT_EQ(elements[i].minus_infinity, middle && special < 0);
      if (!middle) {
        EXPECT_EQ(RoundedBits(elements[i], DType::kFloat32), 0u);
      }
    }
  }
}

TEST(FilterGradient, IgnoresPixelsThatNoWindowReads) {
  const Problem problem = ParseProblem("n1_i3x3_c1_k2x2_o1_s2x2_valid_f64").value();
  const Data data = Of(problem, {1, 1, kNaN, 1, 1, kInf, kNaN, kNaN, -kInf}, {1});
  for (const ExactElement& element : FilterGradient(problem, data.input, data.out_backprop)) {
    EXPECT_EQ(element.sum(), Dyadic::FromDouble(1));
    EXPECT_FALSE(element.nan || element.plus_infinity || element.minus_infinity || element.padding_nonfinite);
  }
}

TEST(FilterGradient, SumElementGivesEachElementOfTheWhole) {
  const Problem problem = ParseProblem("n2_i4x3_c4_k3x2_o6_s1x2_g2_same_nchw_bf16").value();
  const Data data = CountUp(problem);
  const std::vector<ExactElement> elements = FilterGradient(problem, data.input, data.out_backprop);
  ASSERT_EQ(elements.size(), 3u * 2 * 2 * 6);
  for (std::int64_t kh = 0; kh < 3; ++kh)
    for (std::int64_t kw = 0; kw < 2; ++kw)
      for (std::int64_t ic = 0; ic < 2; ++ic)
        for (std::int64_t oc = 0; oc < 6; ++oc) {
          const auto at = static_cast<std::size_t>(problem.FilterOffset(kh, kw, ic, oc));
          EXPECT_EQ(SumElement(problem, data.input, data.out_backprop, kh, kw, ic, oc), elements[at]);
        }
}

TEST(FilterGradient, IsZeroOrEmptyWhereThereIsNothingToSum) {
  const struct {
    const char* problem;
    std::size_t elements;
  } kCases[] = {{"n0_i2x3_c1_k2x2_o3_valid_f16", 12},
                {"n1_i2x2_c2_k3x3_o1_s2x2_valid_f32", 18},
                {"n1_i0x4_c2_k3x3_o1_same_f64", 18},
                {"n1_i4x4_c2_k3x3_o0_valid_bf16", 0},
                {"n1_i4x4_c2_k0x3_o1_valid_f32", 0}};
  for (const auto& c : kCases) {
    const auto problem = ParseProblem(c.problem);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    const Data data = CountUp(*problem);
    const std::vector<ExactElement> elements = FilterGradient(*problem, data.input, data.out_backprop);
    EXPECT_EQ(elements.size(), c.elements) << c.problem;
    for (const ExactElement& element : elements) EXPECT_EQ(element, ExactElement());
    const Tensor result = RoundedFilterGradient(*problem, data.input, data.out_backprop);
    for (std::int64_t i = 0; i < result.element_count(); ++i) EXPECT_EQ(result.bits(i), 0u);
  }
}

TEST(RoundedBits, PutsNaNBeforeInfinitiesBeforeTheSum) {
  ExactElement element;
  element.positive = Dyadic::FromDouble(1.5);
  for (const DType dtype : kAllDTypes) {
    ExactElement e = element;
    EXPECT_EQ(RoundedBits(e, dtype), EncodeNearest(dtype, 1.5));
    e.padding_nonfinite = true;
    EXPECT_EQ(RoundedBits(e, dtype), EncodeNearest(dtype, 1.5));
    e.minus_infinity = true;
    EXPECT_EQ(RoundedBits(e, dtype), InfinityBits(dtype, true));
    e.plus_infinity = true;
    EXPECT_TRUE(IsNaN(dtype, RoundedBits(e, dtype)));
    e.minus_infinity = false;
    EXPECT_EQ(RoundedBits(e, dtype), InfinityBits(dtype, false));
    e.nan = true;
    EXPECT_TRUE(IsNaN(dtype, RoundedBits(e, dtype)));
    e = element;
    e.negative = e.positive;
    EXPECT_EQ(RoundedBits(e, dtype), 0u);
  }
}

TEST(RoundedBits, OverflowsAtTheStoreOnly) {
  const ExactElement twice = Dot4(DType::kFloat16, {60000, 60000, 0, 0}, {1, 1, 1, 1});
  EXPECT_EQ(RoundedBits(twice, DType::kFloat16), InfinityBits(DType::kFloat16, false));
  EXPECT_EQ(RoundedBits(twice, DType::kFloat32), EncodeNearest(DType::kFloat32, 120000));
  const ExactElement there_and_back = Dot4(DType::kFloat16, {60000, 60000, -60000, -60000}, {1, 1, 1, 1});
  EXPECT_EQ(RoundedBits(there_and_back, DType::kFloat16), 0u);
}

TEST(ReferenceCandidate, DeclaresCorrectRoundingAndAnswersWithIt) {
  const auto candidate = MakeReferenceCandidate();
  const Greeting& greeting = candidate->greeting();
  EXPECT_EQ(greeting.name, "reference");
  EXPECT_EQ(greeting.version, "exact");
  EXPECT_TRUE(greeting.declaration.deterministic);
  EXPECT_EQ(greeting.declaration.pad, "skip");
  const Problem problem = ParseProblem("n2_i4x3_c4_k3x2_o6_s1x2_g2_same_nchw_bf16_f32").value();
  EXPECT_FALSE(WhyUnsupported(greeting.capabilities, problem));
  ASSERT_EQ(greeting.declaration.accuracy_class.size(), greeting.capabilities.dtypes.size());
  for (const std::string& tag : greeting.capabilities.dtypes)
    EXPECT_EQ(greeting.declaration.accuracy_class.at(tag), "cr");
  const Data data = CountUp(problem);
  const Answer answer = candidate->FilterGradient(problem, data.input, data.out_backprop);
  ASSERT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
  EXPECT_EQ(answer.result.dtype(), DType::kFloat32);
  EXPECT_EQ(ToDoubles(answer.result), ToDoubles(RoundedFilterGradient(problem, data.input, data.out_backprop)));
}

}  // namespace
}  // namespace wgrad::reference
