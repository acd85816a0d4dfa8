#include "optimized/work_plan.h"

#include <algorithm>

namespace wgrad::optimized {
namespace {

// A tile and the filter columns that it is multiplied with share a second-level cache of 512 KiB or more.
constexpr std::int64_t kTileBytes = 384 << 10;
// Narrower blocks read out_backprop too often, wider ones make tiles of too few positions.
constexpr std::int64_t kBlockColumns = 448;
// Enough for the threads of a usual machine to find work, and partial results that stay small.
constexpr std::int64_t kUnitsWanted = 8;
constexpr std::int64_t kPartialBytes = 16 << 20;
constexpr std::int64_t kLeastPositionsOfPart = 64;
// Below about a million operations a second partial result costs more than it brings.
constexpr std::int64_t kSmallMultiplyAdds = 500'000;

constexpr std::int64_t CeilDiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

// Counts that divide evenly among two, four or eight threads.
std::int64_t BlockCount(std::int64_t columns) {
  const std::int64_t fitting = columns / kBlockColumns;
  if (fitting >= kUnitsWanted) return fitting / kUnitsWanted * kUnitsWanted;
  std::int64_t count = 1;
  while (count * 2 <= fitting) count *= 2;
  return count;
}

std::int64_t PartCount(const Problem& problem, std::int64_t units, std::int64_t element_size) {
  if (problem.multiply_adds() < kSmallMultiplyAdds) return 1;
  const std::int64_t wanted = CeilDiv(kUnitsWanted, units);
  const std::int64_t fitting = kPartialBytes / (problem.filter_count() * element_size);
  return std::max<std::int64_t>(1, std::min({wanted, fitting, problem.positions() / kLeastPositionsOfPart}));
}

}  // namespace

WorkPlan::WorkPlan(const Problem& problem, DataFormat format, std::int64_t element_size)
    : groups_(problem.groups()),
      positions_(problem.positions()),
      image_(format == DataFormat::kNchw ? problem.rows().output * problem.columns().output : 0),
      columns_(problem.rows().filter * problem.columns().filter * problem.filter_depth()) {
  blocks_ = BlockCount(columns_);
  parts_ = PartCount(problem, groups_ * blocks_, element_size);
  const std::int64_t row_bytes = CeilDiv(columns_, blocks_) * element_size;
  tile_length_ = std::max<std::int64_t>(16, kTileBytes / row_bytes);
}

WorkUnit WorkPlan::unit(std::int64_t index) const {
  WorkUnit unit;
  unit.part = index % parts_;
  const std::int64_t block = index / parts_ % blocks_;
  unit.columns.group = index / parts_ / blocks_;
  unit.columns.first = columns_ * block / blocks_;
  unit.columns.count = columns_ * (block + 1) / blocks_ - unit.columns.first;
  // Quotient and remainder, because positions * parts may leave 63 bits where nothing else does.
  const auto cut = [&](std::int64_t part) { return positions_ / parts_ * part + positions_ % parts_ * part / parts_; };
  unit.positions.first = cut(unit.part);
  unit.positions.count = cut(unit.part + 1) - unit.positions.first;
  return unit;
}

PositionRange WorkPlan::NextTile(PositionRange rest) const {
  std::int64_t count = std::min(tile_length_, rest.count);
  if (image_ != 0) {
    const std::int64_t left_in_image = image_ - rest.first % image_;
    if (left_in_image < count && left_in_image * 2 >= tile_length_) count = left_in_image;
  }
  return {rest.first, count};
}

}  // namespace wgrad::optimized
