// Integers small enough that every sum of a filter gradient is exact, whatever the order, under a given accuracy class.
#pragma once

#include <cstdint>

#include "core/problem.h"
#include "core/random.h"
#include "core/tensor.h"
#include "oracle/accuracy_class.h"
#include "oracle/bound.h"

namespace wgrad::fuzz {

/// Whole numbers drawn one after the other from a seed.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  /// In [0, count). Requires count >= 1.
  std::int64_t Below(std::int64_t count);

 private:
  std::uint64_t seed_;
  std::uint64_t index_ = 0;
};

struct Operands {
  Tensor input;
  Tensor out_backprop;
};

/// How large integers may be.
struct IntegerPlan {
  std::int64_t limit = 1;  // of the sum of |products| of an element
  std::int64_t input_max = 1;
  std::int64_t out_backprop_max = 1;
  std::int64_t kept = 0;  // positions per out channel whose out_backprop is not zero
};

/// `results_too`: the results themselves are numbers of the result's dtype, so that they can be added up. Without it
/// they may still be rounded, once and in one way, where the class's store is to nearest.
IntegerPlan PlanIntegers(const Problem& problem, const oracle::ClassBound& bound, bool results_too);

/// Non-zero integers, but for positions of out_backprop beyond plan.kept.
Operands DrawIntegers(const Problem& problem, const IntegerPlan& plan, std::uint64_t seed);

/// Whether `bound` makes every sum of up to `kept` products of these operands exact.
bool SumsAreExact(oracle::ClassBound& bound, const Operands& operands, std::int64_t kept);

}  // namespace wgrad::fuzz
