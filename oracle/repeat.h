// The same call again: in the same process, in a fresh one, with memory that holds something else. Bits are compared; a
// difference decides only where determinism is declared, or where a result is outside its allowed set.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/candidate.h"
#include "oracle/verdict.h"

namespace wgrad::oracle {

/// In how many elements two results of one call differ. Two NaNs are the same, whatever their bits.
struct BitDifference {
  std::int64_t elements = 0;
  double max_ulps = 0;  // steps between neighbouring values of the dtype; infinite where one is NaN
};
/// Requires equal dtypes and shapes.
BitDifference CompareBits(const Tensor& first, const Tensor& again);
/// "3 of 36 elements differ, by up to 2 ulp".
std::string Format(const BitDifference& difference, const Tensor& result);

/// Adds a difference to the verdict: an advisory, and a failure where determinism is declared.
void AddDifference(const std::string& where, const BitDifference& difference, const Tensor& result,
                   CaseVerdict& verdict);

/// Another instance of a candidate, and how it differs: "in a fresh process", "under MALLOC_PERTURB_=128".
struct Instance {
  std::string where;
  Candidate* candidate;
};

/// Makes the first call of `verdict`'s case with other instances and compares their bits with verdict.first_result,
/// which must be there. What differs is added to the verdict.
void CompareInstances(std::span<const Instance> instances, CaseVerdict& verdict);

}  // namespace wgrad::oracle
