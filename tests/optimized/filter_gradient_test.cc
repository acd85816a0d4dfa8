#include "optimized/filter_gradient.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/random.h"
#include "suites/suites.h"

namespace wgrad::optimized {
namespace {

constexpr DTypePair kDTypes[] = {
    {DType::kFloat16, DType::kFloat16}, {DType::kBFloat16, DType::kBFloat16}, {DType::kFloat32, DType::kFloat32},
    {DType::kFloat64, DType::kFloat64}, {DType::kFloat16, DType::kFloat32},   {DType::kBFloat16, DType::kFloat32},
};

Tensor SmallIntegers(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.set_value(i, static_cast<double>(SplitMix64(seed, static_cast<std::uint64_t>(i)) % 9) - 4);
  }
  return tensor;
}

Tensor RealNumbers(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.set_value(i, static_cast<double>(SplitMix64(seed, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-52 - 1);
  }
  return tensor;
}

struct Inputs {
  Tensor input;
  Tensor out_backprop;
};

Inputs IntegersFor(const Problem& problem) {
  return {SmallIntegers(problem.dtype(), problem.input_shape(), 3),
          SmallIntegers(problem.dtype(), problem.out_backprop_shape(), 4)};
}
Inputs RealsFor(const Problem& problem) {
  return {RealNumbers(problem.dtype(), problem.input_shape(), 5),
          RealNumbers(problem.dtype(), problem.out_backprop_shape(), 6)};
}

Tensor Compute(const Problem& problem, const Inputs& inputs, int threads = 1) {
  const Answer answer = MakeOpenBlasCandidate(threads)->FilterGradient(problem, inputs.input, inputs.out_backprop);
  EXPECT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
  return answer.result;
}

// The formula in plain loops over doubles: exact for small integers, rounded once.
Tensor PlainSums(const Problem& problem, const Inputs& inputs) {
  const std::vector<double> input = ToDoubles(inputs.input);
  const std::vector<double> out_backprop = ToDoubles(inputs.out_backprop);
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  std::vector<double> sums(static_cast<std::size_t>(problem.filter_count()));
  const auto add_pixel = [&](std::int64_t n, std::int64_t oh, std::int64_t ow, std::int64_t kh, std::int64_t kw) {
    const std::int64_t ih = oh * rows.stride + kh * rows.dilation - rows.pad_before;
    const std::int64_t iw = ow * columns.stride + kw * columns.dilation - columns.pad_before;
    if (ih < 0 || ih >= rows.input || iw < 0 || iw >= columns.input) return;
    for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
      const double dy = out_backprop[static_cast<std::size_t>(problem.OutBackpropOffset(n, oh, ow, oc))];
      const std::int64_t first_channel = oc / problem.out_depth_per_group() * problem.filter_depth();
      for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
        sums[static_cast<std::size_t>(problem.FilterOffset(kh, kw, ic, oc))] +=
            input[static_cast<std::size_t>(problem.InputOffset(n, ih, iw, first_channel + ic))] * dy;
      }
    }
  };
  for (std::int64_t p = 0; p < problem.positions(); ++p) {
    const std::int64_t row = p / columns.output;
    for (std::int64_t tap = 0; tap < rows.filter * columns.filter; ++tap) {
      add_pixel(row / rows.output, row % rows.output, p % columns.output, tap / columns.filter, tap % columns.filter);
    }
  }
  Tensor result(problem.result_dtype(), problem.filter_sizes());
  for (std::int64_t i = 0; i < result.element_count(); ++i) result.set_value(i, sums[static_cast<std::size_t>(i)]);
  return result;
}

// Zeros of either sign are equal. Returns how many elements were compared.
std::int64_t ExpectEqual(const Problem& problem, const Tensor& actual, const Tensor& expected) {
  EXPECT_EQ(actual.shape(), expected.shape());
  if (actual.shape() != expected.shape()) return 0;
  for (std::int64_t i = 0; i < expected.element_count(); ++i) {
    if (actual.value(i) == expected.value(i)) continue;
    ADD_FAILURE() << Format(problem) << " element " << i << ": " << actual.value(i) << " instead of "
                  << expected.value(i);
    return i;
  }
  return expected.element_count();
}

bool SameBits(const Tensor& a, const Tensor& b) {
  return a.byte_count() == b.byte_count() &&
         (a.byte_count() == 0 || std::memcmp(a.data(), b.data(), a.byte_count()) == 0);
}

TEST(OpenBlas, IsExactOnSmallIntegersOverTheTrapsInAllDTypes) {
  const std::vector<Problem> traps = suites::SuiteProblems("traps").value();
  std::int64_t compared = 0;
  for (const Problem& trap : traps) {
    for (const DTypePair& dtypes : kDTypes) {
      const Problem problem = WithDType(trap, dtypes.dtype, dtypes.result_dtype);
      const Inputs inputs = IntegersFor(problem);
      compared += ExpectEqual(problem, Compute(problem, inputs), PlainSums(problem, inputs));
    }
  }
  EXPECT_GE(traps.size(), 60U);
  EXPECT_GT(compared, 200000);
}

class RandomProblem {
 public:
  explicit RandomProblem(std::uint64_t seed) : seed_(seed) {}

  // A valid problem, or nothing where the filter does not fit.
  std::optional<Problem> Draw() {
    OpArguments arguments;
    const std::int64_t groups = Between(1, 3);
    const std::int64_t depth = Between(1, 7);
    const std::vector<std::int64_t> image = {Between(1, 12), Between(1, 14)};
    const DTypePair dtypes = kDTypes[Between(0, 5)];
    arguments.dtype = arguments.out_backprop_dtype = NameOf(dtypes.dtype);
    if (dtypes.dtype != dtypes.result_dtype) arguments.result_dtype = NameOf(dtypes.result_dtype);
    arguments.filter_sizes = {Between(1, 4), Between(1, 5), depth, groups * Between(1, 9)};
    nchw_ = Between(0, 1) == 1;
    arguments.data_format = nchw_ ? "NCHW" : "NHWC";
    arguments.strides = InFormat(1, Between(1, 3), Between(1, 3), 1);
    arguments.dilations = InFormat(1, Between(1, 2), Between(1, 3), 1);
    const std::int64_t batch = Between(1, 3);
    arguments.input_shape = InFormat(batch, image[0], image[1], groups * depth);
    DrawPadding(arguments);
    SetOutput(arguments, batch, image);
    const Result<Problem> problem = Validate(arguments);
    if (!problem.ok()) return std::nullopt;
    return *problem;
  }

 private:
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(SplitMix64(seed_, index_++) % static_cast<std::uint64_t>(high - low + 1));
  }
  std::vector<std::int64_t> InFormat(std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) const {
    if (nchw_) return {n, c, h, w};
    return {n, h, w, c};
  }
  void DrawPadding(OpArguments& arguments) {
    const std::int64_t kind = Between(0, 2);
    arguments.padding = std::string(kind == 0 ? "SAME" : kind == 1 ? "VALID" : "EXPLICIT");
    for (std::int64_t& pad : pads_) pad = Between(0, 4);
    if (kind != 2) return;
    const std::size_t first = nchw_ ? 4 : 2;
    arguments.explicit_paddings.assign(8, 0);
    for (std::size_t i = 0; i < 4; ++i) arguments.explicit_paddings[first + i] = pads_[i];
  }
  void SetOutput(OpArguments& arguments, std::int64_t batch, const std::vector<std::int64_t>& image) const {
    const std::string& word = std::get<std::string>(arguments.padding);
    const Padding padding = word == "SAME" ? Padding::kSame : word == "VALID" ? Padding::kValid : Padding::kExplicit;
    std::int64_t output[2];
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t at = i + (nchw_ ? 2 : 1);
      const Axis axis{image[i],
                      arguments.filter_sizes[i],
                      arguments.strides[at],
                      arguments.dilations[at],
                      pads_[2 * i],
                      pads_[2 * i + 1],
                      0};
      output[i] = ComputeAxis(axis, padding).output;
    }
    arguments.out_backprop_shape = InFormat(batch, output[0], output[1], arguments.filter_sizes[3]);
  }

  std::uint64_t seed_;
  std::uint64_t index_ = 0;
  bool nchw_ = false;
  std::int64_t pads_[4] = {0, 0, 0, 0};
};

TEST(OpenBlas, IsExactOnSmallIntegersForRandomProblems) {
  RandomProblem random(2026);
  int problems = 0;
  std::int64_t compared = 0;
  for (int draw = 0; draw < 1500; ++draw) {
    const std::optional<Problem> problem = random.Draw();
    if (!problem) continue;
    const Inputs inputs = IntegersFor(*problem);
    compared += ExpectEqual(*problem, Compute(*problem, inputs), PlainSums(*problem, inputs));
    ++problems;
  }
  EXPECT_GT(problems, 1000);
  EXPECT_GT(compared, 200000);
}

// Large enough for several units, tiles of part of an image and tiles that span images.
constexpr const char* kLargeProblems[] = {
    "n2_i28x27_c20_k3x3_o24_same_f32",
    "n2_i28x27_c20_k3x3_o24_same_nchw_f32",
    "n6_i7x7_c64_k3x3_o32_same_f32",
    "n6_i7x7_c64_k3x3_o32_same_nchw_bf16",
    "n3_i40x40_c32_k1x1_o48_valid_f32",
    "n3_i40x40_c32_k1x1_o48_valid_nchw_f32",
    "n9_i7x7_c40_k1x1_o40_valid_nchw_f64",
    "n1_i64x48_c3_k7x7_o32_s2x2_same_f16",
    "n2_i20x20_c48_k3x3_o48_d2x1_g12_same_f64",
    "n1_i30x30_c100_k3x3_o20_s2x1_same_bf16_f32",
    "n2_i21x23_c48_k3x2_o36_s1x2_g2_same_f32",
    "n2_i21x23_c48_k3x2_o36_d1x2_g2_pt1b0l2r1_bf16",
    "n2_i14x14_c64_k3x3_o64_g64_same_f32",
};

TEST(OpenBlas, IsExactOnSmallIntegersForLargerProblems) {
  std::int64_t compared = 0;
  for (const char* text : kLargeProblems) {
    const Problem problem = ParseProblem(text).value();
    const Inputs inputs = IntegersFor(problem);
    compared += ExpectEqual(problem, Compute(problem, inputs, 2), PlainSums(problem, inputs));
  }
  EXPECT_GT(compared, 70000);
}

TEST(OpenBlas, GivesTheSameBitsForAnyNumberOfThreads) {
  std::int64_t compared = 0;
  for (const char* text : kLargeProblems) {
    const Problem problem = ParseProblem(text).value();
    const Inputs inputs = RealsFor(problem);
    const Tensor one = Compute(problem, inputs, 1);
    for (const int threads : {2, 3, 0}) {
      EXPECT_TRUE(SameBits(one, Compute(problem, inputs, threads))) << text << " with " << threads << " threads";
      compared += one.element_count();
    }
  }
  EXPECT_GT(compared, 220000);
}

TEST(OpenBlas, WritesZerosWhereNothingIsSummed) {
  const char* texts[] = {"n0_i4x4_c2_k3x3_o2_same_f32", "n0_i4x4_c2_k3x3_o2_same_nchw_f16",
                         "n1_i4x4_c1_k5x3_o1_valid_f64", "n1_i2x2_c1_k3x3_o1_s2x2_valid_bf16"};
  std::int64_t zeros = 0;
  for (const char* text : texts) {
    const Problem problem = ParseProblem(text).value();
    const Tensor result = Compute(problem, IntegersFor(problem));
    for (std::int64_t i = 0; i < result.element_count(); ++i) {
      EXPECT_EQ(result.bits(i), 0U) << text;
      ++zeros;
    }
  }
  EXPECT_EQ(zeros, 36 + 36 + 15 + 9);
}

TEST(OpenBlas, AnswersAnEmptyResult) {
  for (const char* text : {"n2_i4x4_c2_k3x3_o0_same_f32", "n2_i4x4_c2_k0x3_o2_valid_nchw_bf16"}) {
    const Result<Problem> problem = ParseProblem(text);
    ASSERT_TRUE(problem.ok()) << text << ": " << problem.error().message;
    EXPECT_EQ(Compute(*problem, IntegersFor(*problem)).element_count(), 0) << text;
  }
}

TEST(OpenBlas, PassesNaNAndInfinityOn) {
  const Problem problem = ParseProblem("n2_i9x9_c3_k3x3_o4_valid_f32").value();
  Inputs inputs = IntegersFor(problem);
  // Only tap (0, 0) meets the image's first pixel.
  inputs.input.set_value(problem.InputOffset(0, 0, 0, 1), std::numeric_limits<double>::quiet_NaN());
  inputs.input.set_value(problem.InputOffset(1, 0, 0, 2), std::numeric_limits<double>::infinity());
  for (std::int64_t oc = 0; oc < 4; ++oc) inputs.out_backprop.set_value(problem.OutBackpropOffset(1, 0, 0, oc), -1.0);
  const Tensor result = Compute(problem, inputs);
  for (std::int64_t oc = 0; oc < 4; ++oc) {
    EXPECT_TRUE(std::isnan(result.value(problem.FilterOffset(0, 0, 1, oc))));
    EXPECT_EQ(result.value(problem.FilterOffset(0, 0, 2, oc)), -std::numeric_limits<double>::infinity());
    EXPECT_TRUE(std::isfinite(result.value(problem.FilterOffset(0, 1, 1, oc))));
    EXPECT_TRUE(std::isfinite(result.value(problem.FilterOffset(2, 2, 2, oc))));
  }
}

TEST(OpenBlas, KeepsHalfSumsInFloat32AndRoundsOnce) {
  // 2048 + 1 + 1: a half accumulator stays at 2048. 65504 + 65504 - 65504: it would overflow.
  const Problem problem = ParseProblem("n1_i1x3_c2_k1x1_o1_valid_f16").value();
  Inputs inputs{Tensor(DType::kFloat16, problem.input_shape()), Tensor(DType::kFloat16, problem.out_backprop_shape())};
  const double values[] = {2048, 65504, 1, 65504, 1, -65504};
  for (std::int64_t i = 0; i < 6; ++i) inputs.input.set_value(i, values[i]);
  for (std::int64_t i = 0; i < 3; ++i) inputs.out_backprop.set_value(i, 1);
  const Tensor result = Compute(problem, inputs);
  EXPECT_EQ(result.value(0), 2050);
  EXPECT_EQ(result.value(1), 65504);
}

TEST(OpenBlas, SaysWhatItIs) {
  const Greeting greeting = MakeOpenBlasCandidate(1)->greeting();
  EXPECT_EQ(greeting.name, "openblas");
  EXPECT_TRUE(greeting.libraries.contains("OpenBLAS"));
  EXPECT_TRUE(greeting.declaration.deterministic);
  EXPECT_EQ(greeting.declaration.accuracy_class.size(), 6U);
  EXPECT_EQ(greeting.declaration.accuracy_class.at("bf16"), "wide");
  EXPECT_EQ(greeting.declaration.accuracy_class.at("bf16_f32"), "order");
}

TEST(OpenBlas, RefusesExtentsBeyondOpenBlasIntegers) {
  const Problem problem = ParseProblem("n1_i1x1_c1_k1x1_o3000000000_valid_f32").value();
  const Status status = FilterGradient(problem, {}, {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kTooLarge);
  EXPECT_NE(status.error().message.find("3000000000"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace wgrad::optimized
