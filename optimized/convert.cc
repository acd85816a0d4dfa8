#include "optimized/convert.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace wgrad::optimized {
namespace {

#if defined(__x86_64__)

bool HasF16c() {
  static const bool has = __builtin_cpu_supports("avx") != 0 && __builtin_cpu_supports("f16c") != 0;
  return has;
}

// Both take as many elements as fill whole vectors and return how many that were.
__attribute__((target("avx,f16c"))) std::int64_t WidenVectors(const Float16* from, float* to, std::int64_t count) {
  std::int64_t at = 0;
  for (; at + 8 <= count; at += 8) {
    const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at));
    _mm256_storeu_ps(to + at, _mm256_cvtph_ps(halves));
  }
  return at;
}

__attribute__((target("avx,f16c"))) std::int64_t NarrowVectors(const float* from, Float16* to, std::int64_t count) {
  std::int64_t at = 0;
  for (; at + 8 <= count; at += 8) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + at), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + at), halves);
  }
  return at;
}

#else

bool HasF16c() { return false; }
std::int64_t WidenVectors(const Float16*, float*, std::int64_t) { return 0; }
std::int64_t NarrowVectors(const float*, Float16*, std::int64_t) { return 0; }

#endif

}  // namespace

void Widen(const Float16* from, float* to, std::int64_t count) {
  for (std::int64_t i = count >= 8 && HasF16c() ? WidenVectors(from, to, count) : 0; i < count; ++i) {
    to[i] = WidenOne(from[i]);
  }
}

void Widen(const BFloat16* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = WidenOne(from[i]);
}

void Narrow(const float* from, Float16* to, std::int64_t count) {
  for (std::int64_t i = HasF16c() ? NarrowVectors(from, to, count) : 0; i < count; ++i) to[i] = ToFloat16(from[i]);
}

void Narrow(const float* from, BFloat16* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = ToBFloat16(from[i]);
}

}  // namespace wgrad::optimized
