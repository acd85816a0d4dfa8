#include "optimized/column_tile.h"

#include <algorithm>
#include <type_traits>

namespace wgrad::optimized {
namespace {

// Part of one row of output.
struct RowSegment {
  std::int64_t n;
  std::int64_t oh;
  std::int64_t ow;
  std::int64_t count;
};

// Calls visit(segment, index of its first position in the range) from first to last.
template <typename Visit>
void ForEachSegment(const Problem& problem, PositionRange positions, Visit visit) {
  const std::int64_t height = problem.rows().output;
  const std::int64_t width = problem.columns().output;
  RowSegment segment{positions.first / width / height, positions.first / width % height, positions.first % width, 0};
  for (std::int64_t at = 0; at < positions.count; at += segment.count) {
    segment.count = std::min(width - segment.ow, positions.count - at);
    visit(segment, at);
    segment.ow = 0;
    if (++segment.oh == height) {
      segment.oh = 0;
      ++segment.n;
    }
  }
}

template <typename Real>
Real* Grown(std::vector<Real>& buffer, std::int64_t count) {
  if (static_cast<std::int64_t>(buffer.size()) < count) buffer.resize(static_cast<std::size_t>(count));
  return buffer.data();
}

bool IsPointwise(const Axis& axis) {
  return axis.filter == 1 && axis.stride == 1 && axis.pad_before == 0 && axis.pad_after == 0;
}

// The outputs [first, last) of an axis whose input o * stride + offset lies inside the image.
struct Inside {
  Inside(const Axis& axis, std::int64_t offset) {
    const std::int64_t end = axis.input - offset;  // first o * stride beyond the image
    first = offset >= 0 ? 0 : (-offset + axis.stride - 1) / axis.stride;
    last = std::max(first, end <= 0 ? 0 : std::min(axis.output, (end - 1) / axis.stride + 1));
  }
  std::int64_t first;
  std::int64_t last;
};

}  // namespace

template <typename Stored>
void OperandTiles<Stored>::Bind(const Problem& problem, const Images<Stored>& images) {
  problem_ = &problem;
  images_ = images;
  image_positions_ = problem.rows().output * problem.columns().output;
  pointwise_ = std::is_same_v<Stored, Real> && IsPointwise(problem.rows()) && IsPointwise(problem.columns());
}

template <typename Stored>
void OperandTiles<Stored>::SelectColumns(const ColumnBlock& columns) {
  columns_ = columns;
  if (images_.format == DataFormat::kNhwc && !pointwise_) SelectRuns();
}

template <typename Stored>
void OperandTiles<Stored>::SelectRuns() {
  const Axis& rows = problem_->rows();
  const Axis& columns = problem_->columns();
  const bool neighbours = columns.dilation == 1 && problem_->groups() == 1;
  const std::int64_t taps = neighbours ? columns.filter : 1;
  const std::int64_t length = taps * problem_->filter_depth();
  const std::int64_t end = columns_.first + columns_.count;
  runs_.clear();
  for (std::int64_t at = columns_.first; at < end;) {
    const std::int64_t tap = at / length * taps;
    const std::int64_t first = at % length;
    const std::int64_t last = std::min(length, first + end - at);
    runs_.push_back({tap / columns.filter * rows.dilation - rows.pad_before,
                     tap % columns.filter * columns.dilation - columns.pad_before, taps, first, last});
    at += last - first;
  }
}

template <typename Stored>
bool OperandTiles<Stored>::InOneImage(PositionRange positions) const {
  return positions.first % image_positions_ + positions.count <= image_positions_;
}

template <typename Stored>
Operand<Working<Stored>> OperandTiles<Stored>::Columns(PositionRange positions) {
  const std::int64_t channel = columns_.group * problem_->filter_depth();
  if constexpr (std::is_same_v<Stored, Real>) {
    const std::int64_t depth = problem_->input_depth();
    if (pointwise_ && images_.format == DataFormat::kNhwc) {
      return {images_.input + positions.first * depth + channel + columns_.first, depth, true};
    }
    if (pointwise_ && InOneImage(positions)) {
      const std::int64_t image = positions.first / image_positions_;
      const std::int64_t plane = image * depth + channel + columns_.first;
      return {images_.input + plane * image_positions_ + positions.first % image_positions_, image_positions_, false};
    }
  }
  Real* tile = Grown(tile_, columns_.count * positions.count);
  if (images_.format == DataFormat::kNhwc) {
    FillPositionMajor(positions, tile);
    return {tile, columns_.count, true};
  }
  FillChannelMajor(positions, tile);
  return {tile, positions.count, false};
}

template <typename Stored>
void OperandTiles<Stored>::FillPositionMajor(PositionRange positions, Real* tile) {
  ForEachSegment(*problem_, positions, [&](const RowSegment& segment, std::int64_t at) {
    for (std::int64_t i = 0; i < segment.count; ++i) {
      FillPosition(segment.n, segment.oh, segment.ow + i, tile + (at + i) * columns_.count);
    }
  });
}

template <typename Stored>
void OperandTiles<Stored>::FillPosition(std::int64_t n, std::int64_t oh, std::int64_t ow, Real* to) {
  const Axis& rows = problem_->rows();
  const Axis& columns = problem_->columns();
  const std::int64_t depth = problem_->input_depth();
  const Stored* const group = images_.input + columns_.group * problem_->filter_depth();
  // Elements between neighbouring taps of a run; a run of one tap has no neighbour.
  const std::int64_t tap_depth = problem_->filter_depth();
  for (const Run& run : runs_) {
    const std::int64_t ih = oh * rows.stride + run.row_offset;
    const std::int64_t iw = ow * columns.stride + run.column_offset;
    const std::int64_t length = run.last - run.first;
    std::int64_t inside = run.last;  // elements [inside, outside) of the run lie in the image
    std::int64_t outside = run.last;
    if (ih >= 0 && ih < rows.input) {
      inside = std::min(run.last, std::max(run.first, -iw * tap_depth));
      outside = std::max(inside, std::min(run.last, std::min(run.taps, columns.input - iw) * tap_depth));
    }
    if (inside != run.first) std::fill(to, to + (inside - run.first), Real{0});
    if (inside != outside) {
      const std::int64_t pixel = (n * rows.input + ih) * columns.input + iw;
      Widen(group + (pixel * depth + inside), to + (inside - run.first), outside - inside);
    }
    if (outside != run.last) std::fill(to + (outside - run.first), to + length, Real{0});
    to += length;
  }
}

template <typename Stored>
void OperandTiles<Stored>::FillChannelMajor(PositionRange positions, Real* tile) {
  const Axis& rows = problem_->rows();
  const Axis& columns = problem_->columns();
  const std::int64_t filter_depth = problem_->filter_depth();
  for (std::int64_t column = 0; column < columns_.count; ++column) {
    const std::int64_t ic = (columns_.first + column) % filter_depth;
    const std::int64_t tap = (columns_.first + column) / filter_depth;
    const std::int64_t row_offset = tap / columns.filter * rows.dilation - rows.pad_before;
    const std::int64_t column_offset = tap % columns.filter * columns.dilation - columns.pad_before;
    const Inside inside(columns, column_offset);
    const std::int64_t channel = columns_.group * filter_depth + ic;
    Real* const line = tile + column * positions.count;
    ForEachSegment(*problem_, positions, [&](const RowSegment& segment, std::int64_t at) {
      const std::int64_t ih = segment.oh * rows.stride + row_offset;
      const std::int64_t end = segment.ow + segment.count;
      const bool row_inside = ih >= 0 && ih < rows.input;
      const std::int64_t first = row_inside ? std::clamp(inside.first, segment.ow, end) : end;
      const std::int64_t last = row_inside ? std::clamp(inside.last, first, end) : end;
      Real* const to = line + at;
      std::fill(to, to + (first - segment.ow), Real{0});
      if (first != last) {
        const std::int64_t input_row = (segment.n * problem_->input_depth() + channel) * rows.input + ih;
        const std::int64_t from = input_row * columns.input + (first * columns.stride + column_offset);
        WidenEvery(images_.input + from, columns.stride, to + (first - segment.ow), last - first);
      }
      std::fill(to + (last - segment.ow), to + segment.count, Real{0});
    });
  }
}

template <typename Stored>
Operand<Working<Stored>> OperandTiles<Stored>::OutBackprop(PositionRange positions) {
  const bool position_major = images_.format == DataFormat::kNhwc;
  const std::int64_t depth = problem_->out_depth();
  const std::int64_t group_depth = problem_->out_depth_per_group();
  const std::int64_t first_oc = columns_.group * group_depth;
  if constexpr (std::is_same_v<Stored, Real>) {
    if (position_major) return {images_.out_backprop + positions.first * depth + first_oc, depth, true};
    if (InOneImage(positions)) {
      const std::int64_t plane = positions.first / image_positions_ * depth + first_oc;
      return {images_.out_backprop + plane * image_positions_ + positions.first % image_positions_, image_positions_,
              false};
    }
  }
  Real* const copy = Grown(rows_, positions.count * group_depth);
  if (position_major) {
    for (std::int64_t p = 0; p < positions.count; ++p) {
      Widen(images_.out_backprop + (positions.first + p) * depth + first_oc, copy + p * group_depth, group_depth);
    }
    return {copy, group_depth, true};
  }
  for (std::int64_t at = 0; at < positions.count;) {
    const std::int64_t image = (positions.first + at) / image_positions_;
    const std::int64_t start = (positions.first + at) % image_positions_;
    const std::int64_t count = std::min(image_positions_ - start, positions.count - at);
    for (std::int64_t oc = 0; oc < group_depth; ++oc) {
      const Stored* const plane = images_.out_backprop + (image * depth + first_oc + oc) * image_positions_;
      Widen(plane + start, copy + oc * positions.count + at, count);
    }
    at += count;
  }
  return {copy, positions.count, false};
}

template class OperandTiles<float>;
template class OperandTiles<double>;
template class OperandTiles<Float16>;
template class OperandTiles<BFloat16>;

}  // namespace wgrad::optimized
