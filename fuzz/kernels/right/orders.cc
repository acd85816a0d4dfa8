// One accumulator and every term added to it, in several orders.
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/random.h"
#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/terms.h"

namespace wgrad::fuzz {
namespace {

template <typename Real>
Real SumPermuted(const Dot<Real>& dot, const std::vector<std::size_t>& order) {
  Real sum = 0;
  for (const std::size_t at : order) sum += dot.terms[at].x * dot.terms[at].dy;
  return sum;
}

// Fisher and Yates, the same permutation for every sum of that length.
std::vector<std::size_t> Shuffled(std::size_t count) {
  std::vector<std::size_t> order(count);
  for (std::size_t at = 0; at < count; ++at) order[at] = at;
  for (std::size_t at = count; at > 1; --at) std::swap(order[at - 1], order[SplitMix64(count, at) % at]);
  return order;
}

// ow, oh, n: the images innermost, as in layouts that keep the batch last.
std::vector<std::size_t> ImagesInnermost(std::size_t count, std::size_t batch) {
  std::vector<std::size_t> order;
  const std::size_t pixels = batch == 0 ? 0 : count / batch;
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::size_t n = 0; n < batch; ++n) order.push_back(n * pixels + pixel);
  }
  return order;
}

template <typename Real>
Real SumImagesApart(const Dot<Real>& dot) {
  const std::vector<Real> products = ProductsOf(dot);
  const std::size_t images = static_cast<std::size_t>(dot.problem.batch());
  const std::size_t pixels = images == 0 ? 0 : products.size() / images;
  Real sum = 0;
  for (std::size_t n = 0; n < images; ++n) sum += SumInOrder(std::span(products).subspan(n * pixels, pixels));
  return sum;
}

template <typename Real>
Real SumSmallestFirst(const Dot<Real>& dot) {
  std::vector<Real> products = ProductsOf(dot);
  // NaN has no place in an order; wherever it stands the sum is NaN.
  for (const Real product : products) {
    if (std::isnan(product)) return product;
  }
  std::stable_sort(products.begin(), products.end(), [](Real a, Real b) { return std::fabs(a) < std::fabs(b); });
  return SumInOrder(std::span<const Real>(products));
}

}  // namespace

std::vector<Method> OrderMethods() {
  const Classes classes{.own = "order"};
  return {
      {Described("forward", "term by term in the order n, oh, ow", classes),
       SumKernel(
           []<typename Real>(const Dot<Real>& dot) { return SumInOrder(std::span<const Real>(ProductsOf(dot))); })},
      {Described("reverse", "term by term from the last to the first", classes),
       SumKernel([]<typename Real>(const Dot<Real>& dot) {
         std::vector<Real> products = ProductsOf(dot);
         std::reverse(products.begin(), products.end());
         return SumInOrder(std::span<const Real>(products));
       })},
      {Described("shuffled", "term by term in a random order", classes),
       SumKernel([](const auto& dot) { return SumPermuted(dot, Shuffled(dot.terms.size())); })},
      {Described("images_innermost", "term by term in the order oh, ow, n, as where the batch comes last", classes),
       SumKernel([](const auto& dot) {
         return SumPermuted(dot, ImagesInnermost(dot.terms.size(), static_cast<std::size_t>(dot.problem.batch())));
       })},
      {Described("smallest_first", "term by term from the smallest magnitude to the largest", classes),
       SumKernel([](const auto& dot) { return SumSmallestFirst(dot); })},
      {Described("images_apart", "each image by itself, then their sums", classes),
       SumKernel([](const auto& dot) { return SumImagesApart(dot); })},
      {Described("fma", "term by term by fused multiply-add", classes),
       SumKernel([]<typename Real>(const Dot<Real>& dot) {
         Real sum = 0;
         for (const Term<Real>& term : dot.terms) sum = std::fma(term.x, term.dy, sum);
         return sum;
       })},
  };
}

}  // namespace wgrad::fuzz
