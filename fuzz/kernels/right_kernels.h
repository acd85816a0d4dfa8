// Kernels that are right and yet differ: orders of summation, formats, transforms and policies of real implementations.
// What a test oracle must not accuse. Each declares the class and the policies that it deserves.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"

namespace wgrad::fuzz {

/// One right kernel, as a listing shows it.
struct RightKernel {
  std::string name;         // "pairwise"
  std::string description;  // how it computes, in a sentence
  Capabilities capabilities = {};
  Declaration declaration = {};
};

/// All of them. docs/right-kernels.md.
const std::vector<RightKernel>& RightKernels();

/// The right kernel of that name as a candidate "right:NAME". Null where there is none of that name. Those of a special
/// shape answer kUnsupported outside it.
std::unique_ptr<Candidate> MakeRightKernel(std::string_view name);

}  // namespace wgrad::fuzz
