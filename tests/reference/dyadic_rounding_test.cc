// Dyadic::RoundTo against core's conversion from double, and against itself where that cannot reach.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/random.h"
#include "reference/dyadic.h"

namespace wgrad {
namespace {

using Integer = Dyadic::Integer;

Dyadic ValueOf(DType dtype, std::uint64_t bits) { return Dyadic::FromDouble(DecodeBits(dtype, bits)); }

bool IsFinite(DType dtype, std::uint64_t bits) { return !IsNaN(dtype, bits) && !IsInf(dtype, bits); }

std::uint64_t SignBit(DType dtype) { return InfinityBits(dtype, true) ^ InfinityBits(dtype, false); }

// A positive number so small that adding it to anything here changes no digit but those behind the last.
Dyadic Speck() { return Dyadic::PowerOfTwo(-3000); }

TEST(DyadicRoundTo, AgreesWithEncodeNearestOnDoubles) {
  int compared = 0;
  for (std::uint64_t i = 0; i < 40000; ++i) {
    // Half of the doubles are any bits, half have an exponent within reach of half's and float32's limits.
    std::uint64_t bits = SplitMix64(1, i);
    if (i % 2 == 0) {
      const std::uint64_t exponent = 1023 + (i % 4 == 0 ? bits % 50 - 30 : bits % 310 - 160);
      bits = (bits & 0x800FFFFFFFFFFFFFu) | exponent << 52;
    }
    // Few significand bits make ties.
    if (i % 3 == 0) bits &= 0xFFFFFFFC00000000u << (i / 3 % 18);
    const double value = std::bit_cast<double>(bits);
    if (!std::isfinite(value) || value == 0) continue;
    for (const DType dtype : kAllDTypes) {
      ASSERT_EQ(Dyadic::FromDouble(value).RoundTo(dtype), EncodeNearest(dtype, value)) << value << NameOf(dtype);
      ++compared;
    }
  }
  EXPECT_GT(compared, 150000);
}

class DyadicRoundToEveryValue : public testing::TestWithParam<DType> {};

TEST_P(DyadicRoundToEveryValue, GivesEveryValueBackInEveryDirection) {
  const DType dtype = GetParam();
  int compared = 0;
  for (std::uint64_t bits = 0; bits < 0x10000; ++bits) {
    if (!IsFinite(dtype, bits)) continue;
    const Dyadic value = ValueOf(dtype, bits);
    const std::uint64_t expected = value.is_zero() ? 0 : bits;
    for (const Rounding rounding : {Rounding::kNearest, Rounding::kDown, Rounding::kUp}) {
      ASSERT_EQ(value.RoundTo(dtype, rounding), expected);
    }
    ++compared;
  }
  EXPECT_EQ(compared, dtype == DType::kFloat16 ? 2 * 31 * 1024 : 2 * 255 * 128);
}

TEST_P(DyadicRoundToEveryValue, SplitsEveryGapAtItsMiddle) {
  const DType dtype = GetParam();
  const std::uint64_t largest = LargestFiniteBits(dtype, false);
  const std::uint64_t sign = SignBit(dtype);
  for (std::uint64_t low = 0; low <= largest; ++low) {
    // Above the largest value the gap is as wide as below it.
    const Dyadic base = ValueOf(dtype, low);
    const Dyadic gap = low == largest ? base - ValueOf(dtype, low - 1) : ValueOf(dtype, low + 1) - base;
    const Dyadic middle = base + gap * Dyadic::PowerOfTwo(-1);
    const std::uint64_t high = low + 1;  // infinity's pattern follows that of the largest value
    const std::uint64_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(middle.RoundTo(dtype), even);
    ASSERT_EQ((middle - Speck()).RoundTo(dtype), low);
    ASSERT_EQ((middle + Speck()).RoundTo(dtype), high);
    ASSERT_EQ((-middle).RoundTo(dtype), even | sign);
    ASSERT_EQ((base + Speck()).RoundTo(dtype, Rounding::kDown), low);
    ASSERT_EQ((base + Speck()).RoundTo(dtype, Rounding::kUp), high);
    ASSERT_EQ((-base - Speck()).RoundTo(dtype, Rounding::kDown), high | sign);
    ASSERT_EQ((-base - Speck()).RoundTo(dtype, Rounding::kUp), low | sign);
  }
}

INSTANTIATE_TEST_SUITE_P(SixteenBits, DyadicRoundToEveryValue, testing::Values(DType::kFloat16, DType::kBFloat16),
                         [](const auto& instance) { return std::string(NameOf(instance.param)); });

TEST(DyadicRoundTo, SplitsDrawnGapsOfWiderTypes) {
  int compared = 0;
  for (const DType dtype : {DType::kFloat32, DType::kFloat64}) {
    const std::uint64_t largest = LargestFiniteBits(dtype, false);
    for (std::uint64_t i = 0; i < 3000; ++i) {
      // The first values are the smallest ones, then come those around the first normal number, then any.
      const std::uint64_t first_normal = std::uint64_t{1} << (FormatOf(dtype).precision - 1);
      const std::uint64_t low = i < 50 ? i : i < 100 ? first_normal - 75 + i : SplitMix64(2, i) % largest;
      const Dyadic base = ValueOf(dtype, low);
      const Dyadic middle = (base + ValueOf(dtype, low + 1)) * Dyadic::PowerOfTwo(-1);
      ASSERT_EQ(middle.RoundTo(dtype), low % 2 == 0 ? low : low + 1);
      ASSERT_EQ((middle - Speck()).RoundTo(dtype), low);
      ASSERT_EQ((middle + Speck()).RoundTo(dtype), low + 1);
      ASSERT_EQ(middle.RoundTo(dtype, Rounding::kDown), low);
      ASSERT_EQ(middle.RoundTo(dtype, Rounding::kUp), low + 1);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 6000);
}

TEST(DyadicRoundTo, OverflowsFromHalfAnUlpAboveTheLargestValue) {
  for (const DType dtype : kAllDTypes) {
    const FloatFormat& format = FormatOf(dtype);
    const Dyadic threshold =
        Dyadic::PowerOfTwo(format.max_exponent + 1) - Dyadic::PowerOfTwo(format.max_exponent - format.precision);
    const std::uint64_t largest = LargestFiniteBits(dtype, false);
    const std::uint64_t infinity = InfinityBits(dtype, false);
    EXPECT_EQ((threshold - Speck()).RoundTo(dtype), largest);
    EXPECT_EQ(threshold.RoundTo(dtype), infinity);
    EXPECT_EQ((-threshold).RoundTo(dtype), InfinityBits(dtype, true));
    for (const Dyadic& beyond : {threshold, Dyadic::PowerOfTwo(format.max_exponent + 1), Dyadic::PowerOfTwo(2048)}) {
      EXPECT_EQ(beyond.RoundTo(dtype), infinity);
      EXPECT_EQ(beyond.RoundTo(dtype, Rounding::kDown), largest);
      EXPECT_EQ(beyond.RoundTo(dtype, Rounding::kUp), infinity);
      EXPECT_EQ((-beyond).RoundTo(dtype, Rounding::kDown), InfinityBits(dtype, true));
      EXPECT_EQ((-beyond).RoundTo(dtype, Rounding::kUp), LargestFiniteBits(dtype, true));
    }
  }
}

TEST(DyadicRoundTo, UnderflowsToAZeroWithTheSign) {
  for (const DType dtype : kAllDTypes) {
    const Dyadic half_of_smallest = Dyadic::PowerOfTwo(FormatOf(dtype).lowest_exponent() - 1);
    const std::uint64_t sign = SignBit(dtype);
    EXPECT_EQ(half_of_smallest.RoundTo(dtype), 0u);
    EXPECT_EQ((half_of_smallest + Speck()).RoundTo(dtype), 1u);
    EXPECT_EQ((-half_of_smallest).RoundTo(dtype), sign);
    EXPECT_EQ(Speck().RoundTo(dtype, Rounding::kUp), 1u);
    EXPECT_EQ((-Speck()).RoundTo(dtype, Rounding::kDown), sign | 1u);
    EXPECT_EQ((-Speck()).RoundTo(dtype, Rounding::kUp), sign);
    EXPECT_EQ(Dyadic(Integer(0), 5).RoundTo(dtype), 0u);
  }
}

}  // namespace
}  // namespace wgrad
