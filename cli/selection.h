// Which problems and which fillings a command runs, out of the words of its options.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/case.h"
#include "core/op_arguments.h"
#include "core/problem.h"
#include "core/result.h"

namespace wgrad::cli {

/// A DTYPE word. Errors: kNotFound with the nearest one.
Result<DTypePair> ParseDTypeTag(std::string_view tag);

struct Selection {
  std::vector<std::string> suites;    // none given: smoke, unless there are problems
  std::vector<std::string> problems;  // texts
  std::string dtype;                  // every problem in this one; empty: each in its own
  std::int64_t batch = 1;             // every batch times this
};

struct Selected {
  std::vector<Problem> problems;    // in the order of the words, each once
  std::vector<ArgumentCase> calls;  // where the suite of wrong arguments is among the words
};
/// Errors: unknown names, malformed texts, sizes that overflow.
Result<Selected> Select(const Selection& selection);

/// Errors: a name that is no filling, or one given twice.
Result<std::vector<Filling>> ParseFillings(const std::vector<std::string>& names);

/// A decimal number below 2^64, digits only.
Result<std::uint64_t> ParseSeed(const std::string& text);

}  // namespace wgrad::cli
