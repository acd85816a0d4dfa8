// Draw: a stream of random choices. A function of its seed alone, the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "core/random.h"
#include "fuzz/space.h"

namespace wgrad::fuzz {

template <typename T>
struct Weighted {
  int weight;
  T value;
};

class Draw {
 public:
  Draw(std::uint64_t seed, std::int64_t max_size) : seed_(seed), max_size_(max_size) {}

  /// In [low, high]; `low` where that is empty.
  std::int64_t Between(std::int64_t low, std::int64_t high) {
    if (high <= low) return low;
    return low + static_cast<std::int64_t>(SplitMix64(seed_, drawn_++) % static_cast<std::uint64_t>(high - low + 1));
  }
  bool OneIn(int n) { return Between(1, n) == 1; }
  template <typename T>
  const T& Of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(Between(0, static_cast<std::int64_t>(values.size()) - 1))];
  }
  /// Each as often as its weight says.
  template <typename T, std::size_t kCount>
  T Of(const Weighted<T> (&choices)[kCount]) {
    std::int64_t total = 0;
    for (const Weighted<T>& choice : choices) total += choice.weight;
    std::int64_t at = Between(1, total);
    for (const Weighted<T>& choice : choices) {
      if (at <= choice.weight) return choice.value;
      at -= choice.weight;
    }
    return choices[0].value;
  }

  std::int64_t Small();    // 1 to 7, weight on 1, 2, 3
  std::int64_t Awkward();  // around block sizes from 4 to 128, and primes; within the limit of sizes
  std::int64_t Step();     // a stride or dilation above 1

 private:
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
  std::int64_t max_size_;
};

}  // namespace wgrad::fuzz
