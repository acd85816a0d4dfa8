// Test vectors: calls with their data and their right results, as values and as JSON. docs/vectors.md.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/case.h"
#include "core/problem.h"
#include "core/result.h"
#include "core/tensor.h"

namespace wgrad::vectors {

inline constexpr std::string_view kSchema = "wgrad_vectors";
inline constexpr std::int64_t kVersion = 0;  // of the format, which is still growing
inline constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;

/// What a flag that tests carry means.
struct Note {
  std::string flag;
  std::string meaning;
};

/// The data of a test, bit for bit.
struct Data {
  Tensor input;
  Tensor out_backprop;
};

/// One call. Its data are a recipe (a filling and a seed, every run of which is meant), or given in full.
struct Test {
  std::string id;       // unique in its file
  std::string comment;  // for people
  std::vector<std::string> flags = {};
  std::optional<Case> recipe = {};
  std::optional<Data> data = {};
  std::optional<Tensor> expected = {};  // beside `data`: the correctly rounded result, HWIO
};

/// The tests of one problem.
struct Group {
  Problem problem;
  std::vector<Test> tests;
};

struct VectorFile {
  std::string generator;    // "wgrad 0.1.0"
  std::string description;  // one line
  std::vector<Note> notes = {};
  std::vector<Group> groups = {};

  std::size_t test_count() const;
};

/// JSON text; the same bytes for the same value.
std::string Format(const VectorFile& file);

/// Errors: kBadText with the JSON pointer, what stands there and the rule; another schema or version is named.
Result<VectorFile> Parse(std::string_view text);

}  // namespace wgrad::vectors
