// RangeRows: the rows that a range of elements multiplies, chunk by chunk of the positions, and their non-zeros.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/facts_kernels.h"
#include "oracle/facts_planes.h"
#include "oracle/facts_tap.h"

namespace wgrad::oracle {

/// The tensors of one run, channel by channel.
struct RunPlanes {
  const Problem& problem;
  const Planes& input;
  const Planes& out_backprop;
};

class RangeRows {
 public:
  RangeRows(const RunPlanes& run, const ElementRange& range, const Kernels& kernels);

  const Tap& tap() const { return tap_; }
  std::int64_t width() const { return range_.oc_end - range_.oc_begin; }
  /// Index of an element within the range.
  std::int64_t IndexOf(std::int64_t ic, std::int64_t oc) const {
    return (ic - range_.ic_begin) * width() + (oc - range_.oc_begin);
  }
  /// Channel of the input that filter channel ic reads in the range's group.
  std::int64_t InputChannel(std::int64_t ic) const { return first_channel_ + ic; }
  const RowScan& input_scan(std::int64_t ic) const { return run_.input.scan(InputChannel(ic)); }
  const RowScan& out_scan(std::int64_t oc) const { return run_.out_backprop.scan(oc); }
  /// What the product of the stored rows has to be multiplied with: 2^shift.
  int shift(std::int64_t ic, std::int64_t oc) const {
    return run_.input.shift(InputChannel(ic)) + run_.out_backprop.shift(oc);
  }

  /// Gathers the positions [begin, end). Requires begin to be a multiple of kChunk, and at most kChunk positions.
  void Load(std::int64_t begin, std::int64_t end);
  /// Rows of the loaded positions, `padded` long, zeros at their end and on padding.
  const double* input_row(std::int64_t ic) const;
  const double* out_row(std::int64_t oc) const { return run_.out_backprop.row(oc) + begin_; }
  std::int64_t padded() const { return PaddedLength(end_ - begin_); }
  /// Non-zero products among the loaded positions.
  std::int64_t CountTerms(std::int64_t ic, std::int64_t oc) const;

 private:
  static constexpr std::int64_t kMaskWords = 16;
  bool input_has_zeros(std::int64_t ic) const { return run_.input.has_zeros(InputChannel(ic)); }

  RunPlanes run_;
  ElementRange range_;
  const Kernels& kernels_;
  Tap tap_;
  std::int64_t first_channel_;
  std::int64_t pitch_;  // of gathered rows
  std::int64_t begin_ = 0;
  std::int64_t end_ = 0;
  std::vector<double> gathered_;
  std::vector<std::uint64_t> inside_mask_;
  std::int64_t inside_count_ = 0;
  std::vector<std::uint64_t> input_masks_;  // by ic; of channels that have zeros
  std::vector<std::uint64_t> out_masks_;    // by oc; likewise
};

}  // namespace wgrad::oracle
