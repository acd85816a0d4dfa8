#include "reference/input_gradient.h"

#include <algorithm>

#include "core/check.h"

namespace wgrad::reference {
namespace {

// How far the last tap of an axis lies behind the first; 0 for a filter without taps.
std::int64_t Reach(const Axis& axis) { return std::max<std::int64_t>(0, axis.filter - 1) * axis.dilation; }

// One channel of out_backprop with the stride's gaps between its pixels, and room before it for the filter's reach.
template <typename Number>
class SpreadPlane {
 public:
  SpreadPlane(const Problem& problem, std::span<const Number> out_backprop, std::int64_t image, std::int64_t channel)
      : width_(SizeOf(problem.columns())) {
    cells_.resize(static_cast<std::size_t>(SizeOf(problem.rows()) * width_));
    std::int64_t row = Reach(problem.rows());
    for (std::int64_t y = 0; y < problem.rows().output; ++y, row += problem.rows().stride) {
      std::int64_t column = Reach(problem.columns());
      for (std::int64_t x = 0; x < problem.columns().output; ++x, column += problem.columns().stride) {
        cells_[static_cast<std::size_t>(row * width_ + column)] =
            &out_backprop[static_cast<std::size_t>(problem.OutBackpropOffset(image, y, x, channel))];
      }
    }
  }

  /// Null in a gap.
  const Number* At(std::int64_t row, std::int64_t column) const {
    return cells_[static_cast<std::size_t>(row * width_ + column)];
  }

 private:
  static std::int64_t SizeOf(const Axis& axis) { return Reach(axis) + axis.pad_before + axis.input + axis.pad_after; }

  std::int64_t width_;
  std::vector<const Number*> cells_;
};

template <typename Number>
class InputGradientMap {
 public:
  InputGradientMap(const Problem& problem, std::span<const Number> filter, std::span<const Number> out_backprop)
      : problem_(problem),
        filter_(filter),
        out_backprop_(out_backprop),
        gradient_(static_cast<std::size_t>(problem.input_count())) {}

  std::vector<MapElement<Number>> Run() {
    for (std::int64_t image = 0; image < problem_.batch(); ++image) {
      for (std::int64_t out = 0; out < problem_.out_depth(); ++out) RunChannel(image, out);
    }
    return std::move(gradient_);
  }

 private:
  // What one out channel adds to the pixels of its group.
  void RunChannel(std::int64_t image, std::int64_t out) {
    const SpreadPlane<Number> plane(problem_, out_backprop_, image, out);
    const std::int64_t first = out / problem_.out_depth_per_group() * problem_.filter_depth();
    for (std::int64_t in = 0; in < problem_.filter_depth(); ++in) {
      for (std::int64_t y = 0; y < problem_.rows().input; ++y) {
        for (std::int64_t x = 0; x < problem_.columns().input; ++x) {
          const std::int64_t at = problem_.InputOffset(image, y, x, first + in);
          AddPixel(plane, y, x, in, out, gradient_[static_cast<std::size_t>(at)]);
        }
      }
    }
  }

  // From the cell that sees the pixel through the first tap, back by the dilation for each further tap.
  void AddPixel(const SpreadPlane<Number>& plane, std::int64_t y, std::int64_t x, std::int64_t in, std::int64_t out,
                MapElement<Number>& sum) const {
    const Axis& rows = problem_.rows();
    const Axis& columns = problem_.columns();
    std::int64_t row = Reach(rows) + rows.pad_before + y;
    for (std::int64_t tap_row = 0; tap_row < rows.filter; ++tap_row, row -= rows.dilation) {
      std::int64_t column = Reach(columns) + columns.pad_before + x;
      for (std::int64_t tap_column = 0; tap_column < columns.filter; ++tap_column, column -= columns.dilation) {
        const Number* arriving = plane.At(row, column);
        if (arriving == nullptr) continue;
        const std::int64_t weight = problem_.FilterOffset(tap_row, tap_column, in, out);
        sum.AddProduct(*arriving, filter_[static_cast<std::size_t>(weight)]);
      }
    }
  }

  const Problem& problem_;
  std::span<const Number> filter_;
  std::span<const Number> out_backprop_;
  std::vector<MapElement<Number>> gradient_;
};

}  // namespace

template <typename Number>
std::vector<MapElement<Number>> InputGradient(const Problem& problem, std::span<const Number> filter,
                                              std::span<const Number> out_backprop) {
  WGRAD_CHECK(std::ssize(filter) == problem.filter_count() && std::ssize(out_backprop) == problem.out_backprop_count(),
              "InputGradient needs tensors of the problem's sizes");
  return InputGradientMap<Number>(problem, filter, out_backprop).Run();
}

template std::vector<MapElement<Dyadic>> InputGradient(const Problem&, std::span<const Dyadic>,
                                                       std::span<const Dyadic>);
template std::vector<MapElement<Rational>> InputGradient(const Problem&, std::span<const Rational>,
                                                         std::span<const Rational>);

}  // namespace wgrad::reference
