// The options of `wgrad judge` that say which problem a result belongs to: its text, or the arguments beside the
// shapes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/problem.h"
#include "core/result.h"

namespace CLI {
class App;
}  // namespace CLI

namespace wgrad::cli {

struct ProblemWords {
  std::string problem;
  std::vector<std::int64_t> strides;    // rows, columns
  std::string padding;                  // same, valid or T,B,L,R
  std::vector<std::int64_t> dilations;  // rows, columns
  std::string data_format = "NHWC";
  std::string dtype;  // a DTYPE word; empty: that of the files
};
void AddProblemOptions(CLI::App& command, ProblemWords& words);

/// The three tensors as their files hold them; nothing in the place of one that is not there.
struct GivenTensors {
  const Tensor& input;
  const Tensor& out_backprop;
  const Tensor& actual;
  ResultLayout actual_layout = ResultLayout::kHwio;
};

/// The problem of the words, or derived from them and the shapes. Errors: a malformed text, words that contradict each
/// other, arguments that the operator refuses.
Result<Problem> FindProblem(const ProblemWords& words, const GivenTensors& tensors);

/// Errors: a dtype or shape that is not the one `what` ("input", ..) has in `problem`.
Status CheckTensor(const Problem& problem, const std::string& what, const Tensor& tensor, DType dtype,
                   const std::vector<std::int64_t>& shape);

}  // namespace wgrad::cli
