// Plan: by which exact route the products of two rows are summed, chosen from the ranges of the rows alone.
#pragma once

#include <array>
#include <cstdint>

#include "oracle/facts_kernels.h"
#include "oracle/facts_planes.h"
#include "oracle/superaccumulator.h"

namespace wgrad::oracle {

inline constexpr std::int64_t kChunk = 1024;  // positions that a kernel sums before its sums become integers

enum class Route : std::uint8_t {
  kNothing,   // one of the rows is zero throughout
  kSparse,    // integers, over the non-zero values of out_backprop only
  kKernel,    // vectorised extraction, or plain sums where even those are exact
  kIntegers,  // products of significands: any finite data
};

/// What the planner may use. The defaults are what pays; tests narrow them to force each route.
struct RouteLimits {
  const Kernels* kernels = &BestKernels();
  int most_levels = kMostLevels;   // of extraction; -1 forbids kernels
  int narrow_bits = 126;           // sums above this width, sign included, go into limbs
  std::int64_t sparse_share = 16;  // a row is sparse with one non-zero in so many; 0 forbids
};

/// Sums of the pair are whole numbers of 2^unit, products are below 2^top, both of the shifted rows.
struct PairPlan {
  Route route = Route::kNothing;
  bool two_product = false;  // products are not exact in double
  bool wide = false;         // sums need limbs
  std::uint8_t levels = 0;
  std::int16_t top = 0;
  std::int16_t unit = 0;

  /// Exponent of the lowest bit of the limbs: below the unit, since significands carry trailing zeros.
  int limb_exponent() const { return unit - 104; }
};

/// ceil(log2 n), 0 where n < 1.
int CeilLog2(std::int64_t n);

/// A row of out_backprop that is summed over its non-zeros.
bool IsSparse(const RowScan& row, std::int64_t positions, const RouteLimits& limits);

class Planner {
 public:
  Planner(std::int64_t positions, const RouteLimits& limits);
  PairPlan Plan(const RowScan& input, const RowScan& out_backprop, bool sparse) const;
  std::size_t LimbsFor(const PairPlan& plan) const {
    return LimbCount(plan.top - plan.limb_exponent() + log_terms_ + 1);
  }

  /// The grids of plan's levels: multiples of 2^exponent[level], the last those of the unit.
  struct Grids {
    std::array<double, kMostLevels> sigma;
    std::array<int, kMostLevels + 1> exponent;
  };
  Grids GridsOf(const PairPlan& plan) const {
    Grids grids;
    const int per_level = 54 - LogChunk(plan.two_product);
    for (int level = 0; level < plan.levels; ++level) {
      const int exponent = plan.top - (level + 1) * per_level + 1;
      grids.exponent[static_cast<std::size_t>(level)] = exponent;
      grids.sigma[static_cast<std::size_t>(level)] = 1.5 * PowerOfTwo(exponent + 52);
    }
    grids.exponent[plan.levels] = plan.unit;
    return grids;
  }

 private:
  // Sums of 2^log_chunk numbers of a level stay below 2^53 of its grid; a level so takes 54 - log_chunk bits off.
  int LogChunk(bool two_product) const { return log_chunk_ + (two_product ? 1 : 0); }

  RouteLimits limits_;
  int log_terms_;
  int log_chunk_;
};

}  // namespace wgrad::oracle
