// SumStore: the exact S and A of a block's elements: 128-bit integers where they suffice, limbs where not.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/superaccumulator.h"

namespace wgrad::oracle {

class SumStore {
 public:
  explicit SumStore(std::int64_t elements)
      : sums_(static_cast<std::size_t>(elements)), exponents_(static_cast<std::size_t>(elements)) {}

  struct Pair {
    Int128 sum = 0;
    Int128 abs_sum = 0;
  };
  /// Element i counts in units of 2^exponent.
  void SetExponent(std::int64_t i, int exponent) { exponents_[static_cast<std::size_t>(i)] = exponent; }
  Pair& narrow(std::int64_t i) { return sums_[static_cast<std::size_t>(i)]; }
  /// Element i keeps its sums in limbs. No element may be widened once limbs have been taken.
  void Widen(std::int64_t i, std::size_t limbs);
  Limbs sum_limbs(std::int64_t i) { return LimbsOf(i, 0); }
  Limbs abs_sum_limbs(std::int64_t i) { return LimbsOf(i, 1); }

  DoubleDouble sum(std::int64_t i) const {
    return is_wide(i) ? WideDoubleDouble(i, 0) : ToDoubleDouble(sums_[static_cast<std::size_t>(i)].sum, exponent(i));
  }
  DoubleDouble abs_sum(std::int64_t i) const {
    return is_wide(i) ? WideDoubleDouble(i, 1)
                      : ToDoubleDouble(sums_[static_cast<std::size_t>(i)].abs_sum, exponent(i));
  }
  Dyadic exact_sum(std::int64_t i) const;
  Dyadic exact_abs_sum(std::int64_t i) const;

  static constexpr std::size_t kBytesPerElement = sizeof(Pair) + sizeof(int);

 private:
  struct Wide {
    std::size_t at = 0;
    std::size_t limbs = 0;  // of each sum; 0 where the element is narrow
  };
  int exponent(std::int64_t i) const { return exponents_[static_cast<std::size_t>(i)]; }
  bool is_wide(std::int64_t i) const { return !wides_.empty() && wides_[static_cast<std::size_t>(i)].limbs > 0; }
  Limbs LimbsOf(std::int64_t i, std::size_t which) {
    const Wide& wide = wides_[static_cast<std::size_t>(i)];
    return {pool_.data() + wide.at + which * wide.limbs, wide.limbs};
  }
  ConstLimbs LimbsOf(std::int64_t i, std::size_t which) const {
    const Wide& wide = wides_[static_cast<std::size_t>(i)];
    return {pool_.data() + wide.at + which * wide.limbs, wide.limbs};
  }
  DoubleDouble WideDoubleDouble(std::int64_t i, std::size_t which) const {
    return ToDoubleDouble(LimbsOf(i, which), exponent(i));
  }

  std::vector<Pair> sums_;
  std::vector<int> exponents_;
  std::vector<Wide> wides_;  // empty while every element is narrow
  std::vector<std::uint64_t> pool_;
};

}  // namespace wgrad::oracle
