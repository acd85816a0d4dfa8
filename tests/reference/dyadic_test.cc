#include "reference/dyadic.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/random.h"

namespace wgrad {
namespace {

using Integer = Dyadic::Integer;

// A number of up to 128 significant bits and an exponent in [low, high], of either sign.
Dyadic Draw(std::uint64_t index, int low, int high) {
  Integer mantissa = SplitMix64(11, index);
  mantissa = (mantissa << 64) + SplitMix64(12, index);
  mantissa >>= static_cast<int>(SplitMix64(13, index) % 127);
  const auto range = static_cast<std::uint64_t>(high - low + 1);
  const int exponent = low + static_cast<int>(SplitMix64(14, index) % range);
  return {SplitMix64(15, index) % 2 == 0 ? mantissa : Integer(-mantissa), exponent};
}

TEST(Dyadic, ComputesExactlyAcrossExponents) {
  const Dyadic big = Dyadic::PowerOfTwo(2048);
  const Dyadic small = Dyadic::PowerOfTwo(-2148);
  EXPECT_EQ((big + small) - big, small);
  EXPECT_EQ(big - big, Dyadic());
  EXPECT_EQ(big * small, Dyadic::PowerOfTwo(-100));
  EXPECT_EQ((big + small) * (big - small), Dyadic::PowerOfTwo(4096) - Dyadic::PowerOfTwo(-4296));
  EXPECT_EQ(Dyadic() + small, small);
  EXPECT_EQ(small - Dyadic(), small);
  EXPECT_EQ(Dyadic() - small, -small);
}

TEST(Dyadic, EqualsTheSameValueWithAnotherExponent) {
  EXPECT_EQ(Dyadic(Integer(3), 4), Dyadic(Integer(48), 0));
  EXPECT_EQ(Dyadic(Integer(0), 7), Dyadic(Integer(0), -900));
  EXPECT_FALSE(Dyadic(Integer(3), 4) == Dyadic(Integer(3), 5));
}

TEST(Dyadic, OrdersAsTheNumbersDo) {
  const std::vector<Dyadic> ascending = {
      -Dyadic::PowerOfTwo(2048), -Dyadic::PowerOfTwo(0), -Dyadic::PowerOfTwo(-2148), Dyadic(),
      Dyadic::PowerOfTwo(-2148), Dyadic(Integer(3), -2), Dyadic::PowerOfTwo(0),      Dyadic::PowerOfTwo(2048)};
  for (std::size_t i = 0; i < ascending.size(); ++i) {
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      EXPECT_EQ(Compare(ascending[i], ascending[j]), i < j ? -1 : i > j ? 1 : 0) << i << " " << j;
    }
  }
}

TEST(Dyadic, ConvertsDoublesBothWays) {
  int compared = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const double value = std::bit_cast<double>(SplitMix64(3, i) >> (i % 3 == 0 ? 13 : 0));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(Dyadic::FromDouble(value).ToDouble(), value);
    ++compared;
  }
  EXPECT_GT(compared, 4900);
  EXPECT_EQ(Dyadic::FromDouble(-0.75), Dyadic(Integer(-3), -2));
  EXPECT_TRUE(Dyadic::FromDouble(-0.0).is_zero());
  EXPECT_EQ(Dyadic::PowerOfTwo(1024).ToDouble(), std::numeric_limits<double>::infinity());
  EXPECT_EQ((-Dyadic::PowerOfTwo(2048)).ToDouble(), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(Dyadic::PowerOfTwo(-2148).ToDouble(), 0);
}

TEST(Dyadic, KnowsItsBinaryLogarithm) {
  EXPECT_EQ(Dyadic::PowerOfTwo(-2148).Log2(), -2148);
  EXPECT_EQ(Dyadic(Integer(-5), 3).Log2(), 5);
  EXPECT_EQ(Dyadic(Integer(1) << 200, -200).Log2(), 0);
  EXPECT_EQ(Dyadic((Integer(1) << 200) - 1, -200).Log2(), -1);
}

TEST(DyadicToDoubleDouble, IsWithinItsPromise) {
  int compared = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Dyadic value = Draw(i, -890, 870);
    if (value.is_zero()) continue;
    const DoubleDouble pair = value.ToDoubleDouble();
    const Dyadic error = Dyadic::FromDouble(pair.high) + Dyadic::FromDouble(pair.low) - value;
    ASSERT_LE(Compare(Abs(error), Abs(value) * Dyadic::PowerOfTwo(-100)), 0);
    ++compared;
  }
  EXPECT_GT(compared, 2900);
}

TEST(DyadicToDoubleDouble, RefusesWhatDoublesCannotComputeWith) {
  const Dyadic low = Dyadic::PowerOfTwo(-900);
  const Dyadic high = Dyadic::PowerOfTwo(1000);
  EXPECT_EQ(low.ToDoubleDouble().high, std::ldexp(1.0, -900));
  EXPECT_EQ((-high).ToDoubleDouble().high, -std::ldexp(1.0, 1000));
  EXPECT_TRUE(std::isnan((low - Dyadic::PowerOfTwo(-2148)).ToDoubleDouble().high));
  EXPECT_TRUE(std::isnan((high + Dyadic::PowerOfTwo(-2148)).ToDoubleDouble().high));
  EXPECT_TRUE(std::isnan((-Dyadic::PowerOfTwo(2048)).ToDoubleDouble().high));
  EXPECT_EQ(Dyadic().ToDoubleDouble().high, 0);
}

struct DecimalCase {
  Dyadic value;
  int digits;
  Rounding rounding;
  std::string text;
};

TEST(DyadicToDecimal, WritesKnownValues) {
  const Dyadic tenth = Dyadic::FromDouble(0.1);  // 0.1000000000000000055511151231257827..
  const Dyadic milli = Dyadic::FromDouble(0.001);
  const Dyadic largest = Dyadic::FromDouble(std::numeric_limits<double>::max());
  const Dyadic nearly_ten = Dyadic::FromDouble(9.9999);
  const std::vector<DecimalCase> cases = {
      {Dyadic(), 5, Rounding::kNearest, "0"},
      {Dyadic::FromDouble(3), 20, Rounding::kNearest, "3"},
      {Dyadic::FromDouble(0.5), 20, Rounding::kUp, "0.5"},
      {Dyadic::FromDouble(-2560), 20, Rounding::kNearest, "-2560"},
      {Dyadic::FromDouble(-12.75), 20, Rounding::kNearest, "-12.75"},
      {Dyadic::FromDouble(0.0625), 20, Rounding::kNearest, "0.0625"},
      {Dyadic::FromDouble(-1.0 / 1024), 20, Rounding::kNearest, "-9.765625e-4"},
      {Dyadic::FromDouble(1234567), 3, Rounding::kNearest, "1.23e6"},
      {Dyadic::FromDouble(1234567), 3, Rounding::kUp, "1.24e6"},
      {Dyadic::FromDouble(1234567), 7, Rounding::kNearest, "1234567"},
      {tenth, 5, Rounding::kNearest, "0.1"},
      {tenth, 5, Rounding::kUp, "0.10001"},
      {tenth, 5, Rounding::kDown, "0.1"},
      {-tenth, 5, Rounding::kDown, "-0.10001"},
      {-tenth, 5, Rounding::kUp, "-0.1"},
      {tenth, 20, Rounding::kNearest, "0.10000000000000000555"},
      {tenth, 100, Rounding::kNearest, "0.1000000000000000055511151231257827021181583404541015625"},
      {milli, 3, Rounding::kNearest, "1e-3"},
      {milli, 3, Rounding::kUp, "1.01e-3"},
      {nearly_ten, 3, Rounding::kNearest, "10"},
      {nearly_ten, 3, Rounding::kDown, "9.99"},
      {nearly_ten, 1, Rounding::kUp, "1e1"},
      {Dyadic::FromDouble(2.5), 1, Rounding::kNearest, "2"},
      {Dyadic::FromDouble(3.5), 1, Rounding::kNearest, "4"},
      {Dyadic::FromDouble(9.5), 1, Rounding::kNearest, "1e1"},
      {largest, 20, Rounding::kNearest, "1.7976931348623157081e308"},
      {Dyadic::PowerOfTwo(-149), 20, Rounding::kNearest, "1.4012984643248170709e-45"},
      {Dyadic::PowerOfTwo(-1074), 20, Rounding::kNearest, "4.9406564584124654418e-324"},
      {Dyadic::PowerOfTwo(-2148), 20, Rounding::kNearest, "2.4410086240052805861e-647"},
      {Dyadic::PowerOfTwo(2048), 20, Rounding::kNearest, "3.2317006071311007301e616"},
  };
  for (const DecimalCase& c : cases) EXPECT_EQ(c.value.ToDecimal(c.digits, c.rounding), c.text);
}

// The text as numerator / 10^scale.
struct Decimal {
  Integer numerator;
  int scale = 0;
  int digits = 0;
};

Decimal ParseDecimal(const std::string& text) {
  Decimal decimal;
  const std::size_t mark = text.find('e');
  const std::string body = text.substr(0, mark);
  if (mark != std::string::npos) decimal.scale = -std::stoi(text.substr(mark + 1));
  bool behind_point = false;
  for (const char digit : body) {
    if (digit == '-') continue;
    if (digit == '.') {
      behind_point = true;
      continue;
    }
    decimal.numerator = decimal.numerator * 10 + (digit - '0');
    if (behind_point) ++decimal.scale;
    if (!decimal.numerator.is_zero()) ++decimal.digits;
  }
  if (body.front() == '-') decimal.numerator = -decimal.numerator;
  return decimal;
}

Integer Power(int base, int exponent) {
  return boost::multiprecision::pow(Integer(base), static_cast<unsigned>(std::max(exponent, 0)));
}

// a * b, each side brought to integers: text - value in units of `denominator`.
struct Difference {
  Integer text_minus_value;
  Integer denominator;
};

Difference Subtract(const Decimal& text, const Dyadic& value) {
  const Integer denominator = Power(10, text.scale) * Power(2, -value.exponent());
  const Integer text_part = text.numerator * Power(10, -text.scale) * Power(2, -value.exponent());
  const Integer value_part = value.mantissa() * Power(2, value.exponent()) * Power(10, text.scale);
  return {text_part - value_part, denominator};
}

TEST(DyadicToDecimal, IsOnTheRightSideAndWithinOneUnitOfTheLastDigit) {
  int compared = 0;
  for (std::uint64_t i = 0; i < 1500; ++i) {
    const Dyadic value = i % 10 == 0 ? Draw(i, -2276, 1920) : Draw(i, -200, 100);
    if (value.is_zero()) continue;
    const int digits = 1 + static_cast<int>(i % 25);
    for (const Rounding rounding : {Rounding::kNearest, Rounding::kDown, Rounding::kUp}) {
      const std::string text = value.ToDecimal(digits, rounding);
      const Decimal decimal = ParseDecimal(text);
      ASSERT_LE(decimal.digits, std::max(digits, 1)) << text;
      const Difference difference = Subtract(decimal, value);
      if (rounding == Rounding::kDown) {
        ASSERT_LE(difference.text_minus_value, 0) << text;
      }
      if (rounding == Rounding::kUp) {
        ASSERT_GE(difference.text_minus_value, 0) << text;
      }
      // |text - value| * 10^(digits - 1) < |value| at least, half of it for the nearest text.
      const Integer error = abs(difference.text_minus_value) * Power(10, digits - 1) * Power(2, -value.exponent()) *
                            (rounding == Rounding::kNearest ? 2 : 1);
      const Integer limit = abs(value.mantissa()) * Power(2, value.exponent()) * difference.denominator;
      ASSERT_LE(error, limit) << text;
      ++compared;
    }
  }
  EXPECT_GT(compared, 4400);
}

TEST(DyadicToHex, WritesMantissaAndExponent) {
  EXPECT_EQ(Dyadic(Integer(-0x1f3), -12).ToHex(), "-0x1f3p-12");
  EXPECT_EQ(Dyadic(Integer(1) << 68, 0).ToHex(), "0x100000000000000000p0");
  EXPECT_EQ(Dyadic().ToHex(), "0x0p0");
}

}  // namespace
}  // namespace wgrad
