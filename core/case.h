// Problem and case as text: one line, [A-Za-z0-9_] only, exact round trip. docs/spec.md, rules T1 to T3.
//
//   PROBLEM := n<N>_i<H>x<W>_c<C>_k<KH>x<KW>_o<OC>[_s<SH>x<SW>][_d<DH>x<DW>][_g<G>]_PADDING[_nchw]_DTYPE
//   PADDING := same | valid | pt<T>b<B>l<L>r<R>
//   DTYPE   := f16 | bf16 | f32 | f64 | f16_f32 | bf16_f32
//   CASE    := PROBLEM/FILLING/SEED
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/problem.h"
#include "core/result.h"

namespace wgrad {

/// Named recipes for input data (docs/fillings.md). The names in texts are in NameOf.
enum class Filling : std::uint8_t {
  kIntA,
  kIntO,
  kOneHot,
  kCoded,
  kNormal,
  kPositive,
  kStair,
  kCancel,
  kWide,
  kTiny,
  kHuge,
  kSpecial,
  kLocal,
  kSymmetry,
  kPartition,
};
inline constexpr int kFillingCount = 15;

std::string_view NameOf(Filling filling);
std::optional<Filling> FillingFromName(std::string_view name);

/// A problem, the recipe of its data, and the seed: everything that a run depends on.
struct Case {
  Problem problem;
  Filling filling;
  std::uint64_t seed = 1;

  friend bool operator==(const Case&, const Case&) = default;
};

/// "f16_f32" and the like: the dtype of inputs, and of the result where it differs.
std::string DTypeTag(const Problem& problem);

/// The two dtypes of a DTYPE word ("bf16", "bf16_f32").
struct DTypePair {
  DType dtype;
  DType result_dtype;
  friend bool operator==(const DTypePair&, const DTypePair&) = default;
};
std::optional<DTypePair> DTypePairFromTag(std::string_view tag);

/// The canonical text; defaults are left out.
std::string Format(const Problem& problem);
std::string Format(const Case& c);

/// Inverse of Format; a default written out (_s1x1, _d1x1, _g1) is read too. Errors: kBadText with the
/// 1-based character at which the text stops being one, or Validate's own kInvalidArgument.
Result<Problem> ParseProblem(std::string_view text);
Result<Case> ParseCase(std::string_view text);

}  // namespace wgrad
