#include "optimized/gemm.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/random.h"

namespace wgrad::optimized {
namespace {

double SmallInteger(std::uint64_t seed, std::size_t index) {
  return static_cast<double>(SplitMix64(seed, index) % 9) - 4;
}

template <typename Real>
struct Matrix {
  Matrix(std::uint64_t seed, const GemmSizes& sizes, std::int64_t width, bool position_major)
      : operand{nullptr, (position_major ? width : sizes.positions) + 3, position_major},
        values(static_cast<std::size_t>(operand.leading * (position_major ? sizes.positions : width))) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(SmallInteger(seed, i));
    operand.data = values.data();
  }
  Real at(std::int64_t position, std::int64_t column) const {
    const std::int64_t index =
        operand.position_major ? position * operand.leading + column : column * operand.leading + position;
    return values[static_cast<std::size_t>(index)];
  }
  Operand<Real> operand;
  std::vector<Real> values;
};

// Returns how many elements were compared.
template <typename Real>
int ExpectExactSums(const GemmSizes& sizes, bool a_position_major, bool b_position_major) {
  const Matrix<Real> a(1, sizes, sizes.m, a_position_major);
  const Matrix<Real> b(2, sizes, sizes.n, b_position_major);
  const std::int64_t leading = sizes.n + 2;
  std::vector<Real> sum(static_cast<std::size_t>(sizes.m * leading), Real{7});
  AddProduct(sizes, a.operand, b.operand, {sum.data(), leading});
  int compared = 0;
  for (std::int64_t m = 0; m < sizes.m; ++m) {
    for (std::int64_t n = 0; n < leading; ++n) {
      Real expected = 7;
      for (std::int64_t p = 0; n < sizes.n && p < sizes.positions; ++p) expected += a.at(p, m) * b.at(p, n);
      EXPECT_EQ(sum[static_cast<std::size_t>(m * leading + n)], expected) << m << " " << n;
      ++compared;
    }
  }
  return compared;
}

TEST(Gemm, AddsSumsOfProductsInEveryArrangement) {
  int compared = 0;
  const GemmSizes all[] = {{1, 1, 1}, {3, 5, 2}, {27, 64, 100}, {9, 1, 300}, {40, 17, 33}, {4, 4, 0}};
  for (const GemmSizes& sizes : all) {
    for (const bool a_position_major : {false, true}) {
      for (const bool b_position_major : {false, true}) {
        compared += ExpectExactSums<float>(sizes, a_position_major, b_position_major);
        compared += ExpectExactSums<double>(sizes, a_position_major, b_position_major);
      }
    }
  }
  EXPECT_GT(compared, 20000);
}

TEST(Gemm, SaysWhichLibraryItIs) { EXPECT_TRUE(GemmLibraryVersion().ends_with(" kernels")) << GemmLibraryVersion(); }

}  // namespace
}  // namespace wgrad::optimized
