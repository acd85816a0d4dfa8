#include "optimized/convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/random.h"

namespace wgrad::optimized {
namespace {

constexpr std::int64_t kPatterns = 65536;

template <typename Stored>
std::vector<Stored> AllPatterns() {
  std::vector<Stored> values(kPatterns);
  for (std::size_t bits = 0; bits < values.size(); ++bits) values[bits].bits = static_cast<std::uint16_t>(bits);
  return values;
}

void ExpectSameValue(float actual, float exact, std::size_t bits) {
  if (std::isnan(exact)) {
    EXPECT_TRUE(std::isnan(actual)) << bits;
  } else {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(actual), std::bit_cast<std::uint32_t>(exact)) << bits;
  }
}

template <typename Stored>
void ExpectWideningExact() {
  const std::vector<Stored> from = AllPatterns<Stored>();
  std::vector<float> to(from.size());
  Widen(from.data(), to.data(), kPatterns);
  std::size_t compared = 0;
  for (std::size_t bits = 0; bits < from.size(); ++bits) {
    ExpectSameValue(to[bits], ToFloat(from[bits]), bits);
    ExpectSameValue(WidenOne(from[bits]), ToFloat(from[bits]), bits);
    compared += 2;
  }
  EXPECT_EQ(compared, 2U * kPatterns);
}

TEST(Convert, WidensEveryHalfExactly) { ExpectWideningExact<Float16>(); }
TEST(Convert, WidensEveryBFloat16Exactly) { ExpectWideningExact<BFloat16>(); }

TEST(Convert, CopiesExactlyTheCountAsked) {
  std::vector<double> from(200);
  std::iota(from.begin(), from.end(), 1.0);
  for (std::int64_t count = 0; count <= 130; ++count) {
    std::vector<double> to(201, -1.0);
    Widen(from.data(), to.data() + 1, count);
    for (std::int64_t i = 0; i < 200; ++i) {
      EXPECT_EQ(to[static_cast<std::size_t>(i) + 1], i < count ? static_cast<double>(i + 1) : -1.0) << count;
    }
    EXPECT_EQ(to[0], -1.0);
  }
}

TEST(Convert, TakesEveryNthElement) {
  const std::vector<BFloat16> from = AllPatterns<BFloat16>();
  for (const std::int64_t step : {1, 2, 5}) {
    std::vector<float> to(100);
    WidenEvery(from.data(), step, to.data(), 100);
    for (std::size_t i = 0; i < to.size(); ++i) {
      ExpectSameValue(to[i], ToFloat(from[i * static_cast<std::size_t>(step)]), i);
    }
  }
}

// Values on, beside and between the 16-bit ones, subnormal and overflowing ones among them.
std::vector<float> ValuesToNarrow() {
  std::vector<float> values;
  for (std::uint32_t high = 0; high < 0x10000; high += 3) {
    for (const std::uint32_t low : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U}) {
      values.push_back(std::bit_cast<float>(high << 16 | low));
    }
  }
  for (std::uint64_t i = 0; i < 50000; ++i) {
    const auto random = static_cast<std::uint32_t>(SplitMix64(11, i));
    values.push_back(std::ldexp(1 + static_cast<float>(random >> 20) * 0x1p-12F, static_cast<int>(i % 48) - 28));
  }
  return values;
}

template <typename Stored>
void ExpectNarrowingRoundsOnce(DType dtype) {
  const std::vector<float> values = ValuesToNarrow();
  std::vector<Stored> to(values.size());
  Narrow(values.data(), to.data(), static_cast<std::int64_t>(values.size()));
  std::size_t finite = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      EXPECT_TRUE(IsNaN(dtype, to[i].bits)) << values[i];
    } else {
      EXPECT_EQ(to[i].bits, EncodeNearest(dtype, static_cast<double>(values[i]))) << values[i];
      ++finite;
    }
  }
  EXPECT_GT(finite, 100000U);
}

TEST(Convert, NarrowsToHalfWithOneRounding) { ExpectNarrowingRoundsOnce<Float16>(DType::kFloat16); }
TEST(Convert, NarrowsToBFloat16WithOneRounding) { ExpectNarrowingRoundsOnce<BFloat16>(DType::kBFloat16); }

}  // namespace
}  // namespace wgrad::optimized
