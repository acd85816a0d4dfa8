// The fillings F1 to F15: input data chosen and scaled from the problem, so that faults cannot hide. docs/fillings.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/tensor.h"

namespace wgrad::oracle {

/// The data of one call.
struct Run {
  std::string label;  // what this run shows, e.g. "one-hot sweep 3 of 64"; empty for a filling of one run
  Tensor input;
  Tensor out_backprop;
};

/// How the result bits of run `run` must relate to those of run 0, wherever the candidate is deterministic and nothing
/// overflows or underflows: result(run) = factor * result(0), factor a signed power of two.
struct BitRelation {
  int run;
  double factor;
};

/// The runs of a case. Data depend on (problem, filling, seed, index) alone: bit-identical on every machine.
class FilledCase {
 public:
  explicit FilledCase(const Case& c);
  int run_count() const { return run_count_; }
  Run MakeRun(int run) const;
  /// Non-empty for `symmetry` only.
  const std::vector<BitRelation>& relations() const { return relations_; }

 private:
  Case case_;
  int run_count_ = 1;
  std::vector<BitRelation> relations_;
};

/// For a `coded` case: the flat offset of the input element whose code, times +-1, is `value`; nothing where none is.
/// `run` is the run the value came from.
std::optional<std::int64_t> DecodeInputOffset(const Case& coded, int run, double value);

struct BatteryOptions {
  bool deterministic = false;  // the candidate declares it: adds symmetry
};
/// The fillings that say something about `problem`, in the order they are run. `coded` is not among them: it is run
/// when something failed, to name the element read.
std::vector<Filling> Battery(const Problem& problem, BatteryOptions options);

/// One line about a filling, for `wgrad list fillings`.
std::string_view DescriptionOf(Filling filling);

}  // namespace wgrad::oracle
