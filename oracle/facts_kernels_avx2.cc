#include "oracle/facts_kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include <bit>
#include <cstddef>

#define WGRAD_AVX2 __attribute__((target("avx2,fma,popcnt")))
// Levels live in registers only if their loops are unrolled.
#define WGRAD_UNROLL _Pragma("GCC unroll 5")

namespace wgrad::oracle {
namespace {

WGRAD_AVX2 inline double SumOfLanes(__m256d lanes) {
  const __m128d pair = _mm_add_pd(_mm256_castpd256_pd128(lanes), _mm256_extractf128_pd(lanes, 1));
  return _mm_cvtsd_f64(_mm_add_sd(pair, _mm_unpackhi_pd(pair, pair)));
}

WGRAD_AVX2 inline __m256d RoundToGrid(__m256d value, __m256d sigma) {
  return _mm256_sub_pd(_mm256_add_pd(value, sigma), sigma);
}

// +1 or -1 with the sign of value.
WGRAD_AVX2 inline __m256d SignOf(__m256d value) {
  return _mm256_or_pd(_mm256_and_pd(value, _mm256_set1_pd(-0.0)), _mm256_set1_pd(1.0));
}

// value - part, on the multipliers: they would idle while the adders are what bounds these loops.
WGRAD_AVX2 inline __m256d Remainder(__m256d value, __m256d part) {
  return _mm256_fnmadd_pd(part, _mm256_set1_pd(1.0), value);
}

// Sums of all levels of kStreams products at a time, whose additions need not wait for each other.
template <std::size_t kLevels, std::size_t kStreams>
struct LevelSums {
  __m256d sum[kStreams][kLevels + 1];
  __m256d abs_sum[kStreams][kLevels + 1];

  WGRAD_AVX2 LevelSums() {
    WGRAD_UNROLL
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      WGRAD_UNROLL
      for (std::size_t level = 0; level <= kLevels; ++level) {
        sum[stream][level] = abs_sum[stream][level] = _mm256_setzero_pd();
      }
    }
  }

  WGRAD_AVX2 void Add(std::size_t stream, std::size_t level, __m256d part, __m256d sign) {
    sum[stream][level] = _mm256_add_pd(sum[stream][level], part);
    abs_sum[stream][level] = _mm256_fmadd_pd(part, sign, abs_sum[stream][level]);
  }

  WGRAD_AVX2 void Store(double* sums) const {
    for (std::size_t level = 0; level <= kLevels; ++level) {
      __m256d total = sum[0][level];
      __m256d abs_total = abs_sum[0][level];
      for (std::size_t stream = 1; stream < kStreams; ++stream) {
        total = _mm256_add_pd(total, sum[stream][level]);
        abs_total = _mm256_add_pd(abs_total, abs_sum[stream][level]);
      }
      sums[level] = SumOfLanes(total);
      sums[kLevels + 1 + level] = SumOfLanes(abs_total);
    }
  }
};

template <std::size_t kLevels, std::size_t kStreams>
WGRAD_AVX2 void DotExact(const double* x, const double* y, std::int64_t n, const double* sigma, double* sums) {
  __m256d grid[kLevels + 1];
  WGRAD_UNROLL
  for (std::size_t level = 0; level < kLevels; ++level) grid[level] = _mm256_set1_pd(sigma[level]);
  LevelSums<kLevels, kStreams> total;
  for (std::int64_t i = 0; i < n; i += 4 * static_cast<std::int64_t>(kStreams)) {
    WGRAD_UNROLL
    for (std::size_t stream = 0; stream < kStreams; ++stream) {
      const std::int64_t at = i + 4 * static_cast<std::int64_t>(stream);
      __m256d rest = _mm256_mul_pd(_mm256_loadu_pd(x + at), _mm256_loadu_pd(y + at));
      const __m256d sign = SignOf(rest);
      WGRAD_UNROLL
      for (std::size_t level = 0; level < kLevels; ++level) {
        const __m256d part = RoundToGrid(rest, grid[level]);
        rest = Remainder(rest, part);
        total.Add(stream, level, part, sign);
      }
      total.Add(stream, kLevels, rest, sign);
    }
  }
  total.Store(sums);
}

template <std::size_t kLevels>
WGRAD_AVX2 void DotTwoProduct(const double* x, const double* y, std::int64_t n, const double* sigma, double* sums) {
  __m256d grid[kLevels];
  WGRAD_UNROLL
  for (std::size_t level = 0; level < kLevels; ++level) grid[level] = _mm256_set1_pd(sigma[level]);
  LevelSums<kLevels, 1> total;
  for (std::int64_t i = 0; i < n; i += 4) {
    const __m256d a = _mm256_loadu_pd(x + i);
    const __m256d b = _mm256_loadu_pd(y + i);
    __m256d rest = _mm256_mul_pd(a, b);
    __m256d error = _mm256_fmsub_pd(a, b, rest);
    const __m256d sign = SignOf(rest);
    WGRAD_UNROLL
    for (std::size_t level = 0; level < kLevels; ++level) {
      __m256d part = RoundToGrid(rest, grid[level]);
      rest = Remainder(rest, part);
      if (level > 0) {  // the error is below half the first grid, so that it has no part there
        const __m256d of_error = RoundToGrid(error, grid[level]);
        error = Remainder(error, of_error);
        part = _mm256_add_pd(part, of_error);
      }
      total.Add(0, level, part, sign);
    }
    total.Add(0, kLevels, _mm256_add_pd(rest, error), sign);
  }
  total.Store(sums);
}

WGRAD_AVX2 std::int64_t CountAbove(const double* x, const double* y, std::int64_t n, double threshold) {
  const __m256d sign_bit = _mm256_set1_pd(-0.0);
  const __m256d limit = _mm256_set1_pd(threshold);
  __m256i counts = _mm256_setzero_si256();
  for (std::int64_t i = 0; i < n; i += 4) {
    const __m256d product = _mm256_mul_pd(_mm256_loadu_pd(x + i), _mm256_loadu_pd(y + i));
    const __m256d above = _mm256_cmp_pd(_mm256_andnot_pd(sign_bit, product), limit, _CMP_GT_OQ);
    counts = _mm256_sub_epi64(counts, _mm256_castpd_si256(above));
  }
  const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(counts), _mm256_extracti128_si256(counts, 1));
  return _mm_extract_epi64(pair, 0) + _mm_extract_epi64(pair, 1);
}

WGRAD_AVX2 void NonZero(const double* x, std::int64_t n, std::uint64_t* mask) {
  const __m256d zero = _mm256_setzero_pd();
  for (std::int64_t word = 0; word * 64 < n; ++word) {
    std::uint64_t bits = 0;
    for (std::int64_t i = word * 64; i < n && i < word * 64 + 64; i += 4) {
      const int four = _mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(x + i), zero, _CMP_NEQ_UQ));
      bits |= static_cast<std::uint64_t>(four) << (i % 64);
    }
    mask[word] = bits;
  }
}

WGRAD_AVX2 std::int64_t CountCommonBits(const std::uint64_t* a, const std::uint64_t* b, std::int64_t words) {
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < words; ++i) count += std::popcount(a[i] & b[i]);
  return count;
}

constexpr Kernels kKernels = {{DotExact<0, 2>, DotExact<1, 2>, DotExact<2, 1>, DotExact<3, 1>, DotExact<4, 1>},
                              {nullptr, DotTwoProduct<1>, DotTwoProduct<2>, DotTwoProduct<3>, DotTwoProduct<4>},
                              CountAbove,
                              NonZero,
                              CountCommonBits};

}  // namespace

const Kernels* Avx2Kernels() {
  static const bool present = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                              __builtin_cpu_supports("popcnt") != 0;
  return present ? &kKernels : nullptr;
}

}  // namespace wgrad::oracle

#else

namespace wgrad::oracle {
const Kernels* Avx2Kernels() { return nullptr; }
}  // namespace wgrad::oracle

#endif
