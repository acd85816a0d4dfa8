#include "oracle/facts_range.h"

#include <algorithm>

#include "oracle/facts_pair.h"

namespace wgrad::oracle {
namespace {

class RangeSummer {
 public:
  RangeSummer(const RunPlanes& run, const ElementRange& range, const RouteLimits& limits)
      : run_(run),
        range_(range),
        limits_(limits),
        summer_(run.problem.positions(), limits),
        rows_(run, range, *limits.kernels),
        plans_(static_cast<std::size_t>(range.size())),
        result_{SumStore(range.size()), std::vector<std::int64_t>(static_cast<std::size_t>(range.size()))} {}

  RangeSums Sum() {
    PlanPairs();
    SumSparse();
    if (any_dense_) SumDense();
    if (signs_apart_) Close();
    return std::move(result_);
  }

 private:
  // A non-zero of out_backprop that meets the image, and where in an input row its partner stands.
  struct Entry {
    std::int64_t input_offset;
    Significand value;
  };
  struct SparseColumn {
    std::int64_t oc;
    std::vector<Entry> entries;
  };

  void PlanPairs();
  void PlanPair(std::int64_t ic, std::int64_t oc, bool sparse);
  void AddColumn(std::int64_t oc);
  void SumSparse();
  void SumSparsePair(std::int64_t ic, const SparseColumn& column);
  void SumDense();
  void SumChunk();
  void Close();

  RunPlanes run_;
  ElementRange range_;
  RouteLimits limits_;
  PairSummer summer_;
  RangeRows rows_;
  std::vector<PairPlan> plans_;
  std::vector<SparseColumn> columns_;
  bool any_dense_ = false;
  bool signs_apart_ = false;
  RangeSums result_;
};

void RangeSummer::PlanPairs() {
  std::vector<bool> sparse;
  for (std::int64_t oc = range_.oc_begin; oc < range_.oc_end; ++oc) {
    sparse.push_back(IsSparse(rows_.out_scan(oc), run_.problem.positions(), limits_));
    if (sparse.back()) AddColumn(oc);
  }
  for (std::int64_t ic = range_.ic_begin; ic < range_.ic_end; ++ic) {
    for (std::int64_t oc = range_.oc_begin; oc < range_.oc_end; ++oc) {
      PlanPair(ic, oc, sparse[static_cast<std::size_t>(oc - range_.oc_begin)]);
    }
  }
}

void RangeSummer::PlanPair(std::int64_t ic, std::int64_t oc, bool sparse) {
  const PairPlan plan = summer_.Plan(rows_.input_scan(ic), rows_.out_scan(oc), sparse);
  if (plan.route == Route::kNothing) return;
  const std::int64_t i = rows_.IndexOf(ic, oc);
  plans_[static_cast<std::size_t>(i)] = plan;
  any_dense_ = any_dense_ || plan.route != Route::kSparse;
  signs_apart_ = signs_apart_ || PairSummer::KeepsSignsApart(plan);
  summer_.Open(result_.sums, i, plan, rows_.shift(ic, oc));
}

void RangeSummer::AddColumn(std::int64_t oc) {
  const double* row = run_.out_backprop.row(oc);
  SparseColumn column{oc, {}};
  std::int64_t left = rows_.out_scan(oc).nonzeros;
  for (std::int64_t position = rows_.out_scan(oc).first_nonzero; left > 0; ++position) {
    if (row[position] == 0) continue;
    --left;
    const std::int64_t offset = rows_.tap().InputOffset(position);
    if (offset >= 0) column.entries.push_back({offset, Decompose(row[position])});
  }
  if (!column.entries.empty()) columns_.push_back(std::move(column));
}

void RangeSummer::SumSparse() {
  for (std::int64_t ic = range_.ic_begin; ic < range_.ic_end; ++ic) {
    if (rows_.input_scan(ic).nonzeros == 0) continue;
    for (const SparseColumn& column : columns_) SumSparsePair(ic, column);
  }
}

void RangeSummer::SumSparsePair(std::int64_t ic, const SparseColumn& column) {
  const double* row = run_.input.row(rows_.InputChannel(ic));
  const std::int64_t i = rows_.IndexOf(ic, column.oc);
  const PairPlan plan = plans_[static_cast<std::size_t>(i)];
  std::int64_t terms = 0;
  for (const Entry& entry : column.entries) {
    const double value = row[entry.input_offset];
    if (value == 0) continue;
    ++terms;
    PairSummer::AddProduct(result_.sums, i, plan, Multiply(Decompose(value), entry.value));
  }
  result_.terms[static_cast<std::size_t>(i)] = terms;
}

void RangeSummer::SumDense() {
  const std::int64_t positions = run_.problem.positions();
  for (std::int64_t begin = 0; begin < positions; begin += kChunk) {
    rows_.Load(begin, std::min(positions, begin + kChunk));
    SumChunk();
  }
}

void RangeSummer::SumChunk() {
  constexpr std::int64_t kTile = 4;  // rows of out_backprop that stay in the cache while all input rows pass
  const auto length = static_cast<std::size_t>(rows_.padded());
  for (std::int64_t first = range_.oc_begin; first < range_.oc_end; first += kTile) {
    const std::int64_t last = std::min(range_.oc_end, first + kTile);
    for (std::int64_t ic = range_.ic_begin; ic < range_.ic_end; ++ic) {
      for (std::int64_t oc = first; oc < last; ++oc) {
        const std::int64_t i = rows_.IndexOf(ic, oc);
        const PairPlan plan = plans_[static_cast<std::size_t>(i)];
        if (plan.route == Route::kNothing || plan.route == Route::kSparse) continue;
        result_.terms[static_cast<std::size_t>(i)] += rows_.CountTerms(ic, oc);
        summer_.AddRows(result_.sums, i, plan, {rows_.input_row(ic), length}, rows_.out_row(oc));
      }
    }
  }
}

void RangeSummer::Close() {
  for (std::int64_t i = 0; i < range_.size(); ++i) {
    PairSummer::Close(result_.sums, i, plans_[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

RangeSums SumRange(const RunPlanes& run, const ElementRange& range, const RouteLimits& limits) {
  return RangeSummer(run, range, limits).Sum();
}

}  // namespace wgrad::oracle
