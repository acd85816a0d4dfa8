// Data for the tests of exact sums: kinds of tensors from small integers to any bit pattern.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "core/case.h"
#include "core/random.h"
#include "core/tensor.h"

namespace wgrad::oracle::facts_test {

enum class Data {
  kIntegers,
  kUniform,
  kNormal,
  kWide,
  kAnyFinite,
  kAnyBits,
  kOneHot,
  kSparse,
  kEqual,
  kHuge,
  kTiny,
  kPlanted,
  kZero,
};
inline constexpr Data kAllData[] = {Data::kIntegers, Data::kUniform, Data::kNormal, Data::kWide,  Data::kAnyFinite,
                                    Data::kAnyBits,  Data::kOneHot,  Data::kSparse, Data::kEqual, Data::kHuge,
                                    Data::kTiny,     Data::kPlanted, Data::kZero};

inline double Unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

inline double Normal(std::uint64_t seed, std::int64_t at) {
  double sum = -6;
  for (std::uint64_t i = 0; i < 12; ++i) sum += Unit(SplitMix64(DeriveSeed(seed, i), static_cast<std::uint64_t>(at)));
  return sum;
}

inline std::uint64_t FiniteBits(DType dtype, std::uint64_t draw) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * SizeOf(dtype));
  const std::uint64_t bits = draw & mask;
  return IsNaN(dtype, bits) || IsInf(dtype, bits) ? bits & 3 : bits;
}

/// The bits of element `at` of a tensor of `kind`.
inline std::uint64_t DrawBits(DType dtype, Data kind, std::uint64_t seed, std::int64_t at) {
  const std::uint64_t draw = SplitMix64(seed, static_cast<std::uint64_t>(at));
  const std::uint64_t other = SplitMix64(DeriveSeed(seed, 99), static_cast<std::uint64_t>(at));
  const auto nearest = [dtype](double value) { return EncodeNearest(dtype, value); };
  const int spread = dtype == DType::kFloat16 ? 6 : 40;
  switch (kind) {
    case Data::kIntegers:
      return nearest(static_cast<double>(draw % 17) - 8);
    case Data::kUniform:
      return nearest(Unit(draw) + 0.25);
    case Data::kNormal:
      return nearest(Normal(seed, at));
    case Data::kWide:
      return nearest(std::ldexp(Normal(seed, at), static_cast<int>(other % 64) * spread / 32 - spread));
    case Data::kAnyFinite:
      return FiniteBits(dtype, draw);
    case Data::kAnyBits:
      return draw & (~std::uint64_t{0} >> (64 - 8 * SizeOf(dtype)));
    case Data::kOneHot:
    case Data::kSparse:
      return other % (kind == Data::kSparse ? 10 : 40) == 0 ? nearest(Normal(seed, at)) : 0;
    case Data::kEqual:
      return nearest(-1.5);
    case Data::kHuge:
      return LargestFiniteBits(dtype, draw % 2 == 0) - other % 64;
    case Data::kTiny:
      return other % 4 == 0 ? FiniteBits(dtype, draw) : ((draw & 1) << (8 * SizeOf(dtype) - 1)) | (draw >> 40) % 100;
    case Data::kPlanted:
      if (other % 16 == 0) return InfinityBits(dtype, draw % 2 == 0) | (draw / 2 % 2);
      return other % 8 == 1 ? draw % 3 : nearest(Normal(seed, at));
    case Data::kZero:
      return 0;
  }
  return 0;
}

inline Tensor MakeTensor(DType dtype, const std::vector<std::int64_t>& shape, Data kind, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) tensor.set_bits(i, DrawBits(dtype, kind, seed, i));
  return tensor;
}

struct Tensors {
  Tensor input;
  Tensor out_backprop;
};

/// One-hot and sparse data keep their input dense.
inline Tensors MakeTensors(const Problem& problem, Data kind, std::uint64_t seed) {
  const Data input_kind = kind == Data::kOneHot || kind == Data::kSparse ? Data::kNormal : kind;
  return {MakeTensor(problem.dtype(), problem.input_shape(), input_kind, DeriveSeed(seed, 1)),
          MakeTensor(problem.dtype(), problem.out_backprop_shape(), kind, DeriveSeed(seed, 2))};
}

}  // namespace wgrad::oracle::facts_test
