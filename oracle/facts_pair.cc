#include "oracle/facts_pair.h"

#include <algorithm>

namespace wgrad::oracle {

void PairSummer::Open(SumStore& store, std::int64_t i, const PairPlan& plan, int shift) const {
  store.SetExponent(i, shift + (plan.wide ? plan.limb_exponent() : plan.unit));
  if (plan.wide) store.Widen(i, planner_.LimbsFor(plan));
}

void PairSummer::AddRows(SumStore& store, std::int64_t i, const PairPlan& plan, std::span<const double> x,
                         const double* y) const {
  if (plan.route == Route::kKernel) {
    double sums[2 * (kMostLevels + 1)];
    const Kernels& kernels = *limits_.kernels;
    const DotKernel kernel = plan.two_product ? kernels.two_product[plan.levels] : kernels.exact[plan.levels];
    const Planner::Grids grids = planner_.GridsOf(plan);
    kernel(x.data(), y, std::ssize(x), grids.sigma.data(), sums);
    AddLevels(store, i, plan, grids, sums);
  } else {
    AddIntegers(store, i, plan, x, y);
  }
}

void PairSummer::AddIntegers(SumStore& store, std::int64_t i, const PairPlan& plan, std::span<const double> x,
                             const double* y) {
  if (!plan.wide) {
    for (std::size_t at = 0; at < x.size(); ++at) {
      if (x[at] == 0 || y[at] == 0) continue;
      AddProduct(store, i, plan, Multiply(Decompose(x[at]), Decompose(y[at])));
    }
    return;
  }
  // Signs are as good as random: they choose an address, not a branch.
  std::uint64_t* by_sign[2] = {store.sum_limbs(i).data(), store.abs_sum_limbs(i).data()};
  const int lowest = plan.limb_exponent();
  if (plan.two_product) {
    for (std::size_t at = 0; at < x.size(); ++at) {
      const ExactProduct product = Multiply(Decompose(x[at]), Decompose(y[at]));
      if (product.magnitude == 0) continue;
      AddMagnitude(by_sign[product.negative ? 1 : 0], product.magnitude, product.exponent - lowest);
    }
    return;
  }
  for (std::size_t at = 0; at < x.size(); ++at) {
    const Significand product = Decompose(x[at] * y[at]);
    if (product.significand == 0) continue;
    AddMagnitude(by_sign[product.negative ? 1 : 0], product.significand, product.exponent - lowest);
  }
}

// The sums of a level are whole numbers of its grid, below 2^53 of it.
void PairSummer::AddLevels(SumStore& store, std::int64_t i, const PairPlan& plan, const Planner::Grids& grids,
                           const double* sums) {
  const std::size_t levels = plan.levels;
  const auto whole = [&](std::size_t level, double sum) {
    return static_cast<std::int64_t>(sum * PowerOfTwo(-grids.exponent[level]));
  };
  if (plan.wide) {
    for (std::size_t level = 0; level <= levels; ++level) {
      const int offset = grids.exponent[level] - plan.limb_exponent();
      AddSigned(store.sum_limbs(i), whole(level, sums[level]), offset);
      AddSigned(store.abs_sum_limbs(i), whole(level, sums[levels + 1 + level]), offset);
    }
    return;
  }
  SumStore::Pair total = store.narrow(i);
  for (std::size_t level = 0; level <= levels; ++level) {
    const int shift = grids.exponent[level] - plan.unit;
    total.sum += Int128{whole(level, sums[level])} << shift;
    total.abs_sum += Int128{whole(level, sums[levels + 1 + level])} << shift;
  }
  store.narrow(i) = total;
}

Dyadic SumOfSquares(const Planes& planes, std::int64_t c) {
  const PairSummer summer(planes.length(), RouteLimits{});
  const PairPlan plan = summer.Plan(planes.scan(c), planes.scan(c), false);
  if (plan.route == Route::kNothing) return {};
  SumStore store(1);
  summer.Open(store, 0, plan, 2 * planes.shift(c));
  for (std::int64_t begin = 0; begin < planes.length(); begin += kChunk) {
    const std::int64_t length = std::min(kChunk, PaddedLength(planes.length() - begin));
    const double* row = planes.row(c) + begin;
    summer.AddRows(store, 0, plan, {row, static_cast<std::size_t>(length)}, row);
  }
  PairSummer::Close(store, 0, plan);
  return store.exact_sum(0);
}

}  // namespace wgrad::oracle
