// Strassen's algorithm on the matrix product that the operator is: unrolled images, transposed, times out_backprop.
#include <algorithm>
#include <cmath>

#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/scaled.h"

namespace wgrad::fuzz {
namespace {

template <typename Real>
struct Matrix {
  std::int64_t rows, columns;
  std::vector<Real> values = {};  // row-major

  Matrix(std::int64_t row_count, std::int64_t column_count)
      : rows(row_count), columns(column_count), values(static_cast<std::size_t>(row_count * column_count)) {}
  Real& At(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  Real At(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * columns + j)]; }

  Matrix Quarter(std::int64_t i, std::int64_t j) const {
    Matrix quarter(rows / 2, columns / 2);
    for (std::int64_t row = 0; row < quarter.rows; ++row) {
      for (std::int64_t column = 0; column < quarter.columns; ++column) {
        quarter.At(row, column) = At(i * quarter.rows + row, j * quarter.columns + column);
      }
    }
    return quarter;
  }
  void SetQuarter(std::int64_t i, std::int64_t j, const Matrix& quarter) {
    for (std::int64_t row = 0; row < quarter.rows; ++row) {
      for (std::int64_t column = 0; column < quarter.columns; ++column) {
        At(i * quarter.rows + row, j * quarter.columns + column) = quarter.At(row, column);
      }
    }
  }
  friend Matrix operator+(Matrix a, const Matrix& b) {
    for (std::size_t at = 0; at < a.values.size(); ++at) a.values[at] += b.values[at];
    return a;
  }
  friend Matrix operator-(Matrix a, const Matrix& b) {
    for (std::size_t at = 0; at < a.values.size(); ++at) a.values[at] -= b.values[at];
    return a;
  }
};

template <typename Real>
Matrix<Real> PlainProduct(const Matrix<Real>& a, const Matrix<Real>& b) {
  Matrix<Real> product(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      for (std::int64_t j = 0; j < b.columns; ++j) product.At(i, j) += a.At(i, k) * b.At(k, j);
    }
  }
  return product;
}

// Seven products of quarters in place of eight. Extents are multiples of 2^levels.
template <typename Real>
Matrix<Real> Product(const Matrix<Real>& a, const Matrix<Real>& b, int levels) {
  if (levels == 0) return PlainProduct(a, b);
  const Matrix<Real> a11 = a.Quarter(0, 0), a12 = a.Quarter(0, 1), a21 = a.Quarter(1, 0), a22 = a.Quarter(1, 1);
  const Matrix<Real> b11 = b.Quarter(0, 0), b12 = b.Quarter(0, 1), b21 = b.Quarter(1, 0), b22 = b.Quarter(1, 1);
  const Matrix<Real> m1 = Product(a11 + a22, b11 + b22, levels - 1);
  const Matrix<Real> m2 = Product(a21 + a22, b11, levels - 1);
  const Matrix<Real> m3 = Product(a11, b12 - b22, levels - 1);
  const Matrix<Real> m4 = Product(a22, b21 - b11, levels - 1);
  const Matrix<Real> m5 = Product(a11 + a12, b22, levels - 1);
  const Matrix<Real> m6 = Product(a21 - a11, b11 + b12, levels - 1);
  const Matrix<Real> m7 = Product(a12 - a22, b21 + b22, levels - 1);
  Matrix<Real> product(a.rows, b.columns);
  product.SetQuarter(0, 0, m1 + m4 - m5 + m7);
  product.SetQuarter(0, 1, m3 + m5);
  product.SetQuarter(1, 0, m2 + m4);
  product.SetQuarter(1, 1, m1 - m2 + m3 + m6);
  return product;
}

// Extents of the product for one group: taps and channels, positions, output channels.
struct Extents {
  std::int64_t rows, inner, columns;
};

Extents ExtentsOf(const Problem& problem) {
  return {problem.rows().filter * problem.columns().filter * problem.filter_depth(), problem.positions(),
          problem.out_depth_per_group()};
}

// Higham's constant for `levels` levels above sums of inner / 2^levels terms; docs/error-bounds.md, rule E9.
double Constant(std::int64_t inner, int levels) {
  const double block = std::ceil(std::ldexp(static_cast<double>(inner), -levels));
  return std::pow(12.0, levels) * (block * block + 5 * block);
}

// As many levels as the class of the whole product allows and as leave blocks of two rows and columns.
int Levels(const Extents& extents) {
  const std::int64_t largest = std::max({extents.rows, extents.inner, extents.columns});
  int class_levels = 0;
  while ((std::int64_t{128} << class_levels) < largest) ++class_levels;
  const std::int64_t smallest = std::min({extents.rows, extents.inner, extents.columns});
  int levels = 0;
  while ((smallest >> (levels + 1)) >= 2 &&
         Constant(extents.inner, levels + 1) <= Constant(128 << class_levels, class_levels)) {
    ++levels;
  }
  return levels;
}

std::int64_t RoundedUp(std::int64_t extent, int levels) {
  const std::int64_t unit = std::int64_t{1} << levels;
  return (extent + unit - 1) / unit * unit;
}

template <typename Real>
Matrix<Real> UnrolledTransposed(const Operands<Real>& o, std::int64_t group, const Extents& padded) {
  const Axis& rows = o.problem.rows();
  const Axis& columns = o.problem.columns();
  Matrix<Real> unrolled(padded.rows, padded.inner);
  for (std::int64_t row = 0; row < ExtentsOf(o.problem).rows; ++row) {
    const std::int64_t ic = row % o.problem.filter_depth();
    const std::int64_t kw = row / o.problem.filter_depth() % columns.filter;
    const std::int64_t kh = row / o.problem.filter_depth() / columns.filter;
    for (std::int64_t m = 0; m < o.problem.positions(); ++m) {
      const std::int64_t ow = m % columns.output;
      const std::int64_t oh = m / columns.output % rows.output;
      unrolled.At(row, m) = o.Input(
          m / columns.output / rows.output, oh * rows.stride + kh * rows.dilation - rows.pad_before,
          ow * columns.stride + kw * columns.dilation - columns.pad_before, group * o.problem.filter_depth() + ic);
    }
  }
  return unrolled;
}

template <typename Real>
Matrix<Real> Gradients(const Operands<Real>& o, std::int64_t group, const Extents& padded) {
  Matrix<Real> gradients(padded.inner, padded.columns);
  const std::int64_t width = o.problem.columns().output;
  const std::int64_t height = o.problem.rows().output;
  for (std::int64_t m = 0; m < o.problem.positions(); ++m) {
    for (std::int64_t i = 0; i < o.problem.out_depth_per_group(); ++i) {
      const std::int64_t oc = group * o.problem.out_depth_per_group() + i;
      gradients.At(m, i) = o.OutBackprop(m / width / height, m / width % height, m % width, oc);
    }
  }
  return gradients;
}

template <typename Real>
void Strassen(const Operands<Real>& operands, Sums& sums) {
  const Problem& problem = operands.problem;
  const Scaled<Real> scaled = ScaledByTensor(operands);
  const Extents extents = ExtentsOf(problem);
  const int levels = Levels(extents);
  const Extents padded{RoundedUp(extents.rows, levels), RoundedUp(extents.inner, levels),
                       RoundedUp(extents.columns, levels)};
  for (std::int64_t group = 0; group < problem.groups(); ++group) {
    const Matrix<Real> product =
        Product(UnrolledTransposed(scaled.operands, group, padded), Gradients(scaled.operands, group, padded), levels);
    for (std::int64_t row = 0; row < extents.rows; ++row) {
      for (std::int64_t i = 0; i < extents.columns; ++i) {
        const std::int64_t oc = group * extents.columns + i;
        sums[static_cast<std::size_t>(row * problem.out_depth() + oc)] = scaled.Unscaled(product.At(row, i), 0, oc);
      }
    }
  }
}

}  // namespace

std::vector<Method> StrassenMethods() {
  RightKernel strassen = Described("strassen", "Strassen's recursion where the matrices have room for it",
                                   {.own = "tensor:strassen", .narrow = "tensor:strassen"});
  strassen.declaration.pad = "either";
  strassen.capabilities.max_elements = 1 << 20;
  strassen.capabilities.max_work = 1 << 26;
  return {{strassen, WorkingKernel([](const auto& operands, Sums& sums) {
             if (!sums.empty()) Strassen(operands, sums);
             return KernelStatus{};
           })}};
}

}  // namespace wgrad::fuzz
