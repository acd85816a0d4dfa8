// What a kernel's /proc/cpuinfo says of the processor. Not installed.
#pragma once

#include <string>
#include <string_view>

namespace wgrad::report::internal {

struct CpuInfo {
  std::string processor;         // "unknown" where the text has no name
  std::string instruction_sets;  // those that matter to floating-point kernels, separated by blanks
};
CpuInfo ParseCpuInfo(std::string_view text);

}  // namespace wgrad::report::internal
