// Where terms are: which positions (n, oh, ow) a tap reads the image at, and which of them a fault would hit first.
// Part of oracle/fillings; not installed.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/problem.h"

namespace wgrad::oracle::filling {

struct Position {
  std::int64_t n = 0, oh = 0, ow = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

struct Pixel {
  std::int64_t n = 0, ih = 0, iw = 0;
};

/// Outputs first..last of one axis at which tap k reads inside the image; empty where first > last.
struct Span {
  std::int64_t first = 0;
  std::int64_t last = -1;
  std::int64_t count() const { return last < first ? 0 : last - first + 1; }
};
Span ValidOutputs(const Axis& axis, std::int64_t k);

/// The positions at which one tap reads inside the image: a box, counted row-major.
struct TapBox {
  std::int64_t kh = 0, kw = 0;
  std::int64_t batch = 0;
  Span rows, columns;
  std::int64_t count() const { return batch * rows.count() * columns.count(); }
  Position At(std::int64_t index) const;
};
TapBox BoxOf(const Problem& problem, std::int64_t kh, std::int64_t kw);
/// The boxes that hold at least one position, in the order of the taps.
std::vector<TapBox> NonEmptyBoxes(const Problem& problem);

/// Position number `index`, row-major over (n, oh, ow).
Position PositionAt(const Problem& problem, std::int64_t index);
/// The pixel that tap (kh, kw) reads at `position`; it may lie in the padding.
Pixel PixelOf(const Problem& problem, const Position& position, std::int64_t kh, std::int64_t kw);

/// The distinct first and last terms of all taps.
std::vector<Position> FirstAndLastTerms(const Problem& problem);

/// Positions that together have every anchor of every axis: its ends, each tap's first and last output, multiples of 8
/// and their neighbours.
class Anchors {
 public:
  explicit Anchors(const Problem& problem);
  /// FirstAndLastTerms come first. How the anchors of different axes are paired turns with `channel`.
  std::vector<Position> ForChannel(std::int64_t channel) const;

 private:
  std::vector<Position> terms_;
  std::vector<std::int64_t> images_, rows_, columns_;
};

/// A pixel that no tap reads at any position, if there is one.
std::optional<Pixel> UnreadPixel(const Problem& problem);
/// A position at which every tap reads padding, if there is one.
std::optional<Position> PaddingOnlyPosition(const Problem& problem);

}  // namespace wgrad::oracle::filling
