// Problems that are plainer than a given one: the steps that shrinking tries.
#pragma once

#include <functional>
#include <vector>

#include "core/problem.h"

namespace wgrad::fuzz {

/// Problems one step closer to a single product, the boldest steps first: a field at its plainest, then halved, then
/// one less. Each differs from `problem`; a chain of such steps ends. Dtypes are kept.
std::vector<Problem> PlainerProblems(const Problem& problem);

/// The plainest problem that is reached from `problem` by steps after which `fails` still holds, and by stopping where
/// `fails` says that there is no time left (it then answers no). Requires that `fails(problem)` held.
Problem ShrinkProblem(const Problem& problem, const std::function<bool(const Problem&)>& fails);

}  // namespace wgrad::fuzz
