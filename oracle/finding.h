// Turns exact facts about a wrong element into the values that a report shows. May include: core, reference, oracle.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "oracle/bound.h"
#include "oracle/verdict.h"

namespace wgrad::oracle {

/// Everything of a finding but its place.
ElementFinding MakeFinding(const ElementFacts& facts, const AllowedSet& allowed, std::uint64_t actual_bits,
                           DType dtype);

/// Where the wrong elements lie, if they keep to a part of some axis: "all wrong elements have kh = 2". Counts are of
/// wrong elements by kh, kw, ic, oc.
std::string DescribePattern(const Problem& problem, const std::array<std::vector<std::int64_t>, 4>& wrong_by_axis,
                            std::int64_t wrong);

}  // namespace wgrad::oracle
