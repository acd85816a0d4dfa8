// Partial sums, and how they meet.
#include <algorithm>
#include <cmath>

#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/terms.h"

namespace wgrad::fuzz {
namespace {

template <typename Real>
Real Pairwise(std::span<const Real> values) {
  if (values.empty()) return 0;
  if (values.size() == 1) return values[0];
  const std::size_t half = (values.size() + 1) / 2;
  return Pairwise(values.first(half)) + Pairwise(values.subspan(half));
}

template <typename Real>
Real Blocked(std::span<const Real> values, std::size_t block) {
  Real sum = 0;
  for (std::size_t at = 0; at < values.size(); at += block) {
    sum += SumInOrder(values.subspan(at, std::min(block, values.size() - at)));
  }
  return sum;
}

// Lane l takes every `lanes`-th term from l on by fused multiply-add, as a vector register does.
template <typename Real>
Real Lanes(std::span<const Term<Real>> terms, std::size_t lanes) {
  std::vector<Real> sums(lanes, Real{0});
  for (std::size_t at = 0; at < terms.size(); ++at) {
    Real& lane = sums[at % lanes];
    lane = std::fma(terms[at].x, terms[at].dy, lane);
  }
  return Pairwise(std::span<const Real>(sums));
}

// Contiguous parts, each kept in the result's format, and so is every sum of them.
template <typename Real>
double Split(const Dot<Real>& dot, std::size_t splits) {
  const DType dtype = dot.problem.result_dtype();
  const auto keep = [dtype](double value) { return DecodeBits(dtype, EncodeNearest(dtype, value)); };
  const std::vector<Real> products = ProductsOf(dot);
  const std::size_t part = (products.size() + splits - 1) / splits;
  double sum = 0;
  for (std::size_t at = 0; at < products.size(); at += part) {
    const std::size_t count = std::min(part, products.size() - at);
    const double partial = keep(static_cast<double>(SumInOrder(std::span(products).subspan(at, count))));
    // Working precision first, then the result's: for every format here the same as rounding once.
    sum = keep(static_cast<double>(static_cast<Real>(sum) + static_cast<Real>(partial)));
  }
  return sum;
}

}  // namespace

std::vector<Method> TreeMethods() {
  return {
      {Described("pairwise", "halves, halves of halves, down to single products", {.own = "depth:tree"}),
       SumKernel([]<typename Real>(const Dot<Real>& dot) { return Pairwise(std::span<const Real>(ProductsOf(dot))); })},
      {Described("blocked_64", "blocks of 64 terms, then their sums", {.own = "depth:blocked64"}),
       SumKernel(
           []<typename Real>(const Dot<Real>& dot) { return Blocked(std::span<const Real>(ProductsOf(dot)), 64); })},
      {Described("lanes_16", "16 interleaved sums by fused multiply-add, then pairwise", {.own = "depth:lanes16"}),
       SumKernel([](const auto& dot) { return Lanes(dot.terms, 16); })},
      {Described("split_8", "eight parts, each kept in the result's format", {.own = "split:8", .narrow = "split:8"}),
       SumKernel([](const auto& dot) { return Split(dot, 8); })},
  };
}

}  // namespace wgrad::fuzz
