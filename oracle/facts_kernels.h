// Kernels of exact summation: dot products of rows of doubles, taken apart into sums that no rounding touches.
// Each set of kernels gives the same numbers; processors differ in speed only.
#pragma once

#include <cstdint>

namespace wgrad::oracle {

inline constexpr int kMostLevels = 4;
inline constexpr std::int64_t kRowStep = 8;  // rows are padded with zeros to a multiple of it
constexpr std::int64_t PaddedLength(std::int64_t length) { return (length + kRowStep - 1) / kRowStep * kRowStep; }

/// Splits the products x[i] * y[i] into levels: a product rounded to a multiple of the first grid, its remainder
/// rounded to a multiple of the second, and so on, and the last remainder. sigma[j] = 1.5 * 2^52 * grid. sums[0 ..
/// levels] are the sums of the levels, sums[levels + 1 .. 2 * levels + 1] those of the levels of |x[i] * y[i]|. All of
/// it is exact where the caller has chosen the grids so (facts_plan.h). Requires n to be a multiple of kRowStep.
using DotKernel = void (*)(const double* x, const double* y, std::int64_t n, const double* sigma, double* sums);

/// How many |x[i] * y[i]|, rounded to nearest, are above threshold. Requires n to be a multiple of kRowStep.
using CountKernel = std::int64_t (*)(const double* x, const double* y, std::int64_t n, double threshold);

/// Bit i % 64 of mask[i / 64] is x[i] != 0. Requires n to be a multiple of kRowStep; whole words are written.
using NonZeroKernel = void (*)(const double* x, std::int64_t n, std::uint64_t* mask);

/// How many bits are set in both of two masks.
using CommonBitsKernel = std::int64_t (*)(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words);

struct Kernels {
  DotKernel exact[kMostLevels + 1];        // by number of levels; requires products that are exact in double
  DotKernel two_product[kMostLevels + 1];  // any products whose rounding error is a double; not for 0 levels
  CountKernel count_above;
  NonZeroKernel nonzero;
  CommonBitsKernel common_bits;
};

const Kernels& PortableKernels();
/// Null where this processor has no AVX2 and FMA (and POPCNT).
const Kernels* Avx2Kernels();
const Kernels& BestKernels();

}  // namespace wgrad::oracle
