// The two derivations of the filter gradient against each other, over every small geometry.
#include "reference/forward_map.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/random.h"

namespace wgrad::reference {
namespace {

// Any bits at all, small integers, zeros of both signs, infinities, NaN, the largest and the smallest values.
std::uint64_t NastyBits(DType dtype, std::uint64_t z) {
  const std::uint64_t width = 8 * SizeOf(dtype);
  const std::uint64_t sign = (z & 1) << (width - 1);
  const std::uint64_t value = z >> 32;
  switch ((z >> 1) % 16) {
    case 0:
    case 1:
      return sign;
    case 2:
      return sign | LargestFiniteBits(dtype, false);
    case 3:
      return sign | (1 + value % 3);
    case 4:
    case 5:
    case 6:
    case 7:
      return EncodeNearest(dtype, static_cast<double>(value % 33) - 16);
    case 8:
      if (value % 4 == 0) return sign | InfinityBits(dtype, false);
      if (value % 4 == 1) return EncodeNearest(dtype, std::numeric_limits<double>::quiet_NaN());
      return sign | EncodeNearest(dtype, 1);
    default:
      return SplitMix64(z, 0) >> (64 - width);
  }
}

Tensor Nasty(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.set_bits(i, NastyBits(dtype, SplitMix64(seed, static_cast<std::uint64_t>(i))));
  }
  return tensor;
}

struct Comparison {
  std::int64_t problems = 0;
  std::int64_t elements = 0;
  std::int64_t finite = 0;   // elements without a special value
  std::int64_t special = 0;  // with one inside the image
  std::int64_t padding = 0;  // with one at padding

  bool Compare(const Problem& problem, std::uint64_t seed) {
    const Tensor input = Nasty(problem.dtype(), problem.input_shape(), DeriveSeed(seed, 0));
    const Tensor out_backprop = Nasty(problem.dtype(), problem.out_backprop_shape(), DeriveSeed(seed, 1));
    const std::vector<ExactElement> first = FilterGradient(problem, input, out_backprop);
    ++problems;
    elements += static_cast<std::int64_t>(first.size());
    for (const ExactElement& element : first) {
      const bool inside = element.nan || element.plus_infinity || element.minus_infinity;
      ++(inside ? special : finite);
      if (element.padding_nonfinite) ++padding;
    }
    return first == FilterGradientByForward(problem, input, out_backprop);
  }
};

struct Span {  // one axis
  int input, filter, stride, dilation;
};

std::vector<Span> Spans() {
  std::vector<Span> spans;
  for (int input = 1; input <= 4; ++input)
    for (int filter = 1; filter <= 3; ++filter)
      for (int stride = 1; stride <= 3; ++stride)
        for (int dilation = 1; dilation <= 2; ++dilation) spans.push_back({input, filter, stride, dilation});
  return spans;
}

std::string Times(const char* mark, int rows, int columns) {
  return mark + std::to_string(rows) + "x" + std::to_string(columns);
}

// Input and out depth, and groups: one group, then groups of several out channels, then of several input channels.
struct Depths {
  const char* input;
  const char* output;
  const char* groups;
};
constexpr Depths kDepths[] = {{"_c1", "_o2", ""}, {"_c2", "_o1", ""}, {"_c2", "_o4", "_g2"}, {"_c4", "_o2", "_g2"}};

// Batch, layout and dtype are drawn, since they do not interact with the axes.
std::string Text(const Span& rows, const Span& columns, const Depths& depths, const std::string& tail) {
  return Times("_i", rows.input, columns.input) + depths.input + Times("_k", rows.filter, columns.filter) +
         depths.output + Times("_s", rows.stride, columns.stride) + Times("_d", rows.dilation, columns.dilation) +
         depths.groups + tail;
}

struct PaddingCase {
  const char* word;
  std::int64_t pairs_of_axes;  // those of the 72 * 72 whose output size is not negative
};

class EveryGeometry : public testing::TestWithParam<PaddingCase> {
 protected:
  // All depths over one pair of axes; false where the axes are refused.
  bool Compare(const Span& rows, const Span& columns) {
    constexpr std::array kBatches = {"n1", "n2"};
    constexpr std::array kLayouts = {"", "_nchw"};
    constexpr std::array kDTypes = {"_f16", "_bf16", "_f32", "_f64"};
    for (const Depths& depths : kDepths) {
      const std::uint64_t z = SplitMix64(21, index_++) >> 8;
      const std::string tail = std::string("_") + GetParam().word + kLayouts[z / 8 % 2] + kDTypes[z / 2 % 4];
      const std::string text = kBatches[z % 2] + Text(rows, columns, depths, tail);
      const auto problem = ParseProblem(text);
      if (!problem.ok()) {
        EXPECT_TRUE(problem.error().rule == 22 || problem.error().rule == 24) << text << problem.error().message;
        return false;
      }
      EXPECT_TRUE(comparison_.Compare(*problem, z)) << text;
    }
    return true;
  }

  Comparison comparison_;
  std::uint64_t index_ = 0;
};

TEST_P(EveryGeometry, BothDerivationsAgreeBitForBit) {
  std::int64_t pairs = 0;
  for (const Span& rows : Spans()) {
    for (const Span& columns : Spans()) {
      if (Compare(rows, columns)) ++pairs;
      ASSERT_FALSE(HasFailure());
    }
  }
  EXPECT_EQ(pairs, GetParam().pairs_of_axes);
  EXPECT_EQ(comparison_.problems, pairs * 4);
  EXPECT_GT(comparison_.elements, pairs * 4 * 4);
  EXPECT_GT(comparison_.finite, comparison_.elements / 4);
  EXPECT_GT(comparison_.special, comparison_.elements / 20);
  if (std::string(GetParam().word) == "valid") {
    EXPECT_EQ(comparison_.padding, 0);
  } else {
    EXPECT_GT(comparison_.padding, comparison_.elements / 50);
  }
}

INSTANTIATE_TEST_SUITE_P(Paddings, EveryGeometry,
                         testing::Values(PaddingCase{"valid", 66 * 66}, PaddingCase{"same", 72 * 72},
                                         PaddingCase{"pt1b0l2r3", 70 * 72}),
                         [](const auto& instance) { return std::string(instance.param.word); });

// Everything that EveryGeometry draws, in full, over few geometries.
TEST(ForwardMap, AgreesInEveryLayoutDepthAndDType) {
  Comparison comparison;
  std::uint64_t seed = 100;
  for (const char* batch : {"n1", "n2", "n3"})
    for (const char* depths : {"_c1_k2x3_o1", "_c6_k2x3_o6", "_c6_k2x3_o3", "_c5_k2x3_o4"})
      for (const char* groups : {"", "_g3", "_g6"})
        for (const char* padding : {"_valid", "_same", "_pt2b1l0r1", "_pt0b3l5r0"})
          for (const char* layout : {"", "_nchw"})
            for (const char* dtype : {"_f16", "_bf16", "_f32", "_f64"}) {
              std::string text =
                  std::string(batch) + "_i3x4" + depths + "_s2x1_d1x2" + groups + padding + layout + dtype;
              const auto problem = ParseProblem(text);
              if (!problem.ok()) continue;
              ASSERT_TRUE(comparison.Compare(*problem, ++seed)) << text;
            }
  EXPECT_EQ(comparison.problems, 672);
}

TEST(ForwardMap, AgreesWhereThereIsNothingToSum) {
  Comparison comparison;
  for (const char* text :
       {"n0_i2x3_c1_k2x2_o3_valid_f16", "n1_i2x2_c2_k3x3_o1_s2x2_valid_f32", "n1_i0x4_c2_k3x3_o1_same_f64",
        "n1_i4x4_c2_k3x3_o0_valid_bf16", "n1_i4x4_c2_k0x3_o1_valid_f32", "n1_i4x4_c2_k3x0_o1_d2x2_valid_f32"}) {
    const auto problem = ParseProblem(text);
    ASSERT_TRUE(problem.ok()) << problem.error().message;
    EXPECT_TRUE(comparison.Compare(*problem, 5)) << text;
  }
  EXPECT_EQ(comparison.elements, 12 + 18 + 18);
}

TEST(ForwardMap, OneElementIsThatOfTheWhole) {
  const Problem problem = ParseProblem("n2_i4x3_c4_k3x2_o6_s1x2_g2_same_nchw_f32").value();
  const Tensor input = Nasty(problem.dtype(), problem.input_shape(), 7);
  const Tensor out_backprop = Nasty(problem.dtype(), problem.out_backprop_shape(), 8);
  const std::vector<ExactElement> elements = FilterGradientByForward(problem, input, out_backprop);
  ASSERT_EQ(elements.size(), 72u);
  EXPECT_EQ(SumElementByForward(problem, input, out_backprop, 2, 0, 1, 4),
            elements[static_cast<std::size_t>(problem.FilterOffset(2, 0, 1, 4))]);
}

// <conv2d(input, filter), out_backprop> == <filter gradient, filter> for a dense filter: an equality of integers. The
// forward convolution runs over a padded copy of one image and channel, in integers.
std::int64_t ForwardInnerProduct(const Problem& problem, const Tensor& input, const Tensor& filter,
                                 const Tensor& out_backprop) {
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  const std::int64_t width = columns.pad_before + columns.input + columns.pad_after;
  const std::int64_t height = rows.pad_before + rows.input + rows.pad_after;
  std::int64_t total = 0;
  for (std::int64_t n = 0; n < problem.batch(); ++n)
    for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc)
      for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
        std::vector<std::int64_t> padded(static_cast<std::size_t>(width * height));
        const std::int64_t c = oc / problem.out_depth_per_group() * problem.filter_depth() + ic;
        for (std::int64_t y = 0; y < rows.input; ++y)
          for (std::int64_t x = 0; x < columns.input; ++x)
            padded[static_cast<std::size_t>((y + rows.pad_before) * width + x + columns.pad_before)] =
                static_cast<std::int64_t>(input.value(problem.InputOffset(n, y, x, c)));
        for (std::int64_t oh = 0; oh < rows.output; ++oh)
          for (std::int64_t ow = 0; ow < columns.output; ++ow)
            for (std::int64_t kh = 0; kh < rows.filter; ++kh)
              for (std::int64_t kw = 0; kw < columns.filter; ++kw) {
                const std::int64_t y = oh * rows.stride + kh * rows.dilation;
                const std::int64_t x = ow * columns.stride + kw * columns.dilation;
                total += padded.at(static_cast<std::size_t>(y * width + x)) *
                         static_cast<std::int64_t>(filter.value(problem.FilterOffset(kh, kw, ic, oc))) *
                         static_cast<std::int64_t>(out_backprop.value(problem.OutBackpropOffset(n, oh, ow, oc)));
              }
      }
  return total;
}

Tensor SmallIntegers(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    tensor.set_value(i, static_cast<double>(SplitMix64(seed, static_cast<std::uint64_t>(i)) % 19) - 9);
  }
  return tensor;
}

TEST(ForwardMap, AdjointIdentityHoldsForDenseFilters) {
  std::uint64_t seed = 1000;
  int compared = 0;
  for (const char* text : {"n2_i5x7_c6_k3x2_o4_s2x1_g2_same_f32", "n1_i6x5_c2_k2x3_o3_d2x1_valid_f64",
                           "n2_i4x4_c3_k3x3_o6_s1x3_g3_pt2b1l0r3_nchw_f16", "n3_i3x8_c1_k1x4_o2_s2x2_d1x2_same_bf16"}) {
    const Problem problem = ParseProblem(text).value();
    const Tensor input = SmallIntegers(problem.dtype(), problem.input_shape(), ++seed);
    const Tensor out_backprop = SmallIntegers(problem.dtype(), problem.out_backprop_shape(), ++seed);
    const Tensor filter = SmallIntegers(problem.dtype(), problem.filter_sizes(), ++seed);
    const Dyadic expected(Dyadic::Integer(ForwardInnerProduct(problem, input, filter, out_backprop)), 0);
    for (const auto& gradient :
         {FilterGradient(problem, input, out_backprop), FilterGradientByForward(problem, input, out_backprop)}) {
      Dyadic inner_product;
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        inner_product =
            inner_product + gradient[i].sum() * Dyadic::FromDouble(filter.value(static_cast<std::int64_t>(i)));
      }
      EXPECT_EQ(inner_product, expected) << text;
      EXPECT_FALSE(inner_product.is_zero()) << text;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 8);
}

}  // namespace
}  // namespace wgrad::reference
