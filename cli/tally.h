// From the verdicts of a run to the numbers that its report leads with.
#pragma once

#include <set>
#include <string>

#include "cli/exit_code.h"
#include "cli/known_failures.h"
#include "report/report.h"

namespace wgrad::cli {

/// Whether the case's own text is covered by a pattern of the failures that are known.
bool IsKnown(const KnownFailures& known, const oracle::CaseVerdict& verdict);

/// Fills counts, grades, known_cases and known_passing of `candidate` from its verdicts.
void Tally(report::CandidateReport& candidate, const KnownFailures& known);

/// 1 over 3 over 0.
ExitCode ExitCodeOf(const report::Counts& counts);

}  // namespace wgrad::cli
