// CaseSource: the random cases of a run. Case i depends on (space, seed, i) alone.
#pragma once

#include <cstdint>
#include <memory>

#include "core/case.h"
#include "fuzz/space.h"

namespace wgrad::fuzz {

class CaseSource {
 public:
  struct Options {
    std::uint64_t seed = 1;
    bool deterministic = false;  // the candidate declares it: `symmetry` is drawn too
  };
  CaseSource(const Space& space, Options options);
  ~CaseSource();

  /// Case `index` of the run, thread-safe: a problem of fuzz/arbitrary_problem.h, a filling that says something about
  /// it, and a seed for its data.
  Case Draw(std::uint64_t index) const;

 private:
  struct Generator;
  std::unique_ptr<const Generator> generator_;
  Options options_;
};

}  // namespace wgrad::fuzz
