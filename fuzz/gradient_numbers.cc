#include "fuzz/gradient_numbers.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "core/check.h"
#include "reference/exact_map.h"
#include "reference/filter_gradient.h"
#include "reference/forward.h"
#include "reference/input_gradient.h"

namespace wgrad::fuzz {
namespace {

using oracle::Rational;

Numbers FromMapElements(const std::vector<reference::MapElement<Rational>>& elements) {
  Numbers numbers;
  numbers.reserve(elements.size());
  for (const auto& element : elements) numbers.push_back(element.sum);
  return numbers;
}

}  // namespace

std::vector<Rational> StepSizes() {
  return {Rational(1), Rational(1) / 3, Rational(1'000'000), Rational(1) / (1 << 20)};
}

Rational Dot(const Numbers& a, const Numbers& b) {
  WGRAD_CHECK(a.size() == b.size(), "an inner product needs two of one size");
  Rational sum = 0;
  for (std::size_t at = 0; at < a.size(); ++at) sum += a[at] * b[at];
  return sum;
}

Numbers Along(const Numbers& a, const Rational& factor, const Numbers& b) {
  Numbers sum = a;
  for (std::size_t at = 0; at < sum.size(); ++at) sum[at] += factor * b[at];
  return sum;
}

Numbers DrawFilter(std::int64_t count, std::uint64_t seed) {
  constexpr std::int64_t kMost = 1000;
  Draws draws(seed);
  Numbers filter;
  for (std::int64_t at = 0; at < count; ++at) {
    const std::int64_t magnitude = 1 + draws.Below(kMost);
    filter.emplace_back(draws.Below(2) == 0 ? magnitude : -magnitude);
  }
  return filter;
}

std::pair<Tensor, Tensor> PointsBefore(const Tensor& end, std::uint64_t seed) {
  Tensor first = end, middle = end;
  Draws draws(seed);
  for (std::int64_t at = 0; at < end.element_count(); ++at) {
    const double value = end.value(at);
    const auto magnitude = static_cast<std::int64_t>(std::fabs(value));
    const auto start = static_cast<double>(magnitude - 2 * draws.Below(magnitude + 1));
    first.set_value(at, start);
    middle.set_value(at, (start + value) / 2);
  }
  return {std::move(first), std::move(middle)};
}

Element ElementAt(const Problem& problem, std::int64_t at) {
  Element element;
  element.oc = at % problem.out_depth();
  at /= problem.out_depth();
  element.ic = at % problem.filter_depth();
  at /= problem.filter_depth();
  element.kw = at % problem.columns().filter;
  element.kh = at / problem.columns().filter;
  return element;
}

std::string Text(const Rational& value) {
  constexpr std::size_t kLongest = 24;
  const double nearest = oracle::ToDouble(value);
  if (std::isinf(nearest)) return nearest > 0 ? "more than any double" : "less than any double";
  std::string text = value.str();
  const bool is_float = oracle::ToRational(Dyadic::FromDouble(nearest)) == value;
  if (text.size() <= kLongest && (!is_float || text.find('/') == std::string::npos)) return text;
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.17g", nearest);
  return buffer.data();
}

ExactMaps ReferenceMaps() {
  return {
      [](const Problem& problem, const Numbers& input, const Numbers& filter) {
        return FromMapElements(reference::Forward<Rational>(problem, input, filter));
      },
      [](const Problem& problem, const Numbers& filter, const Numbers& out_backprop) {
        return FromMapElements(reference::InputGradient<Rational>(problem, filter, out_backprop));
      },
      [](const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
        Numbers numbers;
        for (const auto& element : reference::FilterGradient(problem, input, out_backprop)) {
          numbers.push_back(oracle::ToRational(element.sum()));
        }
        return numbers;
      },
  };
}

}  // namespace wgrad::fuzz
