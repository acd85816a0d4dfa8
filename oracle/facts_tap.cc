#include "oracle/facts_tap.h"

#include <algorithm>

namespace wgrad::oracle {

std::int64_t Tap::Span::output_of(std::int64_t i) const {
  if (begin == end || i < first || (i - first) % stride != 0) return -1;
  const std::int64_t o = begin + (i - first) / stride;
  return o < end ? o : -1;
}

Tap::Span Tap::MakeSpan(const Axis& axis, std::int64_t k) {
  Span span{0, 0, 0, axis.stride, axis.output, axis.input};
  const std::int64_t at_zero = k * axis.dilation - axis.pad_before;  // input index of output 0
  const std::int64_t begin = at_zero >= 0 ? 0 : (-at_zero + axis.stride - 1) / axis.stride;
  const std::int64_t room = axis.input - 1 - at_zero;
  const std::int64_t end = room < 0 ? 0 : std::min(axis.output, room / axis.stride + 1);
  if (begin >= end) return span;
  span.begin = begin;
  span.end = end;
  span.first = at_zero + begin * axis.stride;
  return span;
}

Tap::Tap(const Problem& problem, std::int64_t kh, std::int64_t kw)
    : batch_(problem.batch()), rows_(MakeSpan(problem.rows(), kh)), columns_(MakeSpan(problem.columns(), kw)) {}

std::int64_t Tap::inside_count() const { return batch_ * (rows_.end - rows_.begin) * (columns_.end - columns_.begin); }

std::int64_t Tap::InputOffset(std::int64_t position) const {
  const std::int64_t ow = position % columns_.output;
  const std::int64_t oh = position / columns_.output % rows_.output;
  const std::int64_t n = position / columns_.output / rows_.output;
  if (!rows_.contains(oh) || !columns_.contains(ow)) return -1;
  return (n * rows_.input + rows_.input_of(oh)) * columns_.input + columns_.input_of(ow);
}

std::int64_t Tap::PositionOf(std::int64_t input_offset) const {
  const std::int64_t ow = columns_.output_of(input_offset % columns_.input);
  const std::int64_t oh = rows_.output_of(input_offset / columns_.input % rows_.input);
  const std::int64_t n = input_offset / columns_.input / rows_.input;
  return ow < 0 || oh < 0 ? -1 : (n * rows_.output + oh) * columns_.output + ow;
}

// Calls function(i, count, offset) for each run of positions begin + i, .., begin + i + count - 1 inside the image,
// which read the input row at offset, offset + column stride, ..
template <typename Function>
void Tap::ForEachRun(std::int64_t begin, std::int64_t end, Function function) const {
  const std::int64_t width = columns_.output;
  for (std::int64_t line = begin / width; line * width < end; ++line) {
    const std::int64_t oh = line % rows_.output;
    if (!rows_.contains(oh)) continue;
    const std::int64_t from = std::max(columns_.begin, begin - line * width);
    const std::int64_t to = std::min(columns_.end, end - line * width);
    if (from >= to) continue;
    const std::int64_t n = line / rows_.output;
    const std::int64_t offset = (n * rows_.input + rows_.input_of(oh)) * columns_.input + columns_.input_of(from);
    function(line * width + from - begin, to - from, offset);
  }
}

void Tap::Gather(const double* input_row, std::int64_t begin, std::int64_t end, double* gathered) const {
  std::int64_t done = 0;
  const std::int64_t stride = columns_.stride;
  ForEachRun(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t offset) {
    std::fill(gathered + done, gathered + i, 0.0);
    const double* from = input_row + offset;
    if (stride == 1) {
      std::copy(from, from + count, gathered + i);
    } else {
      for (std::int64_t j = 0; j < count; ++j) gathered[i + j] = from[j * stride];
    }
    done = i + count;
  });
  std::fill(gathered + done, gathered + (end - begin), 0.0);
}

void Tap::InsideMask(std::int64_t begin, std::int64_t end, std::uint64_t* mask) const {
  std::fill(mask, mask + (end - begin + 63) / 64, std::uint64_t{0});
  ForEachRun(begin, end, [&](std::int64_t i, std::int64_t count, std::int64_t) {
    for (std::int64_t j = i; j < i + count; ++j) mask[j / 64] |= std::uint64_t{1} << (j % 64);
  });
}

}  // namespace wgrad::oracle
