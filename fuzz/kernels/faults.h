// The faults by family: each a WrongKernel and the recipe that makes it so.
#pragma once

#include <vector>

#include "fuzz/kernels/recipe.h"
#include "fuzz/kernels/wrong_kernels.h"

namespace wgrad::fuzz {

struct Fault {
  WrongKernel kernel;
  Recipe recipe;
};

std::vector<Fault> PaddingFaults();    // padding, stride, dilation: the geometry of an axis
std::vector<Fault> PlacementFaults();  // orders, layouts and groups: where an element is read or written
std::vector<Fault> CountingFaults();   // batches, tails, shortcuts: which terms are summed
std::vector<Fault> NumericFaults();    // roundings and special values
std::vector<Fault> MemoryFaults();     // buffers and state
std::vector<Fault> LostTermFaults();   // single terms

}  // namespace wgrad::fuzz
