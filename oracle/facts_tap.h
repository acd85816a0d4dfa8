// Tap: where the positions of one filter tap (kh, kw) fall in the input, and rows of input gathered along them.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem.h"

namespace wgrad::oracle {

class Tap {
 public:
  Tap(const Problem& problem, std::int64_t kh, std::int64_t kw);

  /// Positions (n, oh, ow) whose input position is inside the image.
  std::int64_t inside_count() const;

  /// Offset in an input row of the plane, or -1 where position falls on padding.
  std::int64_t InputOffset(std::int64_t position) const;
  /// The position that reads this offset of an input row, or -1. No two read the same.
  std::int64_t PositionOf(std::int64_t input_offset) const;

  /// gathered[i] = input row at position begin + i for positions in [begin, end), 0 on padding.
  void Gather(const double* input_row, std::int64_t begin, std::int64_t end, double* gathered) const;
  /// Bit i % 64 of mask[i / 64] is set where position begin + i is inside the image. Clears the other bits.
  void InsideMask(std::int64_t begin, std::int64_t end, std::uint64_t* mask) const;

 private:
  // The outputs of one axis that meet the image under this tap, and where the first of them falls.
  struct Span {
    std::int64_t begin = 0, end = 0;  // of the output index
    std::int64_t first = 0;           // input index of output `begin`
    std::int64_t stride = 1;
    std::int64_t output = 0, input = 0;
    bool contains(std::int64_t o) const { return o >= begin && o < end; }
    std::int64_t input_of(std::int64_t o) const { return first + (o - begin) * stride; }
    std::int64_t output_of(std::int64_t i) const;
  };
  static Span MakeSpan(const Axis& axis, std::int64_t k);
  template <typename Function>
  void ForEachRun(std::int64_t begin, std::int64_t end, Function function) const;

  std::int64_t batch_;
  Span rows_;
  Span columns_;
};

}  // namespace wgrad::oracle
