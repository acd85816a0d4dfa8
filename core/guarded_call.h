// Calls a kernel on raw memory such that every way of misusing that memory shows.
#pragma once

#include <functional>
#include <string>

#include "core/candidate.h"

namespace wgrad {

/// What a raw kernel reports: kResult for success, or another kind with a message.
struct KernelStatus {
  AnswerKind kind = AnswerKind::kResult;
  std::string message = {};
};

/// Computes filter_backprop (in `layout` of the call) from row-major buffers of the problem's shapes.
using RawKernel =
    std::function<KernelStatus(const Problem& problem, const void* input, const void* out_backprop, void* result)>;

/// Runs `kernel` on copies of the inputs with NaN red zones around them, and a result buffer filled with
/// PoisonBits between two guard zones. A changed input, a broken guard zone: kError that says which.
/// Elements the kernel did not write stay PoisonBits, which the judge reports.
Answer RunGuarded(const Problem& problem, const Tensor& input, const Tensor& out_backprop, ResultLayout layout,
                  const RawKernel& kernel);

/// A Candidate out of a greeting and a kernel that runs in this process. Where the greeting says that it validates,
/// wrong arguments are refused by Validate.
std::unique_ptr<Candidate> MakeInProcessCandidate(Greeting greeting, RawKernel kernel,
                                                  ResultLayout layout = ResultLayout::kHwio);

}  // namespace wgrad
