// A failure as a file of test vectors: saved when it is found, completed when it is shrunk, run again later.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuzz/shrink.h"
#include "vectors/vector_file.h"

namespace wgrad::fuzz {

/// Who found what.
struct FindingOrigin {
  std::string generator;  // "wgrad 0.1.0"
  std::string candidate;  // as the user names it
};

/// The failing case alone, or with what it shrank to.
vectors::VectorFile FindingFile(const FindingOrigin& origin, const oracle::CaseVerdict& failure, const Shrunk* shrunk);

/// "n2_.._f32_int_a_17.json".
std::string FindingFileName(const Case& c);

/// A test's verdict: every run of its recipe, or its one call.
oracle::CaseVerdict RunTest(const Problem& problem, const vectors::Test& test, Probe& probe);

}  // namespace wgrad::fuzz
