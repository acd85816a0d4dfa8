// RapidCheck generators over the operator's whole argument space, for wgrad's own runs and for a user's own properties:
//
//   rc::check([] { const wgrad::Problem problem = *wgrad::fuzz::ArbitraryProblem(space); .. });
#pragma once

#include <rapidcheck.h>

#include "core/problem.h"
#include "fuzz/space.h"

namespace wgrad::fuzz {

/// Half of the problems are drawn freely, with weight on 0, 1, 2, block tails and primes; the other half are steered
/// into one of the regions of fuzz/regions.h. They shrink towards the plainest problem. Requires a space of MakeSpace,
/// which is never empty.
rc::Gen<Problem> ArbitraryProblem(const Space& space);

}  // namespace wgrad::fuzz
