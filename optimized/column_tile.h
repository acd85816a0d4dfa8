// ColumnTile: the columns of some output positions, i.e. for each position the input elements that the filter's taps
// meet there, with zeros for padding. Only a tile of the column matrix exists at a time.
#pragma once

#include <cstdint>
#include <vector>

#include "core/problem.h"
#include "optimized/convert.h"
#include "optimized/gemm.h"
#include "optimized/work_plan.h"

namespace wgrad::optimized {

/// The tensors of a problem in memory, perhaps in another format than the problem's own.
template <typename Stored>
struct Images {
  const Stored* input = nullptr;
  const Stored* out_backprop = nullptr;
  DataFormat format = DataFormat::kNhwc;
};

/// Both operands of the product in tiles: columns of input and rows of out_backprop, of one group's column block.
/// Position-major where images are NHWC, channel-major where they are NCHW. Where the tensor itself has the right form,
/// the operand points into it and nothing is copied; else the operand lies in this object's memory, until the next
/// call. `Stored` is float, double, Float16 or BFloat16.
template <typename Stored>
class OperandTiles {
 public:
  using Real = Working<Stored>;

  /// Binds to a problem and its tensors, which must outlive the calls below.
  void Bind(const Problem& problem, const Images<Stored>& images);
  void SelectColumns(const ColumnBlock& columns);

  Operand<Real> Columns(PositionRange positions);
  Operand<Real> OutBackprop(PositionRange positions);

 private:
  // Consecutive columns that are consecutive in an NHWC image too: channels of one tap, or of all taps of a filter row
  // where these are neighbours. Elements [first, last) of `taps` taps times all channels between taps.
  struct Run {
    std::int64_t row_offset;     // kh * dilation - pad
    std::int64_t column_offset;  // kw * dilation - pad
    std::int64_t taps;
    std::int64_t first;
    std::int64_t last;
  };

  void SelectRuns();
  void FillPositionMajor(PositionRange positions, Real* tile);
  void FillPosition(std::int64_t n, std::int64_t oh, std::int64_t ow, Real* to);
  void FillChannelMajor(PositionRange positions, Real* tile);
  bool InOneImage(PositionRange positions) const;

  const Problem* problem_ = nullptr;
  Images<Stored> images_;
  std::int64_t image_positions_ = 0;  // OH * OW
  bool pointwise_ = false;            // the column matrix is the input itself
  ColumnBlock columns_;
  std::vector<Run> runs_;
  std::vector<Real> tile_;
  std::vector<Real> rows_;
};

}  // namespace wgrad::optimized
