// Verdict: what the oracle says of one case, as a plain value.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/op_arguments.h"
#include "core/tensor.h"
#include "oracle/accuracy_class.h"

namespace wgrad::oracle {

enum class Outcome : std::uint8_t {
  kPass,
  kFail,         // a result outside its allowed set, untouched or overrun memory, changed inputs, an error answer
  kUnsupported,  // outside the candidate's capabilities, or it said so
  kRejected,     // refused although its capabilities cover the problem
  kDied,         // signal, exit, time or memory limit, broken protocol
  kBlind,        // inside, but this data could not have shown a lost term
};
std::string_view NameOf(Outcome outcome);  // pass fail unsupported rejected died blind
bool IsWrong(Outcome outcome);             // fail, rejected or died

/// One element of filter_backprop, as a report shows it.
struct ElementFinding {
  std::array<std::int64_t, 4> index{};  // kh, kw, ic, oc
  int run = 0;
  std::string run_label;
  std::uint64_t actual_bits = 0;  // in the result's dtype
  std::uint64_t exact_bits = 0;   // correctly rounded
  std::string actual_decimal;
  std::string exact_decimal;  // 20 significant digits, or nan, +inf, -inf
  std::string error_decimal;  // |actual - exact|; empty where one of them is not finite
  std::string bound_decimal;  // the permitted error, rounded up
  double bound_ratio = 0;     // error / bound; infinite where the bound is 0 or the value not finite
  double ulps = 0;            // error in units of the last place of the exact value
  double condition = 0;       // sum of |terms| / |sum|
  std::int64_t terms = 0;     // non-zero products
  bool wrong = false;
  std::string rule;     // why it is wrong: "outside the bound of order:f32", "NaN swallowed", ...
  std::string allowed;  // the allowed set in words: "[1.5, 1.75]", "NaN", "+Inf or NaN"
  std::string read;     // from the coded run: which input element stands in this place; else empty
};

/// Numbers over all elements of a case. Ratios are for information; no verdict rests on them.
struct Statistics {
  std::int64_t elements = 0;  // judged, over all runs
  std::int64_t forced = 0;    // of them without a non-zero term: must be zero
  std::int64_t finite = 0;    // with a finite exact and actual value
  std::int64_t correctly_rounded = 0;
  double max_ulp = 0, mean_ulp = 0, rms_ulp = 0, p50_ulp = 0, p90_ulp = 0, p99_ulp = 0;
  double max_bound_ratio = 0;       // error / bound under the judging class
  double max_k_a = 0;               // error / (u_out * (sum of |terms| + n * smallest normal number))
  double max_k_n = 0;               // error / (u_out * norm(input channel) * norm(out_backprop channel))
  double effective_bits = 0;        // -log2 of the largest error / sum of |terms|
  std::int64_t achieved_depth = 0;  // least D whose D roundings in the result's format cover every error
  std::int64_t max_terms = 0;
  std::int64_t above = 0, below = 0;  // signs of (actual - exact) * sign(exact)
  double bias_z = 0;                  // (above - below) / sqrt(above + below)
  std::int64_t terms = 0;             // non-zero terms over all elements
  std::int64_t covered_terms = 0;     // of them those whose loss is certain to be seen under the judging class
  bool vacuous = false;               // some element has n*u >= 1: its worst-case bound says little
  std::array<std::int64_t, 24> ulp_histogram{};    // bin i: log2(ulp error) in [i - 8, i - 7); zeros in no bin
  std::array<std::int64_t, 24> ratio_histogram{};  // bin i: log2(error / bound) in [i - 20, i - 19)

  double coverage() const { return terms == 0 ? 0.0 : static_cast<double>(covered_terms) / static_cast<double>(terms); }
};

/// The parameter-free classes from best to worst that still hold, one bit each; ladder of docs/classes.md.
struct GradeSet {
  std::uint32_t alive = ~std::uint32_t{0};
  void And(const GradeSet& other) { alive &= other.alive; }
};
/// Name of the best class alive in `grades` for problems of this dtype pair, or nothing.
std::optional<std::string> BestGrade(const GradeSet& grades, DTypePair dtypes);

/// The same call made again, as oracle/repeat.h does it.
struct Repeats {
  int compared = 0;
  int differing = 0;
  bool elsewhere = false;  // whether the case went wrong in another process alone
};

struct CaseVerdict {
  std::optional<Case> c;  // nothing for data of the user's own, and for wrong arguments
  std::optional<Problem> problem;
  std::optional<ArgumentCase> call;  // of the suite of wrong arguments
  Outcome outcome = Outcome::kPass;
  std::string reason;  // one sentence for everything but a pass
  std::string detail;  // more lines of the candidate's, such as a stack trace
  Judging judging;
  int runs = 0;
  std::int64_t wrong_elements = 0;
  std::vector<ElementFinding> worst;  // at most five wrong ones, by error / bound
  std::string pattern;                // where the wrong elements lie: "all wrong elements have kh = 2"; or empty
  Statistics statistics;
  GradeSet grades;
  Repeats repeats;
  std::optional<Tensor> first_result;   // of the case's first run, where it was asked for
  std::vector<std::string> advisories;  // findings that never decide: outlier, bias, structure, repeatability
  double seconds = 0;
};

/// "n2_.._f32/normal/1", "arguments/strides_0"; for a user's own data the problem alone.
std::string CaseName(const CaseVerdict& verdict);
std::string CaseName(const ArgumentCase& call);

}  // namespace wgrad::oracle
