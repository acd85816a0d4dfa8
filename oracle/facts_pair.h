// PairSummer: adds products of two rows into an element's exact sums, by the route of the pair's plan.
#pragma once

#include <cstdint>

#include "oracle/facts_plan.h"
#include "oracle/facts_sums.h"

namespace wgrad::oracle {

class PairSummer {
 public:
  /// For rows of `positions` values in all.
  PairSummer(std::int64_t positions, const RouteLimits& limits) : limits_(limits), planner_(positions, limits) {}

  PairPlan Plan(const RowScan& input, const RowScan& out_backprop, bool sparse) const {
    return planner_.Plan(input, out_backprop, sparse);
  }
  /// Makes room for element i, whose sums are to be multiplied with 2^shift.
  void Open(SumStore& store, std::int64_t i, const PairPlan& plan, int shift) const;
  /// Adds n <= kChunk products. Requires n to be a multiple of kRowStep, and route kKernel or kIntegers.
  void AddRows(SumStore& store, std::int64_t i, const PairPlan& plan, std::span<const double> x, const double* y) const;
  /// Adds one product to an element of route kSparse or kIntegers.
  static void AddProduct(SumStore& store, std::int64_t i, const PairPlan& plan, const ExactProduct& product) {
    if (plan.wide) {
      const Limbs limbs = product.negative ? store.abs_sum_limbs(i) : store.sum_limbs(i);
      AddMagnitude(limbs.data(), product.magnitude, product.exponent - plan.limb_exponent());
      return;
    }
    const Int128 value = InUnits(product, plan.unit);
    SumStore::Pair& sums = store.narrow(i);
    sums.sum += value;
    sums.abs_sum += value < 0 ? -value : value;
  }
  /// To be called once all products are in.
  static void Close(SumStore& store, std::int64_t i, const PairPlan& plan) {
    if (KeepsSignsApart(plan)) ToSumAndAbsSum(store.sum_limbs(i), store.abs_sum_limbs(i));
  }
  /// Products of significands go into P and N until Close: so limbs do not change sign back and forth.
  static bool KeepsSignsApart(const PairPlan& plan) { return plan.wide && plan.route != Route::kKernel; }

 private:
  static void AddIntegers(SumStore& store, std::int64_t i, const PairPlan& plan, std::span<const double> x,
                          const double* y);
  static void AddLevels(SumStore& store, std::int64_t i, const PairPlan& plan, const Planner::Grids& grids,
                        const double* sums);

  RouteLimits limits_;
  Planner planner_;
};

/// Exact sum of the squares of channel c's finite values.
Dyadic SumOfSquares(const Planes& planes, std::int64_t c);

}  // namespace wgrad::oracle
