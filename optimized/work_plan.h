// WorkPlan: how a problem is cut into pieces of work. It depends on the problem alone, never on the number of threads,
// and with it the order of every sum.
#pragma once

#include <cstdint>

#include "core/problem.h"

namespace wgrad::optimized {

/// Columns [first, first + count) of a group's column matrix; column (kh * KW + kw) * filter_depth + ic.
struct ColumnBlock {
  std::int64_t group = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Output positions (n * OH + oh) * OW + ow.
struct PositionRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// One piece of work: the sum over `positions` of the filter elements of `columns`, added up in partial result `part`.
struct WorkUnit {
  ColumnBlock columns;
  PositionRange positions;
  std::int64_t part = 0;
};

class WorkPlan {
 public:
  /// For images in memory in `format`; `element_size` in bytes is that of the working precision.
  WorkPlan(const Problem& problem, DataFormat format, std::int64_t element_size);

  /// Partial results, each of the filter's size: positions are cut into so many ranges.
  std::int64_t parts() const { return parts_; }
  std::int64_t unit_count() const { return groups_ * blocks_ * parts_; }
  WorkUnit unit(std::int64_t index) const;
  /// The next tile of `rest`, from its start: so many positions that their columns stay in cache, and in NCHW rather
  /// less than that than a little of another image.
  PositionRange NextTile(PositionRange rest) const;

 private:
  std::int64_t groups_;
  std::int64_t positions_;
  std::int64_t image_;        // positions of an NCHW image; 0 in NHWC, where images lie next to each other
  std::int64_t columns_;      // of a group
  std::int64_t blocks_;       // column blocks of a group
  std::int64_t parts_;        // ranges of positions
  std::int64_t tile_length_;  // positions
};

}  // namespace wgrad::optimized
