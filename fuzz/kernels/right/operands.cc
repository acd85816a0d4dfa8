#include "fuzz/kernels/right/operands.h"

#include "fuzz/kernels/recipe.h"

namespace wgrad::fuzz {

std::vector<double> Decoded(DType dtype, const void* buffer, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t at = 0; at < count; ++at) {
    values[static_cast<std::size_t>(at)] = DecodeBits(dtype, LoadBits(dtype, buffer, at));
  }
  return values;
}

void StoreNearest(const Problem& problem, const Sums& sums, void* result) {
  const DType dtype = problem.result_dtype();
  for (std::size_t at = 0; at < sums.size(); ++at) {
    StoreBits(dtype, result, static_cast<std::int64_t>(at), EncodeNearest(dtype, sums[at]));
  }
}

}  // namespace wgrad::fuzz
