#include "oracle/facts_rows.h"

#include <algorithm>

#include "oracle/facts_plan.h"

namespace wgrad::oracle {

RangeRows::RangeRows(const RunPlanes& run, const ElementRange& range, const Kernels& kernels)
    : run_(run), range_(range), kernels_(kernels), tap_(run.problem, range.kh, range.kw) {
  static_assert(kMaskWords * 64 == kChunk);
  const Problem& problem = run.problem;
  pitch_ = std::min(kChunk, PaddedLength(problem.positions()));
  first_channel_ = range.oc_begin / problem.out_depth_per_group() * problem.filter_depth();
}

void RangeRows::Load(std::int64_t begin, std::int64_t end) {
  begin_ = begin;
  end_ = end;
  const auto rows = static_cast<std::size_t>(range_.ic_end - range_.ic_begin);
  gathered_.resize(rows * static_cast<std::size_t>(pitch_));
  input_masks_.resize(rows * static_cast<std::size_t>(kMaskWords));
  out_masks_.resize(static_cast<std::size_t>(width() * kMaskWords));
  inside_mask_.assign(static_cast<std::size_t>(kMaskWords), 0);
  tap_.InsideMask(begin, end, inside_mask_.data());
  inside_count_ = kernels_.common_bits(inside_mask_.data(), inside_mask_.data(), kMaskWords);
  for (std::int64_t ic = range_.ic_begin; ic < range_.ic_end; ++ic) {
    const std::int64_t at = ic - range_.ic_begin;
    if (input_scan(ic).nonzeros == 0) continue;
    double* row = gathered_.data() + at * pitch_;
    tap_.Gather(run_.input.row(InputChannel(ic)), begin, end, row);
    for (std::int64_t i = end - begin; i < padded(); ++i) row[i] = 0;
    if (input_has_zeros(ic)) kernels_.nonzero(row, padded(), input_masks_.data() + at * kMaskWords);
  }
  for (std::int64_t oc = range_.oc_begin; oc < range_.oc_end; ++oc) {
    if (!run_.out_backprop.has_zeros(oc)) continue;
    kernels_.nonzero(out_row(oc), padded(), out_masks_.data() + (oc - range_.oc_begin) * kMaskWords);
  }
}

const double* RangeRows::input_row(std::int64_t ic) const { return gathered_.data() + (ic - range_.ic_begin) * pitch_; }

std::int64_t RangeRows::CountTerms(std::int64_t ic, std::int64_t oc) const {
  const bool input_zeros = input_has_zeros(ic);
  const bool out_zeros = run_.out_backprop.has_zeros(oc);
  if (!input_zeros && !out_zeros) return inside_count_;
  const std::uint64_t* input =
      input_zeros ? input_masks_.data() + (ic - range_.ic_begin) * kMaskWords : inside_mask_.data();
  const std::uint64_t* out = out_zeros ? out_masks_.data() + (oc - range_.oc_begin) * kMaskWords : inside_mask_.data();
  return kernels_.common_bits(input, out, (padded() + 63) / 64);
}

}  // namespace wgrad::oracle
