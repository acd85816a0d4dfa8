// Draw: a stream of values out of RapidCheck generators, one after another. May include: RapidCheck.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <vector>

#include "fuzz/space.h"

namespace wgrad::fuzz {

class Draw {
 public:
  Draw(const rc::Random& random, int size, std::int64_t max_size) : random_(random), size_(size), max_size_(max_size) {}

  template <typename T>
  T operator()(const rc::Gen<T>& generator) {
    return generator(random_.split(), size_).value();
  }

  /// In [low, high].
  std::int64_t Between(std::int64_t low, std::int64_t high);
  bool OneIn(int n) { return Between(1, n) == 1; }
  template <typename T>
  const T& Of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(Between(0, static_cast<std::int64_t>(values.size()) - 1))];
  }

  std::int64_t Small();    // 1 to 7, weight on 1, 2, 3
  std::int64_t Awkward();  // around block sizes from 4 to 128, and primes; within the limit of sizes
  std::int64_t Step();     // a stride or dilation above 1

 private:
  rc::Random random_;
  int size_;
  std::int64_t max_size_;
};

}  // namespace wgrad::fuzz
