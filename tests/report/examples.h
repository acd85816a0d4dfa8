// Hand-made reports for the tests of report/: nothing here was computed by the oracle.
#pragma once

#include <string_view>

#include "report/report.h"

namespace wgrad::report {

/// A passing case with numbers of its own.
oracle::CaseVerdict PassingCase(std::string_view text);
/// Twelve wrong elements, two of them shown, all at kh = 2.
oracle::CaseVerdict FailingCase(std::string_view text);
/// Unsupported, rejected, died or blind.
oracle::CaseVerdict OtherCase(std::string_view text, oracle::Outcome outcome, std::string_view reason);

/// A run of `candidate` with these verdicts, counted, in an environment that is the same everywhere.
CheckReport ReportOf(std::string_view candidate, std::vector<oracle::CaseVerdict> verdicts);

}  // namespace wgrad::report
