// The optimized path: conv2d_backprop_filter through OpenBLAS, in the working precision of each dtype. Column tiles
// that stay in cache, times the matching rows of out_backprop. May include: core.
#pragma once

#include <memory>

#include "core/candidate.h"
#include "core/problem.h"
#include "core/result.h"

namespace wgrad::optimized {

struct Options {
  int threads = 1;  // 0: as many as the machine has
};

/// Buffers of the problem's shapes: input and out_backprop in its data format, filter_backprop in HWIO.
struct Buffers {
  const void* input = nullptr;
  const void* out_backprop = nullptr;
  void* filter_backprop = nullptr;  // overwritten, whatever it holds
};

/// Computes filter_backprop. Sums are kept in float64 for float64 and in float32 else, and rounded once to the result
/// dtype; padding counts as factors of 0. The same bits for any number of threads. Errors: kTooLarge where an extent
/// leaves OpenBLAS's integer.
Status FilterGradient(const Problem& problem, const Buffers& buffers, const Options& options);

/// `openblas` as a candidate. `threads` as in Options.
std::unique_ptr<Candidate> MakeOpenBlasCandidate(int threads);

}  // namespace wgrad::optimized
