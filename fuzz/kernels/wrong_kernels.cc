#include "fuzz/kernels/wrong_kernels.h"

#include <algorithm>
#include <utility>

#include "core/guarded_call.h"
#include "fuzz/kernels/faults.h"
#include "fuzz/kernels/unchecked.h"

namespace wgrad::fuzz {
namespace {

std::vector<Fault> AllFaults() {
  std::vector<Fault> all = {{{"none", "", "nothing: the control of all others", ""}, {}}};
  for (const auto family :
       {PaddingFaults, PlacementFaults, CountingFaults, NumericFaults, MemoryFaults, LostTermFaults}) {
    for (Fault& fault : family()) all.push_back(std::move(fault));
  }
  return all;
}

const std::vector<Fault>& Faults() {
  static const std::vector<Fault> faults = AllFaults();
  return faults;
}

}  // namespace

const std::vector<WrongKernel>& WrongKernels() {
  static const std::vector<WrongKernel> kernels = [] {
    std::vector<WrongKernel> all;
    for (const Fault& fault : Faults()) all.push_back(fault.kernel);
    for (WrongKernel& kernel : UncheckedKernels()) all.push_back(std::move(kernel));
    return all;
  }();
  return kernels;
}

std::unique_ptr<Candidate> MakeWrongKernel(std::string_view name) {
  Greeting greeting{.name = "mutant:" + std::string(name), .version = "1"};
  greeting.declaration.deterministic = true;
  greeting.validates = true;
  const std::vector<Fault>& faults = Faults();
  const auto found =
      std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) { return fault.kernel.name == name; });
  if (found == faults.end()) return MakeUncheckedKernel(name, std::move(greeting));
  return MakeInProcessCandidate(std::move(greeting), KernelOf(found->recipe));
}

}  // namespace wgrad::fuzz
