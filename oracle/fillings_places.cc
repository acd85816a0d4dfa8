#include "oracle/fillings_places.h"

#include <algorithm>
#include <set>

namespace wgrad::oracle::filling {
namespace {

std::int64_t FloorDiv(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return -FloorDiv(-a, b); }

constexpr std::int64_t kTile = 8;

void AddEndsAndTiles(std::int64_t extent, std::set<std::int64_t>& anchors) {
  anchors.insert({0, extent - 1});
  for (std::int64_t tile = kTile; tile <= extent; tile += kTile) {
    for (const std::int64_t at : {tile - 1, tile, tile + 1}) {
      if (at < extent) anchors.insert(at);
    }
  }
}

std::vector<std::int64_t> BatchAnchors(std::int64_t batch) {
  std::set<std::int64_t> anchors;
  AddEndsAndTiles(batch, anchors);
  return {anchors.begin(), anchors.end()};
}

std::vector<std::int64_t> AxisAnchors(const Axis& axis) {
  std::set<std::int64_t> anchors;
  AddEndsAndTiles(axis.output, anchors);
  for (std::int64_t k = 0; k < axis.filter; ++k) {
    const Span span = ValidOutputs(axis, k);
    if (span.count() > 0) anchors.insert({span.first, span.last});
  }
  return {anchors.begin(), anchors.end()};
}

// The distinct ends of the taps' spans of one axis.
std::vector<std::int64_t> SpanEnds(const Axis& axis, bool last) {
  std::set<std::int64_t> ends;
  for (std::int64_t k = 0; k < axis.filter; ++k) {
    const Span span = ValidOutputs(axis, k);
    if (span.count() > 0) ends.insert(last ? span.last : span.first);
  }
  return {ends.begin(), ends.end()};
}

// An input coordinate that no tap reads at any output.
std::optional<std::int64_t> UnreadCoordinate(const Axis& axis) {
  std::vector<bool> read(static_cast<std::size_t>(axis.input), false);
  for (std::int64_t k = 0; k < axis.filter; ++k) {
    const Span span = ValidOutputs(axis, k);
    for (std::int64_t o = span.first; o <= span.last; ++o) {
      read[static_cast<std::size_t>(o * axis.stride + k * axis.dilation - axis.pad_before)] = true;
    }
  }
  const auto found = std::find(read.begin(), read.end(), false);
  if (found == read.end()) return std::nullopt;
  return found - read.begin();
}

// An output coordinate at which every tap reads padding.
std::optional<std::int64_t> PaddingOnlyOutput(const Axis& axis) {
  std::vector<bool> reads(static_cast<std::size_t>(axis.output), false);
  for (std::int64_t k = 0; k < axis.filter; ++k) {
    const Span span = ValidOutputs(axis, k);
    for (std::int64_t o = span.first; o <= span.last; ++o) reads[static_cast<std::size_t>(o)] = true;
  }
  const auto found = std::find(reads.begin(), reads.end(), false);
  if (found == reads.end()) return std::nullopt;
  return found - reads.begin();
}

}  // namespace

Span ValidOutputs(const Axis& axis, std::int64_t k) {
  const std::int64_t offset = axis.pad_before - k * axis.dilation;
  return {std::max<std::int64_t>(0, CeilDiv(offset, axis.stride)),
          std::min(axis.output - 1, FloorDiv(axis.input - 1 + offset, axis.stride))};
}

Position TapBox::At(std::int64_t index) const {
  const std::int64_t width = columns.count();
  const std::int64_t plane = rows.count() * width;
  return {index / plane, rows.first + index % plane / width, columns.first + index % width};
}

TapBox BoxOf(const Problem& problem, std::int64_t kh, std::int64_t kw) {
  return {kh, kw, problem.batch(), ValidOutputs(problem.rows(), kh), ValidOutputs(problem.columns(), kw)};
}

std::vector<TapBox> NonEmptyBoxes(const Problem& problem) {
  std::vector<TapBox> boxes;
  for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
    for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
      const TapBox box = BoxOf(problem, kh, kw);
      if (box.count() > 0) boxes.push_back(box);
    }
  }
  return boxes;
}

Position PositionAt(const Problem& problem, std::int64_t index) {
  const std::int64_t width = problem.columns().output;
  const std::int64_t plane = problem.rows().output * width;
  return {index / plane, index % plane / width, index % width};
}

Pixel PixelOf(const Problem& problem, const Position& position, std::int64_t kh, std::int64_t kw) {
  const auto along = [](const Axis& axis, std::int64_t o, std::int64_t k) {
    return o * axis.stride + k * axis.dilation - axis.pad_before;
  };
  return {position.n, along(problem.rows(), position.oh, kh), along(problem.columns(), position.ow, kw)};
}

std::vector<Position> FirstAndLastTerms(const Problem& problem) {
  std::vector<Position> terms;
  if (problem.positions() == 0) return terms;
  std::set<Position> known;
  for (const bool last : {false, true}) {
    const std::int64_t n = last ? problem.batch() - 1 : 0;
    for (const std::int64_t oh : SpanEnds(problem.rows(), last)) {
      for (const std::int64_t ow : SpanEnds(problem.columns(), last)) {
        if (known.insert({n, oh, ow}).second) terms.push_back({n, oh, ow});
      }
    }
  }
  return terms;
}

Anchors::Anchors(const Problem& problem) {
  if (problem.positions() == 0) return;
  terms_ = FirstAndLastTerms(problem);
  images_ = BatchAnchors(problem.batch());
  rows_ = AxisAnchors(problem.rows());
  columns_ = AxisAnchors(problem.columns());
}

std::vector<Position> Anchors::ForChannel(std::int64_t channel) const {
  std::vector<Position> anchors = terms_;
  const std::size_t length = std::max({images_.size(), rows_.size(), columns_.size()});
  const auto turn = static_cast<std::size_t>(channel);
  for (std::size_t j = 0; j < length; ++j) {
    anchors.push_back(
        {images_[(j + turn) % images_.size()], rows_[j % rows_.size()], columns_[(j + 2 * turn) % columns_.size()]});
  }
  return anchors;
}

std::optional<Pixel> UnreadPixel(const Problem& problem) {
  if (problem.input_count() == 0) return std::nullopt;
  if (const auto ih = UnreadCoordinate(problem.rows())) return Pixel{problem.batch() - 1, *ih, 0};
  if (const auto iw = UnreadCoordinate(problem.columns())) return Pixel{problem.batch() - 1, 0, *iw};
  return std::nullopt;
}

std::optional<Position> PaddingOnlyPosition(const Problem& problem) {
  if (problem.positions() == 0) return std::nullopt;
  if (const auto oh = PaddingOnlyOutput(problem.rows())) return Position{problem.batch() - 1, *oh, 0};
  if (const auto ow = PaddingOnlyOutput(problem.columns())) return Position{problem.batch() - 1, 0, *ow};
  return std::nullopt;
}

}  // namespace wgrad::oracle::filling
