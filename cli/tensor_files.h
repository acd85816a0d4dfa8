// Tensors in NumPy files, as options of the commands that take them.
#pragma once

#include <optional>
#include <string>

#include "core/case.h"
#include "core/result.h"
#include "core/tensor.h"

namespace CLI {
class App;
}  // namespace CLI

namespace wgrad::cli {

/// A required option whose value is the path of a NumPy file.
void AddTensorOption(CLI::App& command, const std::string& name, std::string& path, const std::string& description);

/// The dtypes that the words of a command ask for; nothing: whatever the files hold.
struct WantedDTypes {
  std::optional<DType> operands;
  std::optional<DType> result;
};
/// Out of a problem's text and a DTYPE word, each possibly empty; the latter wins. Errors: those of the two texts.
Result<WantedDTypes> ReadWantedDTypes(const std::string& problem, const std::string& dtype);

/// `wanted` settles what 16-bit unsigned data mean: bfloat16, which NumPy does not have.
Result<Tensor> ReadTensor(const std::string& path, std::optional<DType> wanted);
Status WriteTensor(const std::string& path, const Tensor& tensor);

}  // namespace wgrad::cli
