#include "oracle/facts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "core/check.h"
#include "oracle/facts_block.h"
#include "oracle/facts_pair.h"

namespace wgrad::oracle {
namespace {

// Sizes of a block: what it holds stays in a few megabytes, and its rows of input in the cache.
constexpr std::int64_t kBlockBytes = std::int64_t{3} << 20;
constexpr std::int64_t kMostInputRows = 64;
constexpr std::int64_t kMostOutRows = 128;

std::shared_ptr<const RunData> MakeData(const Problem& problem, const Tensor& input, const Tensor& out_backprop,
                                        FactsEngine::Options options) {
  RunData data{problem, Planes::OfInput(problem, input), Planes::OfOutBackprop(problem, out_backprop), std::nullopt};
  if (data.has_nonfinite()) {
    data.input.KeepKinds();
    data.out_backprop.KeepKinds();
  }
  if (options.subnormal_sums &&
      (data.input.tensor_scan().has_subnormal || data.out_backprop.tensor_scan().has_subnormal)) {
    data.subnormals = {Planes::Subnormals(data.input), Planes::WithoutSubnormals(data.input),
                       Planes::Subnormals(data.out_backprop)};
  }
  return std::make_shared<const RunData>(std::move(data));
}

// Bytes that an element takes in a block, from above.
std::int64_t BytesPerElement(const RunData& data) {
  const TensorScan& input = data.input.tensor_scan();
  const TensorScan& out_backprop = data.out_backprop.tensor_scan();
  std::size_t bytes = SumStore::kBytesPerElement + sizeof(PairPlan) + sizeof(std::int64_t) + 1;
  const auto width_of = [](const TensorScan& scan) {
    return scan.max_abs == 0 ? 0 : std::ilogb(scan.max_abs) + 1 - scan.lowest_bit;
  };
  const int bits = width_of(input) + width_of(out_backprop) + CeilLog2(data.problem.positions()) + 2;
  if (bits > RouteLimits{}.narrow_bits) bytes += 2 * sizeof(std::uint64_t) * LimbCount(bits + 104) + 16;
  return static_cast<std::int64_t>(data.subnormals ? 3 * bytes : bytes);
}

}  // namespace

TensorScan Scan(const Tensor& tensor) { return Planes::OfTensor(tensor).tensor_scan(); }

struct FactsEngine::Impl {
  std::shared_ptr<const RunData> data;
  std::vector<std::optional<Dyadic>> input_squares;
  std::vector<std::optional<Dyadic>> out_backprop_squares;
};

FactsEngine::FactsEngine(const Problem& problem, const Tensor& input, const Tensor& out_backprop, Options options)
    : impl_(std::make_unique<Impl>()) {
  WGRAD_CHECK(input.shape() == problem.input_shape() && input.dtype() == problem.dtype(),
              "input must have the problem's shape and dtype");
  WGRAD_CHECK(out_backprop.shape() == problem.out_backprop_shape() && out_backprop.dtype() == problem.dtype(),
              "out_backprop must have the problem's shape and dtype");
  impl_->data = MakeData(problem, input, out_backprop, options);
  impl_->input_squares.resize(static_cast<std::size_t>(problem.input_depth()));
  impl_->out_backprop_squares.resize(static_cast<std::size_t>(problem.out_depth()));
}

FactsEngine::~FactsEngine() = default;
FactsEngine::FactsEngine(FactsEngine&&) noexcept = default;

const TensorScan& FactsEngine::input_scan() const { return impl_->data->input.tensor_scan(); }
const TensorScan& FactsEngine::out_backprop_scan() const { return impl_->data->out_backprop.tensor_scan(); }

std::vector<ElementRange> FactsEngine::Blocks() const {
  const Problem& problem = impl_->data->problem;
  const std::int64_t group_width = problem.out_depth_per_group();
  const std::int64_t most = std::max<std::int64_t>(1, kBlockBytes / BytesPerElement(*impl_->data));
  const std::int64_t width = std::max<std::int64_t>(1, std::min({group_width, kMostOutRows, most}));
  const std::int64_t height = std::clamp<std::int64_t>(most / width, 1, kMostInputRows);
  std::vector<ElementRange> blocks;
  for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
    for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
      for (std::int64_t group = 0; group < problem.groups(); ++group) {
        const std::int64_t group_end = (group + 1) * group_width;
        for (std::int64_t ic = 0; ic < problem.filter_depth(); ic += height) {
          for (std::int64_t oc = group * group_width; oc < group_end; oc += width) {
            blocks.push_back(
                {kh, kw, ic, std::min(problem.filter_depth(), ic + height), oc, std::min(group_end, oc + width)});
          }
        }
      }
    }
  }
  return blocks;
}

std::unique_ptr<FactsBlock> FactsEngine::Sum(const ElementRange& range) { return MakeBlock(impl_->data, range); }

std::vector<std::int64_t> FactsEngine::CountTermsAbove(const ElementRange& range, std::span<const double> thresholds) {
  WGRAD_CHECK(std::ssize(thresholds) == range.size(), "one threshold for each element of the range");
  return CountAbove(impl_->data->planes(), range, BestKernels(), thresholds);
}

const Dyadic& FactsEngine::input_channel_square(std::int64_t c) {
  std::optional<Dyadic>& square = impl_->input_squares[static_cast<std::size_t>(c)];
  if (!square) square = SumOfSquares(impl_->data->input, c);
  return *square;
}

const Dyadic& FactsEngine::out_backprop_channel_square(std::int64_t oc) {
  std::optional<Dyadic>& square = impl_->out_backprop_squares[static_cast<std::size_t>(oc)];
  if (!square) square = SumOfSquares(impl_->data->out_backprop, oc);
  return *square;
}

}  // namespace wgrad::oracle
