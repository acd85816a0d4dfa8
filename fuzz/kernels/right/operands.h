// Operands: the two tensors of a call in working precision, which is float, or double for float64.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/guarded_call.h"
#include "core/problem.h"

namespace wgrad::fuzz {

template <typename Real>
struct Operands {
  using Value = Real;

  const Problem& problem;
  std::vector<Real> input;  // both row-major in the problem's layout
  std::vector<Real> out_backprop;

  bool Inside(std::int64_t ih, std::int64_t iw) const {
    return ih >= 0 && ih < problem.rows().input && iw >= 0 && iw < problem.columns().input;
  }
  /// Zero in the padding.
  Real Input(std::int64_t n, std::int64_t ih, std::int64_t iw, std::int64_t c) const {
    return Inside(ih, iw) ? input[static_cast<std::size_t>(problem.InputOffset(n, ih, iw, c))] : Real{0};
  }
  Real OutBackprop(std::int64_t n, std::int64_t oh, std::int64_t ow, std::int64_t oc) const {
    return out_backprop[static_cast<std::size_t>(problem.OutBackpropOffset(n, oh, ow, oc))];
  }
};

/// The index in input's depth that filter depth `ic` means for output `oc`.
inline std::int64_t InputChannelOf(const Problem& problem, std::int64_t ic, std::int64_t oc) {
  return oc / problem.out_depth_per_group() * problem.filter_depth() + ic;
}

/// filter_backprop before it is stored: the accumulators' values, [kh, kw, ic, oc].
using Sums = std::vector<double>;

/// All elements of `buffer` in working precision.
std::vector<double> Decoded(DType dtype, const void* buffer, std::int64_t count);
/// Rounds each sum to the nearest value of the result's dtype.
void StoreNearest(const Problem& problem, const Sums& sums, void* result);

template <typename Real>
Operands<Real> Load(const Problem& problem, const void* input, const void* out_backprop) {
  const auto load = [&](const void* buffer, std::int64_t count) {
    const std::vector<double> values = Decoded(problem.dtype(), buffer, count);
    return std::vector<Real>(values.begin(), values.end());
  };
  return {problem, load(input, problem.input_count()), load(out_backprop, problem.out_backprop_count())};
}

/// A kernel out of `compute(const Operands<Real>&, Sums&) -> KernelStatus` for Real float and double. Sums start at 0.
template <typename Compute>
RawKernel WorkingKernel(Compute compute) {
  return [compute](const Problem& problem, const void* input, const void* out_backprop, void* result) {
    Sums sums(static_cast<std::size_t>(problem.filter_count()));
    const KernelStatus status = problem.dtype() == DType::kFloat64
                                    ? compute(Load<double>(problem, input, out_backprop), sums)
                                    : compute(Load<float>(problem, input, out_backprop), sums);
    if (status.kind == AnswerKind::kResult) StoreNearest(problem, sums, result);
    return status;
  };
}

}  // namespace wgrad::fuzz
