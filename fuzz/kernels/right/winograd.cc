// Winograd's algorithm for 3x3 gradients: tiles of out_backprop are the filters, tiles of input the data.
#include <cmath>
#include <utility>

#include "fuzz/kernels/right/methods.h"
#include "fuzz/kernels/right/scaled.h"

namespace wgrad::fuzz {
namespace {

using Rows = std::vector<std::vector<double>>;

/// out = output * ((input * x * input^T) .* (gradient * dy * gradient^T)) * output^T, summed over tiles.
struct Transform {
  std::int64_t size;  // of an input tile
  std::int64_t step;  // of an out_backprop tile
  Rows input;         // [size][size]
  Rows gradient;      // [size][step]
  Rows output;        // [3][size]
};

// Points 0, 1, -1 and infinity: every coefficient is a power of two.
Transform TwoByTwo() {
  return {4,
          2,
          {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, -1, 0, 1}},
          {{1, 0}, {.5, .5}, {.5, -.5}, {0, 1}},
          {{1, 1, 1, 0}, {0, 1, -1, 0}, {0, 1, 1, 1}}};
}

// Points 0, 1, -1, 2, -2 and infinity.
Transform FourByFour() {
  constexpr double kSixth = 1.0 / 6;
  constexpr double kTwentyFourth = 1.0 / 24;
  return {6,
          4,
          {{4, 0, -5, 0, 1, 0},
           {0, -4, -4, 1, 1, 0},
           {0, 4, -4, -1, 1, 0},
           {0, -2, -1, 2, 1, 0},
           {0, 2, -1, -2, 1, 0},
           {0, 4, 0, -5, 0, 1}},
          {{.25, 0, 0, 0},
           {-kSixth, -kSixth, -kSixth, -kSixth},
           {-kSixth, kSixth, -kSixth, kSixth},
           {kTwentyFourth, 2 * kTwentyFourth, 4 * kTwentyFourth, 8 * kTwentyFourth},
           {kTwentyFourth, -2 * kTwentyFourth, 4 * kTwentyFourth, -8 * kTwentyFourth},
           {0, 0, 0, 1}},
          {{1, 1, 1, 1, 1, 0}, {0, 1, -1, 2, -2, 0}, {0, 1, 1, 4, 4, 1}}};
}

// matrix * square * matrix^T, row-major, in working precision; coefficients that are zero multiply nothing.
template <typename Real>
std::vector<Real> Sandwich(const Rows& matrix, const std::vector<Real>& square) {
  const std::size_t count = matrix.size();
  const std::size_t width = matrix[0].size();
  std::vector<Real> half(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < width; ++j) {
      for (std::size_t k = 0; k < width; ++k) {
        if (matrix[i][k] != 0) half[i * width + j] += static_cast<Real>(matrix[i][k]) * square[k * width + j];
      }
    }
  }
  std::vector<Real> whole(count * count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      for (std::size_t k = 0; k < width; ++k) {
        if (matrix[j][k] != 0) whole[i * count + j] += static_cast<Real>(matrix[j][k]) * half[i * width + k];
      }
    }
  }
  return whole;
}

// The output pixels at which the tiles of one image start.
std::vector<std::pair<std::int64_t, std::int64_t>> TileStarts(const Problem& problem, std::int64_t step) {
  std::vector<std::pair<std::int64_t, std::int64_t>> starts;
  for (std::int64_t oh = 0; oh < problem.rows().output; oh += step) {
    for (std::int64_t ow = 0; ow < problem.columns().output; ow += step) starts.emplace_back(oh, ow);
  }
  return starts;
}

// The transformed tiles of one channel, all images: `read(n, row, column)` gives the pixel of a tile's square.
template <typename Real, typename Read>
std::vector<std::vector<Real>> Tiles(const Problem& problem, const Transform& transform, const Rows& matrix,
                                     Read read) {
  const auto side = static_cast<std::int64_t>(matrix[0].size());
  std::vector<std::vector<Real>> tiles;
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (const auto& [oh, ow] : TileStarts(problem, transform.step)) {
      std::vector<Real> square;
      for (std::int64_t i = 0; i < side; ++i) {
        for (std::int64_t j = 0; j < side; ++j) square.push_back(read(n, oh + i, ow + j));
      }
      tiles.push_back(Sandwich(matrix, square));
    }
  }
  return tiles;
}

template <typename Real>
std::vector<std::vector<Real>> InputTiles(const Operands<Real>& o, const Transform& transform, std::int64_t c) {
  return Tiles<Real>(o.problem, transform, transform.input, [&](std::int64_t n, std::int64_t row, std::int64_t column) {
    return o.Input(n, row - o.problem.rows().pad_before, column - o.problem.columns().pad_before, c);
  });
}

template <typename Real>
std::vector<std::vector<Real>> GradientTiles(const Operands<Real>& o, const Transform& transform, std::int64_t oc) {
  return Tiles<Real>(o.problem, transform, transform.gradient, [&](std::int64_t n, std::int64_t oh, std::int64_t ow) {
    const bool outside = oh >= o.problem.rows().output || ow >= o.problem.columns().output;
    return outside ? Real{0} : o.OutBackprop(n, oh, ow, oc);
  });
}

template <typename Real>
void Winograd(const Operands<Real>& operands, const Transform& transform, Sums& sums) {
  const Scaled<Real> scaled = ScaledByChannel(operands);
  const Problem& problem = operands.problem;
  std::vector<std::vector<std::vector<Real>>> inputs;
  for (std::int64_t c = 0; c < problem.input_depth(); ++c) {
    inputs.push_back(InputTiles(scaled.operands, transform, c));
  }
  for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
    const std::vector<std::vector<Real>> gradients = GradientTiles(scaled.operands, transform, oc);
    for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
      const std::int64_t c = InputChannelOf(problem, ic, oc);
      std::vector<Real> products(static_cast<std::size_t>(transform.size * transform.size));
      for (std::size_t tile = 0; tile < gradients.size(); ++tile) {
        const std::vector<Real>& input = inputs[static_cast<std::size_t>(c)][tile];
        for (std::size_t at = 0; at < products.size(); ++at) products[at] += input[at] * gradients[tile][at];
      }
      const std::vector<Real> taps = Sandwich(transform.output, products);
      for (std::int64_t tap = 0; tap < 9; ++tap) {
        sums[static_cast<std::size_t>(problem.FilterOffset(tap / 3, tap % 3, ic, oc))] =
            scaled.Unscaled(taps[static_cast<std::size_t>(tap)], c, oc);
      }
    }
  }
}

bool IsPlain3x3(const Problem& problem) {
  const auto plain = [](const Axis& axis) { return axis.filter == 3 && axis.stride == 1 && axis.dilation == 1; };
  return plain(problem.rows()) && plain(problem.columns());
}

RawKernel WinogradKernel(const Transform& transform, std::int64_t most_tiles) {
  return WorkingKernel([transform, most_tiles](const auto& operands, Sums& sums) {
    const Problem& problem = operands.problem;
    if (!IsPlain3x3(problem)) {
      return KernelStatus{AnswerKind::kUnsupported, "needs a 3x3 filter without stride and dilation"};
    }
    const auto tiles = static_cast<std::int64_t>(TileStarts(problem, transform.step).size());
    if (problem.batch() * tiles > most_tiles) {
      return KernelStatus{AnswerKind::kUnsupported, "more than " + std::to_string(most_tiles) + " tiles"};
    }
    Winograd(operands, transform, sums);
    return KernelStatus{};
  });
}

RightKernel Named(const std::string& name, const std::string& description, const std::string& promise) {
  RightKernel kernel = Described(name, description, {.own = promise, .narrow = promise});
  kernel.declaration.pad = "either";
  kernel.capabilities.dilation = false;
  return kernel;
}

}  // namespace

std::vector<Method> WinogradMethods() {
  // The constant of the larger one: (2 * (5 + 5 + 6) + tiles) * 2427.5 * 2 for 200 tiles (docs/right-kernels.md).
  constexpr std::int64_t kMostTiles = 200;
  return {
      {Named("winograd_f3x3_2x2", "Winograd F(3x3, 2x2), for 3x3 filters", "channel:winograd_f3x3_2x2"),
       WinogradKernel(TwoByTwo(), 4096)},
      {Named("winograd_f3x3_4x4", "Winograd F(3x3, 4x4), for 3x3 filters and up to 200 tiles", "channel:1200000"),
       WinogradKernel(FourByFour(), kMostTiles)},
  };
}

}  // namespace wgrad::fuzz
