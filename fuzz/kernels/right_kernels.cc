#include "fuzz/kernels/right_kernels.h"

#include <algorithm>
#include <utility>

#include "fuzz/kernels/right/methods.h"

namespace wgrad::fuzz {
namespace {

const std::vector<Method>& Methods() {
  static const std::vector<Method> methods = [] {
    std::vector<Method> all;
    for (const auto theme : {OrderMethods, TreeMethods, CompensatedMethods, FormatMethods, HardwareMethods,
                             PolicyMethods, LoopMethods, WinogradMethods, FftMethods, StrassenMethods}) {
      for (Method& method : theme()) all.push_back(std::move(method));
    }
    return all;
  }();
  return methods;
}

}  // namespace

const std::vector<RightKernel>& RightKernels() {
  static const std::vector<RightKernel> kernels = [] {
    std::vector<RightKernel> all;
    for (const Method& method : Methods()) all.push_back(method.kernel);
    return all;
  }();
  return kernels;
}

std::unique_ptr<Candidate> MakeRightKernel(std::string_view name) {
  const std::vector<Method>& methods = Methods();
  const auto found =
      std::find_if(methods.begin(), methods.end(), [&](const Method& method) { return method.kernel.name == name; });
  if (found == methods.end()) return nullptr;
  Greeting greeting{.name = "right:" + found->kernel.name, .version = "1"};
  greeting.capabilities = found->kernel.capabilities;
  greeting.declaration = found->kernel.declaration;
  greeting.validates = true;
  return MakeInProcessCandidate(std::move(greeting), found->compute);
}

}  // namespace wgrad::fuzz
