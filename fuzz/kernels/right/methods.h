// Method: a right kernel with its code. One function for each theme; right_kernels.cc alone calls them.
#pragma once

#include <string>
#include <vector>

#include "core/guarded_call.h"
#include "fuzz/kernels/right_kernels.h"

namespace wgrad::fuzz {

struct Method {
  RightKernel kernel;
  RawKernel compute;
};

/// What a kernel promises by the dtype of its result, as --class takes it. Empty: it does not compute that dtype.
struct Classes {
  std::string own;              // results of the accumulator's format: float32 and float64
  std::string narrow = "wide";  // half and bfloat16, from a float32 accumulator
  bool float64 = true;          // whether float64 is among them
  bool mixed = true;            // float32 results of narrow inputs, under `own`
};

/// A kernel of those dtypes and classes that is deterministic and leaves padding out.
RightKernel Described(const std::string& name, const std::string& description, const Classes& classes);

std::vector<Method> OrderMethods();        // one accumulator, in several orders
std::vector<Method> TreeMethods();         // partial sums
std::vector<Method> CompensatedMethods();  // more digits than the result has
std::vector<Method> FormatMethods();       // other formats for factors and sums
std::vector<Method> HardwareMethods();     // arithmetic of dot-product units
std::vector<Method> PolicyMethods();       // what IEEE 754 and the operator leave open
std::vector<Method> LoopMethods();         // other loops around the same sums
std::vector<Method> WinogradMethods();
std::vector<Method> FftMethods();
std::vector<Method> StrassenMethods();

}  // namespace wgrad::fuzz
