// The pass rules in common use, as their users would have applied them to a result: what they accept and what they
// refuse, beside a verdict by error bounds. They decide nothing. docs/classic-rules.md.
#pragma once

#include <string>
#include <vector>

#include "core/problem.h"
#include "core/tensor.h"

namespace wgrad::fuzz {

/// One rule over a whole result.
struct ClassicRule {
  std::string name;    // "numpy_allclose"
  std::string source;  // who compares so, and where it is written down
  /// Whether the rule accepts `actual`. Both tensors are [kh, kw, ic, oc] in the problem's result dtype. `expected` is
  /// the exact result, correctly rounded: no reference that a user has could be better. Elements are compared in
  /// double, except where the rule itself names float32.
  bool (*passes)(const Problem& problem, const Tensor& actual, const Tensor& expected);
};

/// All of them, in the order of docs/classic-rules.md.
const std::vector<ClassicRule>& ClassicRules();
/// That of this name. Null where there is none.
const ClassicRule* FindClassicRule(const std::string& name);

}  // namespace wgrad::fuzz
