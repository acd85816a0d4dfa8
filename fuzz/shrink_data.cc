#include "fuzz/shrink_data.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace wgrad::fuzz {
namespace {

using Offsets = std::vector<std::int64_t>;
using TensorOf = Tensor CallData::*;

class DataShrinker {
 public:
  DataShrinker(PlainCall call, Probe& probe) : call_(std::move(call)), probe_(probe) {}

  PlainCall Shrink() {
    for (bool progress = true; progress && !probe_.OutOfTime();) {
      progress = DropZeros(&CallData::out_backprop);
      progress = DropZeros(&CallData::input) || progress;
    }
    for (const TensorOf tensor : {&CallData::out_backprop, &CallData::input}) {
      for (const std::int64_t offset : NonZeros(tensor)) SimplifyValue(tensor, offset);
    }
    return std::move(call_);
  }

 private:
  Offsets NonZeros(TensorOf tensor) const {
    const Tensor& values = call_.data.*tensor;
    Offsets offsets;
    for (std::int64_t at = 0; at < values.element_count(); ++at) {
      if (!IsZero(values.dtype(), values.bits(at))) offsets.push_back(at);
    }
    return offsets;
  }

  // Takes the changed data if they still fail.
  bool Try(const CallData& changed) {
    std::optional<CallOutcome> outcome = probe_.Fails(changed);
    if (!outcome) return false;
    call_ = {changed, *std::move(outcome)};
    return true;
  }

  bool TryWithout(TensorOf tensor, std::span<const std::int64_t> dropped) {
    CallData changed = call_.data;
    for (const std::int64_t offset : dropped) (changed.*tensor).set_bits(offset, 0);
    return Try(changed);
  }

  // Delta debugging: leaves out halves, then quarters, down to single numbers. True where any could be left out.
  bool DropZeros(TensorOf tensor) {
    bool dropped_any = false;
    Offsets left = NonZeros(tensor);
    if (!left.empty() && TryWithout(tensor, left)) return true;
    for (std::size_t chunk = (left.size() + 1) / 2; chunk >= 1 && !left.empty();
         chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
      for (std::size_t at = 0; at < left.size();) {
        const std::size_t size = std::min(chunk, left.size() - at);
        if (TryWithout(tensor, std::span(left).subspan(at, size))) {
          left.erase(left.begin() + static_cast<std::ptrdiff_t>(at),
                     left.begin() + static_cast<std::ptrdiff_t>(at + size));
          dropped_any = true;
        } else {
          at += size;
        }
      }
    }
    return dropped_any;
  }

  // 1, then -1, then the value's power of two, then its integer part.
  void SimplifyValue(TensorOf tensor, std::int64_t offset) {
    const double value = (call_.data.*tensor).value(offset);
    std::vector<double> plainer = {1, -1};
    if (std::isfinite(value)) {
      plainer.push_back(std::copysign(std::exp2(std::floor(std::log2(std::fabs(value)))), value));
      plainer.push_back(std::round(value));
    }
    for (const double candidate : plainer) {
      if (candidate == value) return;
      if (candidate == 0) continue;
      CallData changed = call_.data;
      (changed.*tensor).set_value(offset, candidate);
      if (Try(changed)) return;
    }
  }

  PlainCall call_;
  Probe& probe_;
};

}  // namespace

PlainCall ShrinkData(CallData data, CallOutcome outcome, Probe& probe) {
  return DataShrinker({std::move(data), std::move(outcome)}, probe).Shrink();
}

}  // namespace wgrad::fuzz
