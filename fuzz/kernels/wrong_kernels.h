// Kernels that are wrong on purpose, each by one fault that a real implementation once had: what a test oracle must
// catch. And their control, the same loops without a fault.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/candidate.h"
#include "core/dtype.h"

namespace wgrad::fuzz {

enum class FaultFamily {
  kControl,     // no fault at all
  kStructural,  // an index, an extent, a factor
  kNumeric,     // a rounding, a special value
  kMemory,      // buffers and state
  kLostTerm,    // a term, an image, an update
  kArguments,   // no fault but a rule of the operator that is not checked
};

/// Where a wrong kernel must fail: a fault of rounding is one in some dtypes and under some classes only.
struct Setting {
  std::optional<DType> dtype = {};  // of operands and result; nothing: as the suite has them
  std::string class_text = {};      // empty: the default
};

/// One wrong kernel, as a listing shows it.
struct WrongKernel {
  std::string name;         // "dilation_ignored"
  std::string id;           // short form, "D1"; empty for those without one
  std::string description;  // the fault in a sentence
  std::string source;       // where it was reported; empty where it is our own
  FaultFamily family = FaultFamily::kControl;
  std::vector<Setting> fails_in = {{}};  // the suite `traps` must kill it in each, by itself
};

/// All of them, the control "none" first.
const std::vector<WrongKernel>& WrongKernels();

/// The wrong kernel of that name as a candidate "mutant:NAME" that claims every capability, no accuracy class, and
/// determinism. Null where there is none of that name.
std::unique_ptr<Candidate> MakeWrongKernel(std::string_view name);

}  // namespace wgrad::fuzz
