#include "oracle/facts_block.h"

#include <utility>

namespace wgrad::oracle {
namespace {

class Block final : public FactsBlock {
 public:
  Block(std::shared_ptr<const RunData> data, const ElementRange& range)
      : data_(std::move(data)), range_(range), facts_(SumRange(data_->planes(), range, RouteLimits{})) {
    if (data_->has_nonfinite()) census_ = TakeCensus(data_->planes(), range);
    if (!data_->subnormals) return;
    const SubnormalPlanes& planes = *data_->subnormals;
    const Problem& problem = data_->problem;
    subnormal_input_ = SumRange({problem, planes.subnormal_input, data_->out_backprop}, range, RouteLimits{});
    subnormal_out_ = SumRange({problem, planes.other_input, planes.subnormal_out_backprop}, range, RouteLimits{});
  }

  const ElementRange& range() const override { return range_; }
  std::int64_t terms(std::int64_t i) const override { return facts_.terms[static_cast<std::size_t>(i)]; }
  std::uint8_t census(std::int64_t i) const override {
    return census_.empty() ? std::uint8_t{0} : census_[static_cast<std::size_t>(i)];
  }
  DoubleDouble sum(std::int64_t i) const override { return facts_.sums.sum(i); }
  DoubleDouble abs_sum(std::int64_t i) const override { return facts_.sums.abs_sum(i); }
  Dyadic exact_sum(std::int64_t i) const override { return facts_.sums.exact_sum(i); }
  Dyadic exact_abs_sum(std::int64_t i) const override { return facts_.sums.exact_abs_sum(i); }
  Dyadic exact_subnormal_abs_sum(std::int64_t i) const override {
    if (!subnormal_input_) return {};
    return subnormal_input_->sums.exact_abs_sum(i) + subnormal_out_->sums.exact_abs_sum(i);
  }
  double input_abs_bound(std::int64_t i) const override {
    return bounds().input[static_cast<std::size_t>(i / (range_.oc_end - range_.oc_begin))];
  }
  double out_backprop_abs_bound(std::int64_t i) const override {
    return bounds().out_backprop[static_cast<std::size_t>(i % (range_.oc_end - range_.oc_begin))];
  }

 private:
  const AbsBounds& bounds() const {
    if (!bounds_) bounds_ = BoundAbsSums(data_->planes(), range_);
    return *bounds_;
  }

  std::shared_ptr<const RunData> data_;
  ElementRange range_;
  RangeSums facts_;
  std::vector<std::uint8_t> census_;
  std::optional<RangeSums> subnormal_input_;
  std::optional<RangeSums> subnormal_out_;
  mutable std::optional<AbsBounds> bounds_;  // few classes ask for them: computed on first use
};

}  // namespace

std::unique_ptr<FactsBlock> MakeBlock(std::shared_ptr<const RunData> data, const ElementRange& range) {
  return std::make_unique<Block>(std::move(data), range);
}

}  // namespace wgrad::oracle
