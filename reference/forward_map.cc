#include "reference/forward_map.h"

#include <cmath>

namespace wgrad::reference {
namespace {

using Integer = Dyadic::Integer;

constexpr std::int64_t kUnseen = -1;

// For each pixel coordinate of an axis the output that sees it through `tap`, solved for from the pixel's side.
std::vector<std::int64_t> Viewers(const Axis& axis, std::int64_t tap) {
  std::vector<std::int64_t> viewers(static_cast<std::size_t>(axis.input), kUnseen);
  for (std::int64_t pixel = 0; pixel < axis.input; ++pixel) {
    // Where a window has to start on the padded axis in order to have this pixel under the tap.
    const std::int64_t start = axis.pad_before + pixel - tap * axis.dilation;
    if (start < 0 || start % axis.stride != 0) continue;
    const std::int64_t viewer = start / axis.stride;
    if (viewer < axis.output) viewers[static_cast<std::size_t>(pixel)] = viewer;
  }
  return viewers;
}

// One image and output channel of y = conv2d(input, e_k): since e_k has a single one, each output is the pixel under
// that tap, or nothing where the tap lies on padding.
struct ForwardPlane {
  std::vector<double> value;
  std::vector<bool> is_pixel;
};

// conv2d(., e_k) for the basis filter whose one stands at (tap_row, tap_column) and looks at input channel c.
class BasisConvolution {
 public:
  BasisConvolution(const Problem& problem, std::int64_t tap_row, std::int64_t tap_column, std::int64_t c)
      : problem_(problem),
        c_(c),
        row_viewers_(Viewers(problem.rows(), tap_row)),
        column_viewers_(Viewers(problem.columns(), tap_column)) {}

  ForwardPlane Apply(const Tensor& input, std::int64_t image) const {
    const std::int64_t width = problem_.columns().output;
    const auto outputs = static_cast<std::size_t>(problem_.rows().output * width);
    ForwardPlane plane{std::vector<double>(outputs), std::vector<bool>(outputs)};
    for (std::size_t y = 0; y < row_viewers_.size(); ++y) {
      if (row_viewers_[y] == kUnseen) continue;
      for (std::size_t x = 0; x < column_viewers_.size(); ++x) {
        if (column_viewers_[x] == kUnseen) continue;
        const auto output = static_cast<std::size_t>(row_viewers_[y] * width + column_viewers_[x]);
        plane.value[output] =
            input.value(problem_.InputOffset(image, static_cast<std::int64_t>(y), static_cast<std::int64_t>(x), c_));
        plane.is_pixel[output] = true;
      }
    }
    return plane;
  }

 private:
  const Problem& problem_;
  std::int64_t c_;
  std::vector<std::int64_t> row_viewers_;
  std::vector<std::int64_t> column_viewers_;
};

// <y, out_backprop> term by term, in integers that grow as needed.
class InnerProduct {
 public:
  explicit InnerProduct(DType dtype) : unit_exponent_(2 * FormatOf(dtype).lowest_exponent()) {}

  void AddPixel(double y, double dy) {
    if (std::isfinite(y) && std::isfinite(dy)) {
      AddFinite(Dyadic::FromDouble(y) * Dyadic::FromDouble(dy));
      return;
    }
    const double product = y * dy;  // an infinity or NaN by the rules of IEEE 754
    element_.nan |= std::isnan(product);
    element_.plus_infinity |= product > 0;
    element_.minus_infinity |= product < 0;
  }

  void AddPadding(double dy) { element_.padding_nonfinite |= !std::isfinite(dy); }

  ExactElement Finish() const {
    ExactElement element = element_;
    element.positive = Dyadic(positive_, unit_exponent_);
    element.negative = Dyadic(negative_, unit_exponent_);
    return element;
  }

 private:
  void AddFinite(const Dyadic& product) {
    if (product.is_zero()) return;
    // Every product is a multiple of the unit; what a right shift drops are zeros.
    const int shift = product.exponent() - unit_exponent_;
    Integer units = boost::multiprecision::abs(product.mantissa());
    if (shift >= 0) {
      units <<= shift;
    } else {
      units >>= -shift;
    }
    (product.sign() > 0 ? positive_ : negative_) += units;
    ++element_.terms;
  }

  int unit_exponent_;
  Integer positive_;
  Integer negative_;
  ExactElement element_;
};

}  // namespace

ExactElement SumElementByForward(const Problem& problem, const Tensor& input, const Tensor& out_backprop,
                                 std::int64_t kh, std::int64_t kw, std::int64_t ic, std::int64_t oc) {
  const std::int64_t group = oc * problem.groups() / problem.out_depth();
  const BasisConvolution convolution(problem, kh, kw, ic + problem.filter_depth() * group);
  InnerProduct product(problem.dtype());
  for (std::int64_t image = 0; image < problem.batch(); ++image) {
    const ForwardPlane plane = convolution.Apply(input, image);
    std::size_t at = 0;
    for (std::int64_t row = 0; row < problem.rows().output; ++row) {
      for (std::int64_t column = 0; column < problem.columns().output; ++column, ++at) {
        const double dy = out_backprop.value(problem.OutBackpropOffset(image, row, column, oc));
        if (plane.is_pixel[at]) {
          product.AddPixel(plane.value[at], dy);
        } else {
          product.AddPadding(dy);
        }
      }
    }
  }
  return product.Finish();
}

std::vector<ExactElement> FilterGradientByForward(const Problem& problem, const Tensor& input,
                                                  const Tensor& out_backprop) {
  std::vector<ExactElement> elements;
  for (std::int64_t k = 0; k < problem.filter_count(); ++k) {
    const std::int64_t oc = k % problem.out_depth();
    const std::int64_t ic = k / problem.out_depth() % problem.filter_depth();
    const std::int64_t tap = k / problem.out_depth() / problem.filter_depth();
    const std::int64_t kh = tap / problem.columns().filter;
    const std::int64_t kw = tap % problem.columns().filter;
    elements.push_back(SumElementByForward(problem, input, out_backprop, kh, kw, ic, oc));
  }
  return elements;
}

}  // namespace wgrad::reference
