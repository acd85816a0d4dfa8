// Sizes and padding of one axis against counting by hand, over all small axes, and at the edge of 63 bits.
#include "core/geometry.h"

#include <gtest/gtest.h>

#include <limits>

namespace wgrad {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

// How many windows lie within the padded image, found by sliding one along it.
std::int64_t CountWindows(std::int64_t padded, std::int64_t effective_filter, std::int64_t stride) {
  std::int64_t count = 0;
  while (count * stride + effective_filter <= padded) ++count;
  return count;
}

struct Counts {
  int positive = 0;
  int zero = 0;
  int refused = 0;
};

// Rule G2: where a window fits, the output counts the windows; where none does, truncation decides.
void CheckUnpadded(const Axis& axis, Counts& counts) {
  const std::int64_t effective_filter = (axis.filter - 1) * axis.dilation + 1;
  const std::int64_t excess = axis.input + axis.pad_before + axis.pad_after - effective_filter;
  if (excess >= 0) {
    ++counts.positive;
    ASSERT_EQ(axis.output, CountWindows(excess + effective_filter, effective_filter, axis.stride));
  } else if (excess > -2 * axis.stride) {
    ++counts.zero;
    ASSERT_EQ(axis.output, 0);
  } else {
    ++counts.refused;
    ASSERT_EQ(axis.output, -1);
  }
}

TEST(ComputeAxis, CountsTheWindowsOfEverySmallExplicitAxis) {
  Counts counts;
  for (std::int64_t input = 0; input <= 8; ++input) {
    for (std::int64_t filter = 0; filter <= 5; ++filter) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
          for (std::int64_t before = 0; before <= 3; ++before) {
            for (std::int64_t after = 0; after <= 3; ++after) {
              const Axis axis = ComputeAxis({input, filter, stride, dilation, before, after}, Padding::kExplicit);
              ASSERT_EQ(axis.pad_before, before);
              ASSERT_EQ(axis.pad_after, after);
              ASSERT_NO_FATAL_FAILURE(CheckUnpadded(axis, counts));
            }
          }
        }
      }
    }
  }
  EXPECT_GT(counts.positive, 5000);
  EXPECT_GT(counts.zero, 500);
  EXPECT_GT(counts.refused, 100);
}

TEST(ComputeAxis, ValidIsExplicitWithoutPadsWhateverPadsComeIn) {
  int compared = 0;
  for (std::int64_t input = 0; input <= 8; ++input) {
    for (std::int64_t filter = 0; filter <= 5; ++filter) {
      for (std::int64_t stride = 1; stride <= 4; ++stride) {
        for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
          const Axis explicit_axis = ComputeAxis({input, filter, stride, dilation}, Padding::kExplicit);
          EXPECT_EQ(ComputeAxis({input, filter, stride, dilation, 5, 6}, Padding::kValid), explicit_axis);
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 9 * 6 * 4 * 3);
}

TEST(ComputeAxis, SameTakesTheLeastPaddingThatFitsAndPutsTheExtraCellAfter) {
  int odd = 0;
  int compared = 0;
  for (std::int64_t input = 0; input <= 12; ++input) {
    for (std::int64_t filter = 0; filter <= 6; ++filter) {
      for (std::int64_t stride = 1; stride <= 5; ++stride) {
        for (std::int64_t dilation = 1; dilation <= 3; ++dilation) {
          const Axis axis = ComputeAxis({input, filter, stride, dilation, 9, 9}, Padding::kSame);
          std::int64_t output = 0;
          while (output * stride < input) ++output;
          ASSERT_EQ(axis.output, output);
          const std::int64_t last_end = (output - 1) * stride + (filter - 1) * dilation + 1;
          std::int64_t total = 0;
          while (input + total < last_end) ++total;
          ASSERT_EQ(axis.pad_before + axis.pad_after, total);
          ASSERT_EQ(axis.pad_after - axis.pad_before, total % 2);
          odd += static_cast<int>(total % 2);
          ++compared;
        }
      }
    }
  }
  EXPECT_EQ(compared, 13 * 7 * 5 * 3);
  EXPECT_GT(odd, 200);
}

TEST(ComputeAxis, GivesSamePaddingThatDependsOnStrideAndDilation) {
  const auto pads = [](std::int64_t input, std::int64_t filter, std::int64_t stride, std::int64_t dilation) {
    const Axis axis = ComputeAxis({input, filter, stride, dilation}, Padding::kSame);
    return std::pair(axis.pad_before, axis.pad_after);
  };
  EXPECT_EQ(pads(4, 3, 1, 1), std::pair(std::int64_t{1}, std::int64_t{1}));
  EXPECT_EQ(pads(4, 3, 2, 1), std::pair(std::int64_t{0}, std::int64_t{1}));
  EXPECT_EQ(pads(4, 2, 1, 1), std::pair(std::int64_t{0}, std::int64_t{1}));
  EXPECT_EQ(pads(4, 3, 1, 2), std::pair(std::int64_t{2}, std::int64_t{2}));
  EXPECT_EQ(pads(9, 2, 4, 1), std::pair(std::int64_t{0}, std::int64_t{1}));
  EXPECT_EQ(pads(8, 2, 4, 1), std::pair(std::int64_t{0}, std::int64_t{0}));
}

TEST(ComputeAxis, TruncatesTowardsZeroNotDownwards) {
  // Input 2, filter 3 to 7, stride 2: excess -1, -2, -3 give 0; -4 is the first that is refused.
  EXPECT_EQ(ComputeAxis({2, 3, 2, 1}, Padding::kValid).output, 0);
  EXPECT_EQ(ComputeAxis({2, 4, 2, 1}, Padding::kValid).output, 0);
  EXPECT_EQ(ComputeAxis({2, 5, 2, 1}, Padding::kValid).output, 0);
  EXPECT_EQ(ComputeAxis({2, 6, 2, 1}, Padding::kValid).output, -1);
  EXPECT_EQ(ComputeAxis({2, 3, 1, 1}, Padding::kValid).output, 0);
  EXPECT_EQ(ComputeAxis({2, 4, 1, 1}, Padding::kValid).output, -1);
}

TEST(ComputeAxis, TreatsAFilterWithoutTapsByTheSameFormula) {
  EXPECT_EQ(ComputeAxis({6, 0, 2, 1}, Padding::kValid).output, 4);
  EXPECT_EQ(ComputeAxis({6, 0, 1, 3}, Padding::kValid).output, 9);
  EXPECT_EQ(ComputeAxis({6, 0, 2, 1}, Padding::kSame).output, 3);
}

TEST(ComputeAxis, SaysWhenSizesLeave63Bits) {
  EXPECT_EQ(ComputeAxis({kMax, 1, 1, 1}, Padding::kValid).output, kMax);
  EXPECT_EQ(ComputeAxis({kMax, 1, 1, 1, 1, 0}, Padding::kExplicit).output, -2);
  EXPECT_EQ(ComputeAxis({1, 1, kMax, 1, kMax - 1, 0}, Padding::kExplicit).output, 1);
  EXPECT_EQ(ComputeAxis({1, 1, kMax, 1, kMax - 1, 1}, Padding::kExplicit).output, -2);
  EXPECT_EQ(ComputeAxis({1, 2, 1, kMax - 1}, Padding::kSame).output, 1);
  EXPECT_EQ(ComputeAxis({1, 2, 1, kMax}, Padding::kSame).output, -2);
  EXPECT_EQ(ComputeAxis({4, 2, 1, kMax}, Padding::kValid).output, -1);
  EXPECT_EQ(ComputeAxis({4, kMax, 1, kMax}, Padding::kSame).output, -2);
}

}  // namespace
}  // namespace wgrad
