// The exact forward convolution and input gradient: against numbers worked out by hand, against each other, and against
// the formula written once more as one sum over everything.
#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/random.h"
#include "reference/filter_gradient.h"
#include "reference/forward.h"
#include "reference/input_gradient.h"

namespace wgrad::reference {
namespace {

using Dyadics = std::vector<Dyadic>;
using Doubles = std::vector<double>;

Dyadics Exact(const Doubles& values) {
  Dyadics numbers;
  for (const double value : values) numbers.push_back(Dyadic::FromDouble(value));
  return numbers;
}

Doubles Sums(const std::vector<MapElement<Dyadic>>& elements) {
  Doubles sums;
  for (const MapElement<Dyadic>& element : elements) sums.push_back(element.sum.ToDouble());
  return sums;
}

Doubles ForwardOf(const std::string& text, const Doubles& input, const Doubles& filter) {
  return Sums(Forward<Dyadic>(ParseProblem(text).value(), Exact(input), Exact(filter)));
}

Doubles InputGradientOf(const std::string& text, const Doubles& filter, const Doubles& out_backprop) {
  return Sums(InputGradient<Dyadic>(ParseProblem(text).value(), Exact(filter), Exact(out_backprop)));
}

TEST(Forward, HandComputed) {
  // 1 2 3     windows of 2x2, each times 1 2
  // 4 5 6                              3 4
  EXPECT_EQ(ForwardOf("n1_i2x3_c1_k2x2_o1_valid_f32", {1, 2, 3, 4, 5, 6}, {1, 2, 3, 4}), (Doubles{37, 47}));
  // SAME, stride 2: one cell of padding, after.
  EXPECT_EQ(ForwardOf("n1_i1x3_c1_k1x2_o1_s1x2_same_f32", {1, 2, 3}, {10, 1}), (Doubles{12, 30}));
  // Dilation 2, a row of padding before and two after.
  EXPECT_EQ(ForwardOf("n1_i2x1_c1_k2x1_o1_d2x1_pt1b2l0r0_f32", {1, 2}, {10, 1}), (Doubles{2, 10, 20}));
  // Two groups: each out channel reads its own input channel.
  EXPECT_EQ(ForwardOf("n1_i1x2_c2_k1x1_o4_g2_valid_f32", {1, 2, 3, 4}, {10, 20, 30, 40}),
            (Doubles{10, 20, 60, 80, 30, 60, 120, 160}));
  // The same in NCHW.
  EXPECT_EQ(ForwardOf("n1_i1x2_c2_k1x1_o4_g2_valid_nchw_f32", {1, 3, 2, 4}, {10, 20, 30, 40}),
            (Doubles{10, 30, 20, 60, 60, 120, 80, 160}));
  EXPECT_EQ(ForwardOf("n0_i2x2_c1_k1x1_o1_valid_f32", {}, {1}), Doubles{});
  EXPECT_EQ(ForwardOf("n1_i1x1_c1_k0x1_o1_valid_f32", {7}, {}), (Doubles{0, 0}));
}

TEST(InputGradient, HandComputed) {
  // Two windows of 1 2 / 3 4, the first times 1, the second times 10.
  EXPECT_EQ(InputGradientOf("n1_i2x3_c1_k2x2_o1_valid_f32", {1, 2, 3, 4}, {1, 10}), (Doubles{1, 12, 20, 3, 34, 40}));
  EXPECT_EQ(InputGradientOf("n1_i1x3_c1_k1x2_o1_s1x2_same_f32", {10, 1}, {1, 2}), (Doubles{10, 1, 20}));
  EXPECT_EQ(InputGradientOf("n1_i2x1_c1_k2x1_o1_d2x1_pt1b2l0r0_f32", {10, 1}, {1, 2, 4}), (Doubles{20, 41}));
  EXPECT_EQ(InputGradientOf("n1_i1x1_c2_k1x1_o4_g2_valid_f32", {10, 20, 30, 40}, {1, 2, 3, 4}), (Doubles{50, 250}));
  // The third pixel is read by no window.
  EXPECT_EQ(InputGradientOf("n1_i1x3_c1_k1x1_o1_s1x3_valid_f32", {5}, {2}), (Doubles{10, 0, 0}));
  EXPECT_EQ(InputGradientOf("n1_i1x1_c1_k2x1_o1_s2x1_valid_f32", {5, 6}, {}), (Doubles{0}));
}

TEST(ExactMaps, CountTermsAndMagnitudes) {
  const Problem problem = ParseProblem("n1_i1x3_c1_k1x3_o1_valid_f32").value();
  const MapElement<Dyadic> output = Forward<Dyadic>(problem, Exact({1, 0, -2}), Exact({3, 4, 5})).front();
  EXPECT_EQ(output.sum.ToDouble(), -7);
  EXPECT_EQ(output.abs_sum.ToDouble(), 13);
  EXPECT_EQ(output.terms, 2);
}

TEST(ExactMaps, ThirdsAreExactAsRationals) {
  const Problem problem = ParseProblem("n1_i1x3_c1_k1x3_o1_valid_f32").value();
  const Rational third(1, 3);
  const std::vector<Rational> thirds(3, third);
  const std::vector<Rational> ones(3, Rational(1));
  EXPECT_EQ((Forward<Rational>(problem, ones, thirds).front().sum), Rational(1));
  EXPECT_EQ((InputGradient<Rational>(problem, thirds, std::span(ones).first(1)).front().sum), third);
}

Dyadics Random(std::int64_t count, std::uint64_t seed) {
  Dyadics numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t z = SplitMix64(seed, static_cast<std::uint64_t>(i));
    numbers.push_back(Dyadic::FromDouble(static_cast<double>(z % 2001) - 1000) * Dyadic::PowerOfTwo(-(int(z >> 60))));
  }
  return numbers;
}

Dyadic Product(const Dyadics& a, const std::vector<MapElement<Dyadic>>& b) {
  Dyadic sum;
  for (std::size_t i = 0; i < a.size(); ++i) sum = sum + a[i] * b[i].sum;
  return sum;
}

// conv2d by its definition, one sum over everything: output (n, oh, ow, oc) by the membership test.
Dyadic ByDefinition(const Problem& problem, const Dyadics& x, const Dyadics& w, std::int64_t n, std::int64_t oh,
                    std::int64_t ow, std::int64_t oc) {
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  Dyadic sum;
  for (std::int64_t kh = 0; kh < rows.filter; ++kh) {
    for (std::int64_t kw = 0; kw < columns.filter; ++kw) {
      const std::int64_t ih = oh * rows.stride + kh * rows.dilation - rows.pad_before;
      const std::int64_t iw = ow * columns.stride + kw * columns.dilation - columns.pad_before;
      if (ih < 0 || ih >= rows.input || iw < 0 || iw >= columns.input) continue;
      for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
        const std::int64_t c = oc / problem.out_depth_per_group() * problem.filter_depth() + ic;
        sum = sum + x[static_cast<std::size_t>(problem.InputOffset(n, ih, iw, c))] *
                        w[static_cast<std::size_t>(problem.FilterOffset(kh, kw, ic, oc))];
      }
    }
  }
  return sum;
}

const std::string kProblems[] = {
    "n2_i5x7_c4_k3x2_o6_s2x1_g2_same_f32", "n1_i7x6_c2_k2x3_o3_s3x2_pt2b0l1r3_nchw_f32",
    "n2_i7x8_c2_k3x3_o2_d2x1_same_f32",    "n1_i9x9_c3_k2x2_o3_s2x3_d3x2_g3_valid_nchw_f32",
    "n2_i3x3_c1_k2x2_o2_pt5b0l0r5_f32",    "n2_i8x8_c1_k2x2_o2_s5x3_valid_f32",
    "n1_i2x2_c1_k3x3_o1_s2x2_valid_f32",   "n1_i1x1_c2_k3x4_o2_same_f32",
};

TEST(ExactMaps, AgreeWithTheDefinitionAndWithEachOther) {
  std::int64_t outputs = 0;
  for (const std::string& text : kProblems) {
    const Problem problem = ParseProblem(text).value();
    const Dyadics x = Random(problem.input_count(), 1);
    const Dyadics w = Random(problem.filter_count(), 2);
    const Dyadics dy = Random(problem.out_backprop_count(), 3);
    const auto y = Forward<Dyadic>(problem, x, w);
    ASSERT_EQ(std::ssize(y), problem.out_backprop_count());
    for (std::int64_t n = 0; n < problem.batch(); ++n) {
      for (std::int64_t oh = 0; oh < problem.rows().output; ++oh) {
        for (std::int64_t ow = 0; ow < problem.columns().output; ++ow) {
          for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc, ++outputs) {
            EXPECT_EQ(y[static_cast<std::size_t>(problem.OutBackpropOffset(n, oh, ow, oc))].sum,
                      ByDefinition(problem, x, w, n, oh, ow, oc));
          }
        }
      }
    }
    const auto dx = InputGradient<Dyadic>(problem, w, dy);
    ASSERT_EQ(std::ssize(dx), problem.input_count());
    EXPECT_EQ(Product(dy, y), Product(x, dx)) << text;
  }
  EXPECT_EQ(outputs, 761);
}

// The gradient with respect to each pixel is what that pixel alone, being one, adds to <y, out_backprop>.
TEST(InputGradient, IsTheForwardMapOfEachPixelAlone) {
  std::int64_t pixels = 0;
  for (const std::string& text : kProblems) {
    const Problem problem = ParseProblem(text).value();
    const Dyadics w = Random(problem.filter_count(), 4);
    const Dyadics dy = Random(problem.out_backprop_count(), 5);
    const auto dx = InputGradient<Dyadic>(problem, w, dy);
    for (std::int64_t at = 0; at < problem.input_count(); at += 3, ++pixels) {
      Dyadics unit(static_cast<std::size_t>(problem.input_count()));
      unit[static_cast<std::size_t>(at)] = Dyadic::FromDouble(1);
      EXPECT_EQ(Product(dy, Forward<Dyadic>(problem, unit, w)), dx[static_cast<std::size_t>(at)].sum) << text;
    }
  }
  EXPECT_EQ(pixels, 330);
}

}  // namespace
}  // namespace wgrad::reference
