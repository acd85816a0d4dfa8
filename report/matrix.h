// One row for each candidate of a matrix, as words; the text table and the page show the same. Not installed.
#pragma once

#include <string>
#include <vector>

#include "report/report.h"

namespace wgrad::report::internal {

struct MatrixRow {
  const CandidateReport* candidate = nullptr;
  std::string version;
  std::string dtypes;   // that were compared
  std::string verdict;  // "pass", "fail", "nothing-compared"
  std::string grades;   // "f32 order, bf16 wide"
  std::string passed, failed, rejected, died;
  std::string unsupported;  // share of the cases
  std::string determinism;  // "same bits", "3 of 240 differ", "-"
  std::string rate;         // cases a second
  std::string remark;       // why nothing could be run, or empty
};

std::vector<MatrixRow> MatrixRows(const CheckReport& report);

}  // namespace wgrad::report::internal
