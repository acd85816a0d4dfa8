// Tensor: ownership, bits, and the conversion of whole tensors to doubles.
#include "core/tensor.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wgrad {
namespace {

using Shape = std::vector<std::int64_t>;

TEST(CheckedElementCount, MultipliesUpToTheLimit) {
  EXPECT_EQ(CheckedElementCount(Shape{}), 1);
  EXPECT_EQ(CheckedElementCount(Shape{2, 3, 4}), 24);
  EXPECT_EQ(CheckedElementCount(Shape{2, 0, 4}), 0);
  EXPECT_EQ(CheckedElementCount(Shape{(std::int64_t{1} << 60) - 1}), (std::int64_t{1} << 60) - 1);
  EXPECT_EQ(CheckedElementCount(Shape{std::int64_t{1} << 60}), std::nullopt);
  EXPECT_EQ(CheckedElementCount(Shape{std::int64_t{1} << 32, std::int64_t{1} << 32}), std::nullopt);
}

TEST(CheckedElementCount, RefusesNegativeExtentsAlsoInPairs) {
  EXPECT_EQ(CheckedElementCount(Shape{-1}), std::nullopt);
  EXPECT_EQ(CheckedElementCount(Shape{-2, -3}), std::nullopt);
  EXPECT_EQ(CheckedElementCount(Shape{0, -3}), std::nullopt);
}

TEST(Tensor, StartsAsPositiveZerosOnAlignedMemory) {
  for (const DType dtype : kAllDTypes) {
    const Tensor tensor(dtype, {3, 5, 7});
    EXPECT_EQ(tensor.element_count(), 105);
    EXPECT_EQ(tensor.byte_count(), 105 * SizeOf(dtype));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0u);
    for (std::int64_t index = 0; index < 105; ++index) EXPECT_EQ(tensor.bits(index), 0u);
  }
}

TEST(Tensor, CopiesDeepAndMovesWithoutCopying) {
  Tensor original(DType::kFloat32, {2});
  original.set_value(0, 1.5);
  Tensor copy = original;
  copy.set_value(0, 2.5);
  EXPECT_EQ(original.value(0), 1.5);
  original = copy;
  EXPECT_EQ(original.value(0), 2.5);
  EXPECT_NE(original.data(), copy.data());
  const std::byte* const memory = copy.data();
  const Tensor moved = std::move(copy);
  EXPECT_EQ(moved.data(), memory);
  EXPECT_EQ(moved.shape(), Shape{2});
}

TEST(Tensor, HoldsNoElementsWhereAnExtentIsZero) {
  const Tensor tensor(DType::kFloat16, {4, 0, 2});
  EXPECT_EQ(tensor.element_count(), 0);
  EXPECT_TRUE(tensor.bytes().empty());
  const Tensor copy = tensor;
  EXPECT_EQ(copy.shape(), (Shape{4, 0, 2}));
  EXPECT_TRUE(ToDoubles(copy).empty());
}

TEST(Tensor, StoresBitsUnchangedAlsoOfSignalingNaN) {
  for (const DType dtype : kAllDTypes) {
    Tensor tensor(dtype, {3});
    tensor.set_bits(1, PoisonBits(dtype));
    EXPECT_EQ(tensor.bits(0), 0u);
    EXPECT_EQ(tensor.bits(1), PoisonBits(dtype));
    EXPECT_EQ(tensor.bits(2), 0u);
  }
}

TEST(Tensor, GivesItsElementsAsATypeOfTheSameSize) {
  Tensor tensor(DType::kFloat32, {2});
  tensor.values<float>()[1] = -2.0F;
  EXPECT_EQ(tensor.value(1), -2.0);
  EXPECT_EQ(tensor.values<std::uint32_t>()[1], 0xc0000000u);
}

TEST(TensorDeathTest, StopsOnMisuse) {
  Tensor tensor(DType::kFloat32, {2});
  EXPECT_DEATH(tensor.bits(2), "tensor index out of range");
  EXPECT_DEATH(tensor.set_bits(-1, 0), "tensor index out of range");
  EXPECT_DEATH(tensor.values<double>(), "another size than the dtype");
  EXPECT_DEATH(Tensor(DType::kFloat32, {-1, -1}), "extents >= 0");
}

TEST(ToDoubles, EqualsTheValueOfEveryElement) {
  for (const DType dtype : kAllDTypes) {
    Tensor tensor(dtype, {65536});
    const int shift = static_cast<int>(8 * SizeOf(dtype)) - 16;  // the upper 16 bits take every pattern
    for (std::int64_t index = 0; index < 65536; ++index)
      tensor.set_bits(index, static_cast<std::uint64_t>(index) << shift);
    const std::vector<double> doubles = ToDoubles(tensor);
    ASSERT_EQ(doubles.size(), 65536u);
    for (std::int64_t index = 0; index < 65536; ++index) {
      const double value = doubles[static_cast<std::size_t>(index)];
      if (std::isnan(value)) {
        ASSERT_TRUE(IsNaN(dtype, tensor.bits(index)));
      } else {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(tensor.value(index)));
      }
    }
  }
}

}  // namespace
}  // namespace wgrad
