// What a run found beyond passes: failures, deaths, refusals, cases that compared nothing, advisories. Not installed.
#pragma once

#include <string>

#include "report/report.h"

namespace wgrad::report::internal {

/// Failed cases whole up to options.max_failures, the rest by problem; then died and rejected ones by reason.
std::string FailuresText(const CheckReport& report, const CandidateReport& candidate, const TextOptions& options);

/// Unsupported and blind cases by reason; cases known to fail; patterns of --known that pass; advisories by kind.
std::string RemarksText(const CandidateReport& candidate, const TextOptions& options);

}  // namespace wgrad::report::internal
