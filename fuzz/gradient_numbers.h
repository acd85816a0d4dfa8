// Exact vectors and the data of gradient checks. Part of fuzz/gradient_check.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fuzz/gradient_check.h"
#include "fuzz/relations/exact_data.h"
#include "fuzz/relations/relation.h"

namespace wgrad::fuzz {

std::vector<oracle::Rational> StepSizes();
oracle::Rational Dot(const Numbers& a, const Numbers& b);
/// a + factor * b
Numbers Along(const Numbers& a, const oracle::Rational& factor, const Numbers& b);

/// Non-zero integers of magnitude up to 1000.
Numbers DrawFilter(std::int64_t count, std::uint64_t seed);
/// Two tensors that lie on a line with `end`, at equal distances, of integers no larger than those of `end`.
std::pair<Tensor, Tensor> PointsBefore(const Tensor& end, std::uint64_t seed);

Element ElementAt(const Problem& problem, std::int64_t at);
/// An integer or a fraction such as 1/3 where that is short, else the nearest double.
std::string Text(const oracle::Rational& value);

}  // namespace wgrad::fuzz
