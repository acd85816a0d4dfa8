// The text of one case: what went wrong, where, by how much, and how to see it again. Not installed.
#pragma once

#include <string>

#include "oracle/verdict.h"
#include "report/words.h"

namespace wgrad::report::internal {

/// Headline, rule, worst elements, histogram, judging, replay. Ends with a line feed.
std::string CaseText(const oracle::CaseVerdict& verdict, const std::string& replay, const Paint& paint);

/// What a candidate said beyond its message, its last lines.
std::string DetailLines(const oracle::CaseVerdict& verdict);

/// One line each: "DIED n2_.._f32/normal/1: killed by signal 11", with the outcome's word in its colour.
std::string CaseLine(const oracle::CaseVerdict& verdict, const Paint& paint);

/// error / bound over the elements, one column a power of two, the bound marked; empty where nothing was finite.
std::string HistogramLine(const oracle::Statistics& statistics, const Paint& paint);

}  // namespace wgrad::report::internal
