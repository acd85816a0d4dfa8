// What the tests of the fillings share: a table of problems, and the terms of an element by the plain formula.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "oracle/fillings.h"

namespace wgrad::oracle {

inline constexpr const char* kGeometries[] = {
    "n3_i7x9_c6_k2x3_o10_s2x3_g2_same_",  "n3_i8x11_c6_k3x4_o10_s3x2_g2_pt2b0l1r3_",
    "n2_i9x8_c3_k3x4_o5_d2x1_same_nchw_", "n3_i1x1_c5_k3x4_o6_same_",
    "n2_i4x7_c2_k2x2_o3_s4x5_same_",      "n1_i20x20_c2_k3x3_o4_valid_",
    "n2_i6x6_c3_k3x3_o4_pt2b1l0r0_nchw_", "n1_i1x1_c1_k1x1_o1_valid_",
    "n2_i4x4_c2_k2x2_o2_pt5b0l0r5_",      "n2_i2x3_c3_k5x7_o4_same_",
};
inline constexpr const char* kTags[] = {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"};

using Data = Run;  // a name of its own: testing::Test has a Run too

inline Problem P(const std::string& text) { return ParseProblem(text).value(); }

inline std::vector<Problem> Table() {
  std::vector<Problem> table;
  for (const char* geometry : kGeometries) {
    for (const char* tag : kTags) table.push_back(P(std::string(geometry) + tag));
  }
  return table;
}

// What one element sums over, by the plain formula.
struct Element {
  std::int64_t kh, kw, ic, oc;
  std::vector<double> terms;  // products inside the image in the order of (n, oh, ow), zeros included
  std::int64_t nonzero = 0;
  double positive = 0, negative = 0;
  double abs_sum() const { return positive + negative; }
};

// The input pixel of a term, or nothing where it lies in the padding.
inline std::optional<std::int64_t> InputAt(const Axis& axis, std::int64_t o, std::int64_t k) {
  const std::int64_t i = o * axis.stride + k * axis.dilation - axis.pad_before;
  if (i < 0 || i >= axis.input) return std::nullopt;
  return i;
}

inline Element SumOf(const Problem& p, const Data& run, std::int64_t index) {
  Element e{};
  e.oc = index % p.out_depth();
  e.ic = index / p.out_depth() % p.filter_depth();
  e.kw = index / (p.out_depth() * p.filter_depth()) % p.columns().filter;
  e.kh = index / (p.out_depth() * p.filter_depth() * p.columns().filter);
  const std::int64_t channel = e.oc / p.out_depth_per_group() * p.filter_depth() + e.ic;
  for (std::int64_t n = 0; n < p.batch(); ++n) {
    for (std::int64_t oh = 0; oh < p.rows().output; ++oh) {
      for (std::int64_t ow = 0; ow < p.columns().output; ++ow) {
        const auto ih = InputAt(p.rows(), oh, e.kh);
        const auto iw = InputAt(p.columns(), ow, e.kw);
        if (!ih || !iw) continue;
        const double product = run.input.value(p.InputOffset(n, *ih, *iw, channel)) *
                               run.out_backprop.value(p.OutBackpropOffset(n, oh, ow, e.oc));
        e.terms.push_back(product);
        e.nonzero += product != 0;
        (product > 0 ? e.positive : e.negative) += std::fabs(product);
      }
    }
  }
  return e;
}

inline std::vector<Element> Elements(const Problem& p, const Data& run) {
  std::vector<Element> elements;
  for (std::int64_t i = 0; i < p.filter_count(); ++i) elements.push_back(SumOf(p, run, i));
  return elements;
}

inline int AccumulatorBits(const Problem& p) { return p.dtype() == DType::kFloat64 ? 53 : 24; }

}  // namespace wgrad::oracle
