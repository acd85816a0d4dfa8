// Looks for state that a candidate's process keeps where it should not, or memory that it reads before it writes it.
#pragma once

#include <vector>

#include "cli/registry.h"
#include "oracle/verdict.h"

namespace wgrad::cli {

/// Makes the first call of every verdict that kept its result again, under two values of MALLOC_PERTURB_, the first few
/// also in a process that has done nothing else; what differs is added to the verdict. Drops the kept results.
void CompareProcesses(const OpenedCandidate& candidate, std::vector<oracle::CaseVerdict>& verdicts);

}  // namespace wgrad::cli
