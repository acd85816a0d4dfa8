// Whether a run fits into this machine's memory, asked before anything is allocated.
#pragma once

#include <span>
#include <string>

#include "core/problem.h"
#include "core/result.h"

namespace wgrad::cli {

/// Bytes that one case of `problem` occupies at its peak: the tensors, the candidate's guarded copies, the oracle's
/// own copies in double precision, and a candidate's workspace of one unrolled image. A double, since it may be huge.
double EstimatedBytes(const Problem& problem);

/// "1.5 GiB" and the like.
std::string FormatBytes(double bytes);

/// kTooLarge where the `jobs` largest of `problems` together need more than is available.
Status CheckMemory(std::span<const Problem> problems, int jobs);

}  // namespace wgrad::cli
