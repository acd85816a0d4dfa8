// Kernels that compute rightly but let wrong arguments through: one for each rule of the operator. What the suite of
// wrong arguments must catch.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "fuzz/kernels/wrong_kernels.h"

namespace wgrad::fuzz {

/// "unchecked_V0" to "unchecked_V25". (V26 is about sizes that no call of ours could carry.)
std::vector<WrongKernel> UncheckedKernels();

/// Null where `name` is none of them.
std::unique_ptr<Candidate> MakeUncheckedKernel(std::string_view name, Greeting greeting);

}  // namespace wgrad::fuzz
