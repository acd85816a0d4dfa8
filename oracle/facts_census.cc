#include "oracle/facts_range.h"

namespace wgrad::oracle {
namespace {

// Bits of one product inside the image, of which at least one factor is NaN or infinite.
std::uint8_t ClassifyProduct(std::uint8_t a, std::uint8_t b) {
  const int either = a | b;
  const bool has_zero = (either & kKindZero) != 0;
  if ((either & kKindNaN) != 0) return static_cast<std::uint8_t>(kCensusNaN | (has_zero ? 0 : kCensusNaNTimesNonZero));
  if (has_zero) return kCensusNaN;
  const bool negative = ((a ^ b) & kKindNegative) != 0;
  const int subnormal = (either & kKindSubnormal) != 0 ? kCensusSubnormalTimesInfinity : 0;
  return static_cast<std::uint8_t>((negative ? kCensusMinusInfinity : kCensusPlusInfinity) | subnormal);
}

class CensusTaker {
 public:
  CensusTaker(const RunPlanes& run, const ElementRange& range)
      : run_(run),
        range_(range),
        tap_(run.problem, range.kh, range.kw),
        first_channel_(range.oc_begin / run.problem.out_depth_per_group() * run.problem.filter_depth()),
        census_(static_cast<std::size_t>(range.size())) {}

  std::vector<std::uint8_t> Take() {
    for (std::int64_t oc = range_.oc_begin; oc < range_.oc_end; ++oc) {
      for (const Planes::NonFinite& special : run_.out_backprop.nonfinite(oc)) MeetInputs(oc, special);
    }
    for (std::int64_t ic = range_.ic_begin; ic < range_.ic_end; ++ic) {
      for (const Planes::NonFinite& special : run_.input.nonfinite(first_channel_ + ic)) MeetOutputs(ic, special);
    }
    return std::move(census_);
  }

 private:
  std::uint8_t& At(std::int64_t ic, std::int64_t oc) {
    const std::int64_t width = range_.oc_end - range_.oc_begin;
    return census_[static_cast<std::size_t>((ic - range_.ic_begin) * width + (oc - range_.oc_begin))];
  }

  void MeetInputs(std::int64_t oc, const Planes::NonFinite& special) {
    const std::int64_t offset = tap_.InputOffset(special.position);
    for (std::int64_t ic = range_.ic_begin; ic < range_.ic_end; ++ic) {
      const std::uint8_t bits = offset < 0
                                    ? std::uint8_t{kCensusPaddingNonFinite}
                                    : ClassifyProduct(run_.input.kinds(first_channel_ + ic)[offset], special.kind);
      At(ic, oc) = static_cast<std::uint8_t>(At(ic, oc) | bits);
    }
  }

  void MeetOutputs(std::int64_t ic, const Planes::NonFinite& special) {
    const std::int64_t position = tap_.PositionOf(special.position);
    if (position < 0) return;
    for (std::int64_t oc = range_.oc_begin; oc < range_.oc_end; ++oc) {
      const std::uint8_t bits = ClassifyProduct(special.kind, run_.out_backprop.kinds(oc)[position]);
      At(ic, oc) = static_cast<std::uint8_t>(At(ic, oc) | bits);
    }
  }

  RunPlanes run_;
  ElementRange range_;
  Tap tap_;
  std::int64_t first_channel_;
  std::vector<std::uint8_t> census_;
};

}  // namespace

std::vector<std::uint8_t> TakeCensus(const RunPlanes& run, const ElementRange& range) {
  return CensusTaker(run, range).Take();
}

}  // namespace wgrad::oracle
