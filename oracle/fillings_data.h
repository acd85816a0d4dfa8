// How the fillings write tensors: seeds, random floats made of bits, and loops that stay at a few ns per element.
// Part of oracle/fillings; not installed.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/case.h"
#include "core/dtype.h"
#include "core/random.h"
#include "core/tensor.h"

namespace wgrad::oracle::filling {

enum class Stream : std::uint8_t { kInput, kOutBackprop, kChoices };

/// The seed of one stream of one run. Depends on the case's seed and filling and on nothing else.
constexpr std::uint64_t SeedOf(const Case& c, int run, Stream stream) {
  const std::uint64_t of_filling = DeriveSeed(c.seed, static_cast<std::uint64_t>(c.filling));
  return DeriveSeed(of_filling, 3 * static_cast<std::uint64_t>(run) + static_cast<std::uint64_t>(stream));
}

/// A number in [0, count): the high 64 bits of z * count. 0 where count is 0.
constexpr std::int64_t Below(std::uint64_t z, std::int64_t count) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>((Wide{z} * static_cast<std::uint64_t>(count)) >> 64));
}

/// floor(log2(value)); 0 below 2.
constexpr int FloorLog2(std::int64_t value) {
  return value <= 1 ? 0 : static_cast<int>(std::bit_width(static_cast<std::uint64_t>(value))) - 1;
}

constexpr std::uint64_t At(std::uint64_t seed, std::int64_t index) {
  return SplitMix64(seed, static_cast<std::uint64_t>(index));
}

/// `magnitude`, negated where the highest bit of z is set. No branch: half of all guesses at it would be wrong.
constexpr double WithSign(std::uint64_t z, std::int64_t magnitude) {
  return static_cast<double>(magnitude * (1 - 2 * static_cast<std::int64_t>(z >> 63)));
}

/// Floats with exponents first_exponent .. first_exponent + exponent_count - 1 and random significands. Exponents below
/// the dtype's smallest stand for its subnormals. `odd` sets the last significand bit: no shorter format holds them.
struct FloatRange {
  int first_exponent = 0;
  int exponent_count = 1;
  bool positive = false;
  bool odd = false;
};

/// Turns a random number into the bits of a float of a range: bit 63 is the sign, bits 62 to 52 draw the exponent, the
/// lowest bits are the fraction.
class RandomFloat {
 public:
  RandomFloat(DType dtype, const FloatRange& range)
      : fraction_bits_(FormatOf(dtype).precision - 1),
        sign_shift_(static_cast<int>(8 * SizeOf(dtype)) - 1),
        first_field_(range.first_exponent - FormatOf(dtype).min_exponent + 1),
        count_(static_cast<std::uint64_t>(range.exponent_count)),
        sign_mask_(range.positive ? 0 : 1),
        odd_(range.odd ? 1 : 0) {}

  std::uint64_t operator()(std::uint64_t z) const {
    const int field = first_field_ + static_cast<int>((((z >> 52) & 0x7ff) * count_) >> 11);
    const std::uint64_t fraction = (z & ((std::uint64_t{1} << fraction_bits_) - 1)) | odd_;
    const std::uint64_t sign = ((z >> 63) & sign_mask_) << sign_shift_;
    if (field <= 0) return sign | fraction | 1;  // a subnormal, never zero
    return sign | (static_cast<std::uint64_t>(field) << fraction_bits_) | fraction;
  }

 private:
  int fraction_bits_;
  int sign_shift_;
  int first_field_;
  std::uint64_t count_;
  std::uint64_t sign_mask_;
  std::uint64_t odd_;
};

/// EncodeNearest, quick where the result is a normal number of a 16-bit dtype, or any number of a longer one.
inline std::uint64_t Encode(DType dtype, double value) {
  if (dtype == DType::kFloat64) return std::bit_cast<std::uint64_t>(value);
  if (dtype == DType::kFloat32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
  const bool half = dtype == DType::kFloat16;
  const int shift = half ? 42 : 45;  // from 52 fraction bits to 10 or 7
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
  const std::uint64_t lowest = static_cast<std::uint64_t>(half ? 1023 - 14 : 1023 - 126) << 52;
  const std::uint64_t highest = static_cast<std::uint64_t>(half ? 1023 + 15 : 1023 + 127) << 52;
  if (magnitude < lowest || magnitude >= highest) return EncodeNearest(dtype, value);
  const std::uint64_t half_unit = (std::uint64_t{1} << (shift - 1)) - 1;
  const std::uint64_t rounded = (magnitude + half_unit + ((magnitude >> shift) & 1)) >> shift;
  const std::uint64_t rebias = static_cast<std::uint64_t>(half ? (1023 - 15) << 10 : (1023 - 127) << 7);
  return (bits >> 63 << 15) | (rounded - rebias);
}

/// Calls function(words), words being the tensor's elements as unsigned integers of their size.
template <typename Function>
void WithWords(Tensor& tensor, Function function) {
  switch (SizeOf(tensor.dtype())) {
    case 2:
      return function(tensor.values<std::uint16_t>());
    case 4:
      return function(tensor.values<std::uint32_t>());
    default:
      return function(tensor.values<std::uint64_t>());
  }
}

/// Element i becomes the bits generator(i).
template <typename Generator>
void Fill(Tensor& tensor, Generator generator) {
  WithWords(tensor, [&generator](auto words) {
    using Word = std::remove_reference_t<decltype(words[0])>;
    for (std::size_t i = 0; i < words.size(); ++i)
      words[i] = static_cast<Word>(generator(static_cast<std::int64_t>(i)));
  });
}

/// Element i of channel c becomes the bits generator(i, c). `tensor` has four axes in `format`'s order.
template <typename Generator>
void FillByChannel(DataFormat format, Tensor& tensor, Generator generator) {
  const std::vector<std::int64_t>& shape = tensor.shape();
  const bool channels_last = format == DataFormat::kNhwc;
  const std::int64_t channels = channels_last ? shape[3] : shape[1];
  const std::int64_t outer = channels_last ? shape[0] * shape[1] * shape[2] : shape[0];
  const std::int64_t inner = channels_last ? 1 : shape[2] * shape[3];
  WithWords(tensor, [&](auto words) {
    using Word = std::remove_reference_t<decltype(words[0])>;
    std::int64_t i = 0;
    for (std::int64_t o = 0; o < outer; ++o) {
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        for (std::int64_t k = 0; k < inner; ++k, ++i) {
          words[static_cast<std::size_t>(i)] = static_cast<Word>(generator(i, channel));
        }
      }
    }
  });
}

/// Every element a random float of `range`.
inline void FillFloats(Tensor& tensor, std::uint64_t seed, const FloatRange& range) {
  const RandomFloat random(tensor.dtype(), range);
  Fill(tensor, [&](std::int64_t i) { return random(At(seed, i)); });
}

/// Value `index` of the normal stream of `seed`: twelve uniforms of 16 bits, the last refined by 32 more, minus 6. A
/// multiple of 2^-48 below 6 in magnitude, so exact as a double.
inline double NormalValue(std::uint64_t seed, std::int64_t index) {
  std::int64_t sum = 0;
  for (std::int64_t j = 0; j < 3; ++j) {
    const std::uint64_t z = At(seed, 4 * index + j);
    sum += static_cast<std::int64_t>((z & 0xffff) + ((z >> 16) & 0xffff) + ((z >> 32) & 0xffff) + (z >> 48));
  }
  const auto fine = static_cast<std::int64_t>(At(seed, 4 * index + 3) >> 32);
  const std::int64_t fixed = sum * (std::int64_t{1} << 32) + fine - (std::int64_t{6} << 48);
  return static_cast<double>(fixed) * 0x1p-48;
}

}  // namespace wgrad::oracle::filling
