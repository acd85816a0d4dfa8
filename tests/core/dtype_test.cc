// Element types: every bit pattern of the 16-bit formats, and every place where rounding to one of them can go wrong.
#include "core/dtype.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <cmath>
#include <limits>
#include <string>

#include "core/random.h"

namespace wgrad {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kPatterns = 65536;

std::uint64_t QuietNaN(DType dtype) { return EncodeNearest(dtype, std::nan("")); }

// What the processor's own conversion says, where it has one.
__attribute__((target("f16c"))) float HardwareHalf(std::uint16_t bits) {
  return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits)));
}
__attribute__((target("f16c"))) std::uint16_t HardwareToHalf(float value) {
  const __m128i packed = _mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return static_cast<std::uint16_t>(_mm_extract_epi16(packed, 0));
}

TEST(DecodeBits, ReadsKnownPatterns) {
  EXPECT_EQ(DecodeBits(DType::kFloat16, 0x3c00), 1.0);
  EXPECT_EQ(DecodeBits(DType::kFloat16, 0xc500), -5.0);
  EXPECT_EQ(DecodeBits(DType::kFloat16, 0x0001), 0x1p-24);
  EXPECT_EQ(DecodeBits(DType::kFloat16, 0x03ff), 1023 * 0x1p-24);
  EXPECT_EQ(DecodeBits(DType::kFloat16, 0x0400), 0x1p-14);
  EXPECT_EQ(DecodeBits(DType::kFloat16, 0x7bff), 65504.0);
  EXPECT_EQ(DecodeBits(DType::kFloat16, 0xfc00), -kInfinity);
  EXPECT_EQ(DecodeBits(DType::kBFloat16, 0x4049), 3.140625);
  EXPECT_EQ(DecodeBits(DType::kFloat32, 0x00000001), 0x1p-149);
  EXPECT_EQ(DecodeBits(DType::kFloat64, 0x8000000000000001), -0x1p-1074);
  EXPECT_TRUE(std::signbit(DecodeBits(DType::kFloat16, 0x8000)));
}

TEST(DecodeBits, AgreesWithTheProcessorOnEveryHalf) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this processor has no conversion of half";
  int compared = 0;
  for (std::uint64_t bits = 0; bits < kPatterns; ++bits) {
    const double hardware = static_cast<double>(HardwareHalf(static_cast<std::uint16_t>(bits)));
    const double ours = DecodeBits(DType::kFloat16, bits);
    if (std::isnan(hardware)) {
      ASSERT_TRUE(std::isnan(ours)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(ours), std::bit_cast<std::uint64_t>(hardware)) << bits;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 65536 - 2 * 1023);
}

TEST(DecodeBits, ReadsEveryBFloat16AsTheUpperHalfOfAFloat) {
  for (std::uint64_t bits = 0; bits < kPatterns; ++bits) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    const double ours = DecodeBits(DType::kBFloat16, bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(ours)) << bits;
    } else {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(ours), std::bit_cast<std::uint64_t>(static_cast<double>(value))) << bits;
    }
    ASSERT_EQ(std::bit_cast<std::uint32_t>(ToFloat(BFloat16{static_cast<std::uint16_t>(bits)})),
              std::bit_cast<std::uint32_t>(value));
  }
}

class SixteenBit : public testing::TestWithParam<DType> {};

TEST_P(SixteenBit, RoundTripsEveryPattern) {
  const DType dtype = GetParam();
  std::uint64_t nans = 0;
  for (std::uint64_t bits = 0; bits < kPatterns; ++bits) {
    const double value = DecodeBits(dtype, bits);
    if (IsNaN(dtype, bits)) {
      ++nans;
      ASSERT_TRUE(std::isnan(value));
      ASSERT_EQ(EncodeNearest(dtype, value), QuietNaN(dtype));
    } else {
      ASSERT_EQ(EncodeNearest(dtype, value), bits);
    }
  }
  EXPECT_EQ(nans, 2 * ((std::uint64_t{1} << (FormatOf(dtype).precision - 1)) - 1));
}

TEST_P(SixteenBit, ClassifiesEveryPatternByItsValue) {
  const DType dtype = GetParam();
  const double smallest_normal = std::ldexp(1.0, FormatOf(dtype).min_exponent);
  for (std::uint64_t bits = 0; bits < kPatterns; ++bits) {
    const double value = DecodeBits(dtype, bits);
    ASSERT_EQ(IsNaN(dtype, bits), std::isnan(value));
    ASSERT_EQ(IsInf(dtype, bits), std::isinf(value));
    ASSERT_EQ(IsZero(dtype, bits), value == 0);
    ASSERT_EQ(IsSubnormal(dtype, bits), value != 0 && std::fabs(value) < smallest_normal);
    ASSERT_EQ(IsNegative(dtype, bits), bits >= kPatterns / 2);
  }
}

// Between every two neighbours: the midpoint goes to the even one, and the next double on each side to its own.
TEST_P(SixteenBit, RoundsCorrectlyAroundEveryMidpoint) {
  const DType dtype = GetParam();
  const std::uint64_t largest = LargestFiniteBits(dtype, false);
  const std::uint64_t sign = kPatterns / 2;
  for (std::uint64_t lower = 0; lower < largest; ++lower) {
    const double middle = (DecodeBits(dtype, lower) + DecodeBits(dtype, lower + 1)) / 2;
    const std::uint64_t even = lower + (lower & 1);
    ASSERT_EQ(EncodeNearest(dtype, middle), even) << lower;
    ASSERT_EQ(EncodeNearest(dtype, std::nextafter(middle, 0.0)), lower) << lower;
    ASSERT_EQ(EncodeNearest(dtype, std::nextafter(middle, kInfinity)), lower + 1) << lower;
    ASSERT_EQ(EncodeNearest(dtype, -middle), sign | even) << lower;
    ASSERT_EQ(EncodeNearest(dtype, -std::nextafter(middle, 0.0)), sign | lower) << lower;
  }
}

TEST_P(SixteenBit, OverflowsFromHalfAnUlpAboveTheLargest) {
  const DType dtype = GetParam();
  const FloatFormat& format = FormatOf(dtype);
  const double largest = DecodeBits(dtype, LargestFiniteBits(dtype, false));
  const double threshold = largest + std::ldexp(1.0, format.max_exponent - format.precision);
  EXPECT_EQ(EncodeNearest(dtype, std::nextafter(threshold, 0.0)), LargestFiniteBits(dtype, false));
  EXPECT_EQ(EncodeNearest(dtype, threshold), InfinityBits(dtype, false));
  EXPECT_EQ(EncodeNearest(dtype, -threshold), InfinityBits(dtype, true));
  EXPECT_EQ(EncodeNearest(dtype, std::numeric_limits<double>::max()), InfinityBits(dtype, false));
}

INSTANTIATE_TEST_SUITE_P(Formats, SixteenBit, testing::Values(DType::kFloat16, DType::kBFloat16),
                         [](const auto& param) { return std::string(NameOf(param.param)); });

TEST(EncodeNearest, RoundsOnceNotThroughFloat) {
  // A float in between would land on the midpoint first, and then tie to even.
  EXPECT_EQ(EncodeNearest(DType::kFloat16, 1 + 0x1p-11 + 0x1p-40), 0x3c01u);
  EXPECT_EQ(EncodeNearest(DType::kFloat16, 1 + 0x3p-11 - 0x1p-40), 0x3c01u);
  EXPECT_EQ(EncodeNearest(DType::kBFloat16, 1 + 0x1p-8 + 0x1p-40), 0x3f81u);
  EXPECT_EQ(EncodeNearest(DType::kBFloat16, 1 + 0x3p-8 - 0x1p-40), 0x3f81u);
  EXPECT_EQ(EncodeNearest(DType::kFloat16, 0x1p-25 + 0x1p-70), 0x0001u);
  EXPECT_EQ(EncodeNearest(DType::kFloat16, 65520 - 0x1p-36), 0x7bffu);
}

TEST(EncodeNearest, KeepsTheSignOfZeroAndFlushesOnlyBelowHalfTheSmallest) {
  EXPECT_EQ(EncodeNearest(DType::kFloat16, -0.0), 0x8000u);
  EXPECT_EQ(EncodeNearest(DType::kFloat16, -0x1p-26), 0x8000u);
  EXPECT_EQ(EncodeNearest(DType::kFloat32, 0x1p-150), 0u);
  EXPECT_EQ(EncodeNearest(DType::kFloat32, std::nextafter(0x1p-150, 1.0)), 1u);
  EXPECT_EQ(EncodeNearest(DType::kBFloat16, std::numeric_limits<double>::denorm_min()), 0u);
}

TEST(EncodeNearest, AgreesWithTheProcessorForFloat32) {
  int subnormal = 0;
  int finite = 0;
  for (std::uint64_t index = 0; index < 300000; ++index) {
    // Exponents around float32's whole range, so that subnormals, overflow and underflow all occur.
    const std::uint64_t random = SplitMix64(11, index);
    const int exponent = static_cast<int>(random % 310) - 160;
    double value = std::ldexp(1.0 + static_cast<double>(random >> 12) * 0x1p-52, exponent);
    if (index % 3 == 0) value = std::ldexp(std::rint(std::ldexp(value, 25 - exponent)), exponent - 25);  // near ties
    const auto processor = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    ASSERT_EQ(EncodeNearest(DType::kFloat32, value), processor) << value;
    subnormal += IsSubnormal(DType::kFloat32, processor) ? 1 : 0;
    finite += IsInf(DType::kFloat32, processor) ? 0 : 1;
  }
  EXPECT_GT(subnormal, 15000);
  EXPECT_GT(finite, 250000);
}

TEST(EncodeNearest, LeavesFloat64Alone) {
  for (std::uint64_t index = 0; index < 1000; ++index) {
    const std::uint64_t bits = SplitMix64(12, index);
    if (IsNaN(DType::kFloat64, bits)) continue;
    ASSERT_EQ(EncodeNearest(DType::kFloat64, DecodeBits(DType::kFloat64, bits)), bits);
  }
}

TEST(ToFloat16, AgreesWithTheProcessorOnTiesAndRandomFloats) {
  if (!__builtin_cpu_supports("f16c")) GTEST_SKIP() << "this processor has no conversion of half";
  int compared = 0;
  for (std::uint64_t index = 0; index < 300000; ++index) {
    // Half's range and a little more on both sides; every other significand ends in the bits of a tie.
    const std::uint64_t random = SplitMix64(13, index);
    std::uint32_t bits = static_cast<std::uint32_t>(((random % 46 + 100) << 23) | ((random >> 8) & 0x807fffff));
    if (index % 2 == 0) bits = (bits & ~0x1fffu) | 0x1000u;
    const float value = std::bit_cast<float>(bits);
    ASSERT_EQ(ToFloat16(value).bits, HardwareToHalf(value)) << value;
    ++compared;
  }
  EXPECT_EQ(compared, 300000);
}

TEST(ToBFloat16, AgreesWithEncodeNearest) {
  for (std::uint64_t index = 0; index < 300000; ++index) {
    std::uint32_t bits = static_cast<std::uint32_t>(SplitMix64(14, index));
    if (index % 2 == 0) bits = (bits & ~0xffffu) | 0x8000u;
    const float value = std::bit_cast<float>(bits);
    ASSERT_EQ(ToBFloat16(value).bits, EncodeNearest(DType::kBFloat16, static_cast<double>(value))) << bits;
  }
}

TEST(PoisonBits, AreASignalingNaNThatNoRoundingGives) {
  for (const DType dtype : kAllDTypes) {
    const std::uint64_t poison = PoisonBits(dtype);
    const std::uint64_t quiet_bit = std::uint64_t{1} << (FormatOf(dtype).precision - 2);
    EXPECT_TRUE(IsNaN(dtype, poison));
    EXPECT_EQ(poison & quiet_bit, 0u) << NameOf(dtype);
    EXPECT_NE(QuietNaN(dtype) & quiet_bit, 0u) << NameOf(dtype);
  }
}

TEST(DTypeNames, RoundTripAndKnowTensorFlowsNames) {
  for (const DType dtype : kAllDTypes) EXPECT_EQ(DTypeFromName(NameOf(dtype)), dtype);
  EXPECT_EQ(DTypeFromName("half"), DType::kFloat16);
  EXPECT_EQ(DTypeFromName("bfloat16"), DType::kBFloat16);
  EXPECT_EQ(DTypeFromName("float"), DType::kFloat32);
  EXPECT_EQ(DTypeFromName("double"), DType::kFloat64);
  EXPECT_EQ(DTypeFromName("int32"), std::nullopt);
  EXPECT_EQ(DTypeFromName(""), std::nullopt);
}

TEST(SizeOf, CountsBytes) {
  EXPECT_EQ(SizeOf(DType::kFloat16), 2u);
  EXPECT_EQ(SizeOf(DType::kBFloat16), 2u);
  EXPECT_EQ(SizeOf(DType::kFloat32), 4u);
  EXPECT_EQ(SizeOf(DType::kFloat64), 8u);
}

}  // namespace
}  // namespace wgrad
