// Gemm: the one operation that this folder takes from OpenBLAS, a sum of outer products over output positions.
#pragma once

#include <cstdint>
#include <string>

namespace wgrad::optimized {

/// A matrix of positions times columns in memory of somebody else. Position-major: element (p, m) stands at
/// p * leading + m; else, channel-major, at m * leading + p.
template <typename Real>
struct Operand {
  const Real* data = nullptr;
  std::int64_t leading = 1;
  bool position_major = true;
};

/// Where a product is added: element (m, n) stands at m * leading + n.
template <typename Real>
struct Sum {
  Real* data = nullptr;
  std::int64_t leading = 1;
};

struct GemmSizes {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t positions = 0;
};

/// The largest extent or leading dimension that AddProduct takes.
std::int64_t LargestGemmExtent();

/// sum[m, n] += over all positions p of a[p, m] * b[p, n], in the precision of the operands and in an order that
/// depends on the sizes alone. Extents and leading dimensions are at most LargestGemmExtent(). Runs on the calling
/// thread.
void AddProduct(const GemmSizes& sizes, const Operand<float>& a, const Operand<float>& b, const Sum<float>& sum);
void AddProduct(const GemmSizes& sizes, const Operand<double>& a, const Operand<double>& b, const Sum<double>& sum);

/// OpenBLAS's version and the kernel set that it runs here, e.g. "0.3.21, Haswell kernels".
std::string GemmLibraryVersion();

}  // namespace wgrad::optimized
