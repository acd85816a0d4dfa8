// Relation: one property on one problem, as calls and equations between elements of their results.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.h"
#include "fuzz/relations/exact_data.h"

namespace wgrad::fuzz {

/// An element of filter_backprop.
struct Element {
  std::int64_t kh = 0, kw = 0, ic = 0, oc = 0;
};
std::string NameOf(const Element& element);  // "filter_backprop[kh=0, kw=1, ic=0, oc=2]"

struct Call {
  std::string label;  // "the images in another order"
  Problem problem;
  Operands operands;
};

/// factor * an element of the result of call `call`.
struct Share {
  std::size_t call = 1;
  Element at = {};
  double factor = 1;  // a power of two or its negative
};

struct Relation {
  std::string inapplicable = {};  // why there is nothing to compare; the rest is then empty
  std::vector<Call> calls = {};
  /// What the element of calls[0]'s result equals the sum of; no shares: zero.
  std::function<std::vector<Share>(const Element&)> due = {};
};

/// What a relation is made of.
struct Source {
  const Problem& problem;
  const Operands& operands;
  const IntegerPlan& plan;
  const FloatFormat& accumulator;
  std::uint64_t seed;
};

/// A relation that has nothing to say, and why.
Relation Inapplicable(std::string why);
/// The source's own call.
Call PlainCall(const Source& source, std::string label = "the plain call");
/// Two calls of which each element equals one of the other's.
Relation OneToOne(const Source& source, Call other, std::function<Element(const Element&)> place);

/// An input of `problem` whose elements are bits(n, ih, iw, c).
template <typename Bits>
Tensor MakeInput(const Problem& problem, Bits bits) {
  Tensor tensor(problem.dtype(), problem.input_shape());
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (std::int64_t ih = 0; ih < problem.rows().input; ++ih) {
      for (std::int64_t iw = 0; iw < problem.columns().input; ++iw) {
        for (std::int64_t c = 0; c < problem.input_depth(); ++c) {
          tensor.set_bits(problem.InputOffset(n, ih, iw, c), bits(n, ih, iw, c));
        }
      }
    }
  }
  return tensor;
}

/// An out_backprop of `problem` whose elements are bits(n, oh, ow, oc).
template <typename Bits>
Tensor MakeOutBackprop(const Problem& problem, Bits bits) {
  Tensor tensor(problem.dtype(), problem.out_backprop_shape());
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (std::int64_t oh = 0; oh < problem.rows().output; ++oh) {
      for (std::int64_t ow = 0; ow < problem.columns().output; ++ow) {
        for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
          tensor.set_bits(problem.OutBackpropOffset(n, oh, ow, oc), bits(n, oh, ow, oc));
        }
      }
    }
  }
  return tensor;
}

/// One property: its words, what its data must be, and how it is made.
struct Property {
  std::string_view name;
  std::string_view description;
  bool adds_results = false;  // so that results must be exact, not only sums
  /// Holds for transforms of channels too: elements that are due to be zero.
  bool zeros_hold_by_channel = false;
  Relation (*make)(const Source& source) = nullptr;
};

std::vector<Property> ArithmeticProperties();  // scaling, sign, linearity, zero channels
std::vector<Property> BatchAndChannelProperties();
std::vector<Property> GeometryProperties();

}  // namespace wgrad::fuzz
