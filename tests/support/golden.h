// Calls of conv2d_backprop_filter whose answers were recorded from TensorFlow (tests/data/tensorflow/README.md).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/op_arguments.h"
#include "core/result.h"
#include "core/tensor.h"

namespace wgrad {

struct GoldenCall {
  std::string id;
  /// As the caller gave them, raw or in the wrapper's form (padding as pairs).
  OpArguments arguments;
  /// Why OpArguments cannot say this call (a type that only Python lets through, another op); empty for most.
  /// Where it is not, `arguments` are incomplete.
  std::string beyond_arguments;
  Tensor input;
  Tensor out_backprop;
  /// By route ("cpu", "onednn", "xla", "cpu-graph", "onednn-graph"): kResult, kRejected with TensorFlow's error, or
  /// kDied with the signal. exact.jsonl has no results beside `exact`.
  std::map<std::string, Answer> results;
  std::optional<Tensor> exact;        // the one right result, where there is one
  std::vector<std::string> agree;     // the routes that gave `exact`
  std::vector<std::string> unstable;  // the routes whose second answer differed from the first
};

/// The calls of one .jsonl file. Errors: kNotFound; kBadFile with the line that is damaged.
Result<std::vector<GoldenCall>> ReadGoldenCalls(const std::string& path);

}  // namespace wgrad
