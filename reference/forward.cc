#include "reference/forward.h"

#include "core/check.h"

namespace wgrad::reference {
namespace {

// One channel of one image, padding included. Null where there is padding.
template <typename Number>
class PaddedPlane {
 public:
  PaddedPlane(const Problem& problem, std::span<const Number> input, std::int64_t image, std::int64_t channel)
      : width_(problem.columns().pad_before + problem.columns().input + problem.columns().pad_after) {
    const std::int64_t height = problem.rows().pad_before + problem.rows().input + problem.rows().pad_after;
    cells_.resize(static_cast<std::size_t>(height * width_));
    for (std::int64_t y = 0; y < problem.rows().input; ++y) {
      for (std::int64_t x = 0; x < problem.columns().input; ++x) {
        Cell(problem.rows().pad_before + y, problem.columns().pad_before + x) =
            &input[static_cast<std::size_t>(problem.InputOffset(image, y, x, channel))];
      }
    }
  }

  const Number* At(std::int64_t row, std::int64_t column) const {
    return cells_[static_cast<std::size_t>(row * width_ + column)];
  }

 private:
  const Number*& Cell(std::int64_t row, std::int64_t column) {
    return cells_[static_cast<std::size_t>(row * width_ + column)];
  }

  std::int64_t width_;
  std::vector<const Number*> cells_;
};

// Where a window stands: the padded cell under its first tap.
struct Corner {
  std::int64_t row = 0;
  std::int64_t column = 0;
};

template <typename Number>
class ForwardMap {
 public:
  ForwardMap(const Problem& problem, std::span<const Number> input, std::span<const Number> filter)
      : problem_(problem), input_(input), filter_(filter), outputs_(CountOf(problem)) {}

  std::vector<MapElement<Number>> Run() {
    for (std::int64_t image = 0; image < problem_.batch(); ++image) {
      for (std::int64_t channel = 0; channel < problem_.input_depth(); ++channel) {
        RunChannel(image, channel);
      }
    }
    return std::move(outputs_);
  }

 private:
  static std::size_t CountOf(const Problem& problem) { return static_cast<std::size_t>(problem.out_backprop_count()); }

  // What one input channel adds to the outputs of its group.
  void RunChannel(std::int64_t image, std::int64_t channel) {
    const PaddedPlane<Number> plane(problem_, input_, image, channel);
    const std::int64_t group = channel / problem_.filter_depth();
    const std::int64_t of_group = problem_.out_depth_per_group();
    for (std::int64_t out = group * of_group; out < (group + 1) * of_group; ++out) {
      Corner corner;
      for (std::int64_t y = 0; y < problem_.rows().output; ++y, corner.row += problem_.rows().stride) {
        corner.column = 0;
        for (std::int64_t x = 0; x < problem_.columns().output; ++x, corner.column += problem_.columns().stride) {
          const std::int64_t at = problem_.OutBackpropOffset(image, y, x, out);
          AddWindow(plane, corner, channel % problem_.filter_depth(), out, outputs_[static_cast<std::size_t>(at)]);
        }
      }
    }
  }

  void AddWindow(const PaddedPlane<Number>& plane, const Corner& corner, std::int64_t in, std::int64_t out,
                 MapElement<Number>& sum) const {
    std::int64_t row = corner.row;
    for (std::int64_t tap_row = 0; tap_row < problem_.rows().filter; ++tap_row, row += problem_.rows().dilation) {
      std::int64_t column = corner.column;
      for (std::int64_t tap_column = 0; tap_column < problem_.columns().filter;
           ++tap_column, column += problem_.columns().dilation) {
        const Number* pixel = plane.At(row, column);
        if (pixel == nullptr) continue;
        sum.AddProduct(*pixel, filter_[static_cast<std::size_t>(problem_.FilterOffset(tap_row, tap_column, in, out))]);
      }
    }
  }

  const Problem& problem_;
  std::span<const Number> input_;
  std::span<const Number> filter_;
  std::vector<MapElement<Number>> outputs_;
};

}  // namespace

template <typename Number>
std::vector<MapElement<Number>> Forward(const Problem& problem, std::span<const Number> input,
                                        std::span<const Number> filter) {
  WGRAD_CHECK(std::ssize(input) == problem.input_count() && std::ssize(filter) == problem.filter_count(),
              "Forward needs tensors of the problem's sizes");
  return ForwardMap<Number>(problem, input, filter).Run();
}

template std::vector<MapElement<Dyadic>> Forward(const Problem&, std::span<const Dyadic>, std::span<const Dyadic>);
template std::vector<MapElement<Rational>> Forward(const Problem&, std::span<const Rational>,
                                                   std::span<const Rational>);

}  // namespace wgrad::reference
