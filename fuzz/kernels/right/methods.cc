#include "fuzz/kernels/right/methods.h"

#include <utility>

namespace wgrad::fuzz {

RightKernel Described(const std::string& name, const std::string& description, const Classes& classes) {
  std::map<std::string, std::string> promises;
  const auto promise = [&promises](const std::string& tag, const std::string& text) {
    if (!text.empty()) promises[tag] = text;
  };
  promise("f32", classes.own);
  if (classes.float64) promise("f64", classes.own);
  if (classes.mixed) promise("f16_f32", classes.own);
  if (classes.mixed) promise("bf16_f32", classes.own);
  promise("f16", classes.narrow);
  promise("bf16", classes.narrow);

  RightKernel kernel{.name = name, .description = description};
  kernel.capabilities.dtypes.clear();
  for (const auto& [tag, text] : promises) kernel.capabilities.dtypes.insert(tag);
  kernel.declaration.accuracy_class = std::move(promises);
  kernel.declaration.pad = "skip";
  kernel.declaration.deterministic = true;
  return kernel;
}

}  // namespace wgrad::fuzz
