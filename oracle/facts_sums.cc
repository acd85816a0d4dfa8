#include "oracle/facts_sums.h"

namespace wgrad::oracle {

void SumStore::Widen(std::int64_t i, std::size_t limbs) {
  wides_.resize(sums_.size());
  wides_[static_cast<std::size_t>(i)] = {pool_.size(), limbs};
  pool_.resize(pool_.size() + 2 * limbs);
}

Dyadic SumStore::exact_sum(std::int64_t i) const {
  return is_wide(i) ? ToDyadic(LimbsOf(i, 0), exponent(i))
                    : ToDyadic(sums_[static_cast<std::size_t>(i)].sum, exponent(i));
}

Dyadic SumStore::exact_abs_sum(std::int64_t i) const {
  return is_wide(i) ? ToDyadic(LimbsOf(i, 1), exponent(i))
                    : ToDyadic(sums_[static_cast<std::size_t>(i)].abs_sum, exponent(i));
}

}  // namespace wgrad::oracle
