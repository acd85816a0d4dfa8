// What the candidates' tests share: small integer data, and plugins opened with the host of this build.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "candidates/plugin/plugin_candidate.h"
#include "core/candidate.h"
#include "core/case.h"
#include "core/random.h"
#include "core/tensor.h"
#include "reference/filter_gradient.h"

namespace wgrad::candidates {

inline Problem TheProblem(const std::string& text) { return ParseProblem(text).value(); }

/// Integers from -4 to 4: sums of some thousand products of them are exact in float32.
inline Tensor Integers(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const auto drawn = static_cast<std::int64_t>(SplitMix64(seed, static_cast<std::uint64_t>(i)) % 9);
    tensor.set_value(i, static_cast<double>(drawn - 4));
  }
  return tensor;
}

struct Data {
  Tensor input;
  Tensor out_backprop;
  Tensor exact;
};

inline Data DataFor(const Problem& problem) {
  Data data{Integers(problem.dtype(), problem.input_shape(), 1),
            Integers(problem.dtype(), problem.out_backprop_shape(), 2), Tensor()};
  data.exact = reference::RoundedFilterGradient(problem, data.input, data.out_backprop);
  return data;
}

inline Answer Answered(Candidate& candidate, const Problem& problem) {
  const Data data = DataFor(problem);
  return candidate.FilterGradient(problem, data.input, data.out_backprop);
}

/// Elements in which the two differ, +0 and -0 counted as one value.
inline std::int64_t Differences(const Tensor& actual, const Tensor& exact) {
  std::int64_t differences = 0;
  for (std::int64_t i = 0; i < exact.element_count(); ++i) differences += !(actual.value(i) == exact.value(i));
  return differences;
}

/// Runs `problem`, expects a result equal to the exact one, and returns the number of elements compared.
inline std::int64_t ExpectExact(Candidate& candidate, const Problem& problem) {
  const Data data = DataFor(problem);
  const Answer answer = candidate.FilterGradient(problem, data.input, data.out_backprop);
  EXPECT_EQ(answer.kind, AnswerKind::kResult) << Format(problem) << ": " << answer.message;
  if (answer.kind != AnswerKind::kResult) return 0;
  EXPECT_EQ(answer.result.shape(), problem.filter_sizes());
  EXPECT_EQ(Differences(answer.result, data.exact), 0) << Format(problem);
  return answer.result.element_count();
}

/// With the plugin host of this build.
inline Result<OpenedVariants> Open(const std::string& path, const ProcessLimits& limits = {}) {
  setenv("WGRAD_PLUGIN_HOST", WGRAD_PLUGIN_HOST_PATH, 1);
  return OpenPlugin(path, limits);
}

inline std::string TestPlugin(const std::string& name) { return WGRAD_TEST_PLUGINS "/" + name + ".so"; }

}  // namespace wgrad::candidates
