// Examine: a case, a candidate, a verdict. The whole oracle behind one function.
#pragma once

#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/op_arguments.h"
#include "oracle/fillings.h"
#include "oracle/verdict.h"

namespace wgrad::oracle {

/// Fills the case, runs the candidate on every run, sums exactly and judges each element. The first run is called once
/// more at the end, and its bits compared. A capability that does not cover the problem gives kUnsupported without a
/// call.
CaseVerdict Examine(const Case& c, Candidate& candidate, const Judging& judging, bool keep_first_result = false);

/// Makes a call that breaks a rule: passes where the candidate refuses it, fails where it returns numbers or gives up.
/// Requires that Validate refuses the arguments.
CaseVerdict ExamineArguments(const ArgumentCase& call, Candidate& candidate);

/// Judges a result computed elsewhere. `actual` is HWIO in the problem's result dtype.
CaseVerdict JudgeResult(const Problem& problem, const Tensor& input, const Tensor& out_backprop, const Tensor& actual,
                        const Judging& judging);

/// The cases of a problem under its battery, and `coded` after a failure. For users of the library and for the program.
struct BatteryVerdict {
  std::vector<CaseVerdict> cases;
  bool passed() const;  // at least one case passed, none failed, was rejected or died
};
BatteryVerdict ExamineBattery(const Problem& problem, Candidate& candidate, const JudgingChoice& choice,
                              std::uint64_t seed = 1);

}  // namespace wgrad::oracle
