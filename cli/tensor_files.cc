#include "cli/tensor_files.h"

#include <CLI/CLI.hpp>

#include "cli/selection.h"
#include "io/npy.h"

namespace wgrad::cli {

void AddTensorOption(CLI::App& command, const std::string& name, std::string& path, const std::string& description) {
  command.add_option(name, path, description)->type_name("FILE.npy")->group("Tensors")->required();
}

Result<WantedDTypes> ReadWantedDTypes(const std::string& problem, const std::string& dtype) {
  WantedDTypes wanted;
  if (!problem.empty()) {
    const Result<Problem> parsed = ParseProblem(problem);
    if (!parsed.ok()) return parsed.error();
    wanted = {parsed->dtype(), parsed->result_dtype()};
  }
  if (!dtype.empty()) {
    const Result<DTypePair> parsed = ParseDTypeTag(dtype);
    if (!parsed.ok()) return parsed.error();
    wanted = {parsed->dtype, parsed->result_dtype};
  }
  return wanted;
}

Result<Tensor> ReadTensor(const std::string& path, std::optional<DType> wanted) { return io::ReadNpy(path, wanted); }

Status WriteTensor(const std::string& path, const Tensor& tensor) { return io::WriteNpy(path, tensor); }

}  // namespace wgrad::cli
