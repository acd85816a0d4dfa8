#include <bit>
#include <cmath>
#include <cstddef>

#include "oracle/facts_kernels.h"

namespace wgrad::oracle {
namespace {

// Rounds `value` to the grid of sigma and leaves the remainder, both exact.
double Extract(double& value, double sigma) {
  const double rounded = (value + sigma) - sigma;
  value -= rounded;
  return rounded;
}

template <std::size_t kLevels>
void DotExact(const double* x, const double* y, std::int64_t n, const double* sigma, double* sums) {
  double sum[kLevels + 1] = {};
  double abs_sum[kLevels + 1] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    double rest = x[i] * y[i];
    const double sign = std::copysign(1.0, rest);
    for (std::size_t level = 0; level <= kLevels; ++level) {
      const double part = level < kLevels ? Extract(rest, sigma[level]) : rest;
      sum[level] += part;
      abs_sum[level] += part * sign;
    }
  }
  for (std::size_t level = 0; level <= kLevels; ++level) {
    sums[level] = sum[level];
    sums[kLevels + 1 + level] = abs_sum[level];
  }
}

template <std::size_t kLevels>
void DotTwoProduct(const double* x, const double* y, std::int64_t n, const double* sigma, double* sums) {
  double sum[kLevels + 1] = {};
  double abs_sum[kLevels + 1] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    double rest = x[i] * y[i];
    double error = std::fma(x[i], y[i], -rest);
    const double sign = std::copysign(1.0, rest);
    for (std::size_t level = 0; level <= kLevels; ++level) {
      // The error is below half the first grid, so that it has no part there.
      double part = level < kLevels ? Extract(rest, sigma[level]) : rest + error;
      if (level > 0 && level < kLevels) part += Extract(error, sigma[level]);
      sum[level] += part;
      abs_sum[level] += part * sign;
    }
  }
  for (std::size_t level = 0; level <= kLevels; ++level) {
    sums[level] = sum[level];
    sums[kLevels + 1 + level] = abs_sum[level];
  }
}

std::int64_t CountAbove(const double* x, const double* y, std::int64_t n, double threshold) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < n; ++i) count += std::fabs(x[i] * y[i]) > threshold ? 1 : 0;
  return count;
}

void NonZero(const double* x, std::int64_t n, std::uint64_t* mask) {
  for (std::int64_t word = 0; word * 64 < n; ++word) {
    std::uint64_t bits = 0;
    for (std::int64_t i = word * 64; i < n && i < word * 64 + 64; ++i) {
      bits |= std::uint64_t{x[i] != 0} << (i % 64);
    }
    mask[word] = bits;
  }
}

std::int64_t CountCommonBits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < words; ++i) count += std::popcount(a[i] & b[i]);
  return count;
}

}  // namespace

const Kernels& PortableKernels() {
  static constexpr Kernels kKernels = {
      {DotExact<0>, DotExact<1>, DotExact<2>, DotExact<3>, DotExact<4>},
      {nullptr, DotTwoProduct<1>, DotTwoProduct<2>, DotTwoProduct<3>, DotTwoProduct<4>},
      CountAbove,
      NonZero,
      CountCommonBits};
  return kKernels;
}

const Kernels& BestKernels() {
  static const Kernels& best = Avx2Kernels() != nullptr ? *Avx2Kernels() : PortableKernels();
  return best;
}

}  // namespace wgrad::oracle
