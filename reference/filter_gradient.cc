#include "reference/filter_gradient.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <type_traits>

namespace wgrad::reference {
namespace {

namespace mp = boost::multiprecision;

// An integer of kBits bits and a sign, without allocation.
template <unsigned kBits>
using Fixed = mp::number<mp::cpp_int_backend<kBits, kBits, mp::signed_magnitude, mp::unchecked, void>>;

// |value| = significand * 2^exponent with an odd significand. Requires a finite value other than zero.
struct OddForm {
  explicit OddForm(double value) {
    constexpr int kPrecision = std::numeric_limits<double>::digits;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    significand = static_cast<std::uint64_t>(std::ldexp(fraction, kPrecision));
    const int zeros = std::countr_zero(significand);
    significand >>= zeros;
    exponent += zeros - kPrecision;
  }
  std::uint64_t significand;
  int exponent = 0;
};

// The sums of one element, as multiples of the smallest product of the dtype.
template <unsigned kBits>
class ElementSums {
 public:
  explicit ElementSums(DType dtype) : unit_exponent_(2 * FormatOf(dtype).lowest_exponent()) {}

  void AddProduct(double x, double dy) {
    if (std::isfinite(x) && std::isfinite(dy)) {
      if (x != 0 && dy != 0) AddFiniteProduct(x, dy);
    } else if (std::isnan(x) || std::isnan(dy) || x == 0 || dy == 0) {
      element_.nan = true;
    } else if (std::signbit(x) == std::signbit(dy)) {
      element_.plus_infinity = true;
    } else {
      element_.minus_infinity = true;
    }
  }

  void AddPadding(double dy) {
    if (!std::isfinite(dy)) element_.padding_nonfinite = true;
  }

  ExactElement Finish() {
    element_.positive = Dyadic(Dyadic::Integer(positive_), unit_exponent_);
    element_.negative = Dyadic(Dyadic::Integer(negative_), unit_exponent_);
    return element_;
  }

 private:
  void AddFiniteProduct(double x, double dy) {
    const OddForm a(x);
    const OddForm b(dy);
    Fixed<kBits> product = a.significand;
    product *= b.significand;
    product <<= a.exponent + b.exponent - unit_exponent_;
    (std::signbit(x) == std::signbit(dy) ? positive_ : negative_) += product;
    ++element_.terms;
  }

  int unit_exponent_;
  Fixed<kBits> positive_ = 0;
  Fixed<kBits> negative_ = 0;
  ExactElement element_;
};

struct ElementIndex {
  std::int64_t kh;
  std::int64_t kw;
  std::int64_t ic;
  std::int64_t oc;
};

// The three inner loops: over everything that the element sums.
template <unsigned kBits>
ExactElement Sum(const Problem& problem, const Tensor& input, const Tensor& out_backprop, const ElementIndex& at) {
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  const std::int64_t group = at.oc / problem.out_depth_per_group();
  const std::int64_t c = group * problem.filter_depth() + at.ic;
  ElementSums<kBits> sums(problem.dtype());
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (std::int64_t oh = 0; oh < rows.output; ++oh) {
      for (std::int64_t ow = 0; ow < columns.output; ++ow) {
        const std::int64_t ih = oh * rows.stride + at.kh * rows.dilation - rows.pad_before;
        const std::int64_t iw = ow * columns.stride + at.kw * columns.dilation - columns.pad_before;
        const double dy = out_backprop.value(problem.OutBackpropOffset(n, oh, ow, at.oc));
        if (0 <= ih && ih < rows.input && 0 <= iw && iw < columns.input) {
          sums.AddProduct(input.value(problem.InputOffset(n, ih, iw, c)), dy);
        } else {
          sums.AddPadding(dy);
        }
      }
    }
  }
  return sums.Finish();
}

// The four outer loops: over the elements.
template <unsigned kBits>
std::vector<ExactElement> SumAll(const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
  std::vector<ExactElement> elements;
  elements.reserve(static_cast<std::size_t>(problem.filter_count()));
  for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
    for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
      for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
        for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
          elements.push_back(Sum<kBits>(problem, input, out_backprop, {kh, kw, ic, oc}));
        }
      }
    }
  }
  return elements;
}

// Calls `function` with the number of bits that hold 2^46 of the dtype's largest products, at the least, in multiples
// of its smallest one: 80 bits a product for half, 522 for bfloat16, 554 for float32, 4196 for float64.
template <typename Function>
auto WithWidthFor(DType dtype, const Function& function) {
  switch (dtype) {
    case DType::kFloat16:
      return function(std::integral_constant<unsigned, 128>());
    case DType::kBFloat16:
      return function(std::integral_constant<unsigned, 576>());
    case DType::kFloat32:
      return function(std::integral_constant<unsigned, 640>());
    case DType::kFloat64:
      break;
  }
  return function(std::integral_constant<unsigned, 4288>());
}

class ReferenceCandidate : public Candidate {
 public:
  ReferenceCandidate() : greeting_{.name = "reference", .version = "exact"} {
    for (const char* dtype_tag : {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"}) {
      greeting_.declaration.accuracy_class[dtype_tag] = "cr";
    }
    greeting_.declaration.pad = "skip";
    greeting_.declaration.deterministic = true;
    greeting_.validates = true;
  }

  const Greeting& greeting() const override { return greeting_; }
  Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) override {
    return Answer::Of(RoundedFilterGradient(problem, input, out_backprop));
  }
  Answer TryArguments(const OpArguments& arguments, const Tensor& input, const Tensor& out_backprop) override {
    return ValidateAndRun(*this, arguments, input, out_backprop);
  }

 private:
  Greeting greeting_;
};

}  // namespace

bool operator==(const ExactElement& a, const ExactElement& b) {
  return a.positive == b.positive && a.negative == b.negative && a.terms == b.terms && a.nan == b.nan &&
         a.plus_infinity == b.plus_infinity && a.minus_infinity == b.minus_infinity &&
         a.padding_nonfinite == b.padding_nonfinite;
}

ExactElement SumElement(const Problem& problem, const Tensor& input, const Tensor& out_backprop, std::int64_t kh,
                        std::int64_t kw, std::int64_t ic, std::int64_t oc) {
  return WithWidthFor(problem.dtype(), [&](auto bits) {
    return Sum<decltype(bits)::value>(problem, input, out_backprop, {kh, kw, ic, oc});
  });
}

std::vector<ExactElement> FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
  return WithWidthFor(problem.dtype(),
                      [&](auto bits) { return SumAll<decltype(bits)::value>(problem, input, out_backprop); });
}

std::uint64_t RoundedBits(const ExactElement& element, DType dtype) {
  if (element.nan || (element.plus_infinity && element.minus_infinity)) {
    return EncodeNearest(dtype, std::numeric_limits<double>::quiet_NaN());
  }
  if (element.plus_infinity || element.minus_infinity) return InfinityBits(dtype, element.minus_infinity);
  return element.sum().RoundTo(dtype);
}

Tensor RoundedFilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
  Tensor result(problem.result_dtype(), problem.filter_sizes());
  std::int64_t index = 0;
  for (const ExactElement& element : FilterGradient(problem, input, out_backprop)) {
    result.set_bits(index++, RoundedBits(element, problem.result_dtype()));
  }
  return result;
}

std::unique_ptr<Candidate> MakeReferenceCandidate() { return std::make_unique<ReferenceCandidate>(); }

}  // namespace wgrad::reference
