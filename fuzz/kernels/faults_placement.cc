// Faults in the order of elements: flipped taps, exchanged axes, foreign layouts, channels of the wrong group.
#include <utility>

#include "fuzz/kernels/faults.h"

namespace wgrad::fuzz {
namespace {

using WriteRule = std::optional<std::int64_t> (*)(const Problem&, const Geometry&, const Tap&);
using ChannelRule = std::int64_t (*)(const Problem&, const Tap&);

Fault WriteFault(WrongKernel kernel, WriteRule write) {
  kernel.family = FaultFamily::kStructural;
  return {std::move(kernel), {.write = write}};
}

Fault ChannelFault(WrongKernel kernel, ChannelRule input_channel) {
  kernel.family = FaultFamily::kStructural;
  return {std::move(kernel), {.input_channel = input_channel}};
}

std::int64_t OihwOffset(const Problem& problem, const Tap& tap) {
  return ((tap.oc * problem.filter_depth() + tap.ic) * problem.rows().filter + tap.kh) * problem.columns().filter +
         tap.kw;
}

std::int64_t GroupOf(const Problem& problem, std::int64_t oc) { return oc / problem.out_depth_per_group(); }

bool IsStrided(const Problem& problem) { return problem.rows().stride > 1 || problem.columns().stride > 1; }

std::optional<std::int64_t> ReadInOtherLayout(const Problem& problem, const Pixel& pixel, const Position&) {
  if (!InsideImage(problem, pixel)) return std::nullopt;
  const bool nhwc = problem.data_format() == DataFormat::kNhwc;
  return FlatOffset(problem, nhwc ? DataFormat::kNchw : DataFormat::kNhwc, pixel);
}

std::vector<Fault> Orders() {
  return {
      WriteFault({"taps_rotated", "F1", "the taps are rotated by 180 degrees", "mlx 1826, nntrainer 705"},
                 [](const Problem& problem, const Geometry&, const Tap& tap) -> std::optional<std::int64_t> {
                   return problem.FilterOffset(problem.rows().filter - 1 - tap.kh,
                                               problem.columns().filter - 1 - tap.kw, tap.ic, tap.oc);
                 }),
      WriteFault(
          {"filter_axes_exchanged", "F2", "rows and columns of the filter are exchanged on writing", "brightwire 22"},
          [](const Problem& problem, const Geometry&, const Tap& tap) -> std::optional<std::int64_t> {
            const std::int64_t pair = tap.kw * problem.rows().filter + tap.kh;
            return (pair * problem.filter_depth() + tap.ic) * problem.out_depth() + tap.oc;
          }),
      WriteFault({"channel_axes_exchanged", "L1", "in and out channels are exchanged on writing", "Theano 4885"},
                 [](const Problem& problem, const Geometry&, const Tap& tap) -> std::optional<std::int64_t> {
                   const std::int64_t pair = tap.kh * problem.columns().filter + tap.kw;
                   return (pair * problem.out_depth() + tap.oc) * problem.filter_depth() + tap.ic;
                 }),
      WriteFault({"written_oihw", "L2", "OIHW order is written into the HWIO buffer", "apple 230, torch-mlir 1772"},
                 [](const Problem& problem, const Geometry&, const Tap& tap) -> std::optional<std::int64_t> {
                   return OihwOffset(problem, tap);
                 }),
      WriteFault({"written_ohwi", "L3", "OHWI order is written into the HWIO buffer", "apple 230"},
                 [](const Problem& problem, const Geometry&, const Tap& tap) -> std::optional<std::int64_t> {
                   const std::int64_t row = tap.oc * problem.rows().filter + tap.kh;
                   return (row * problem.columns().filter + tap.kw) * problem.filter_depth() + tap.ic;
                 }),
      {{"input_layout_misread", "L4", "input is read as if it lay in the other data format", "pytorch 94384",
        FaultFamily::kStructural},
       {.read = ReadInOtherLayout}},
      WriteFault(
          {"written_oihw_on_1x1_image", "L5", "OIHW order is written where the image is one pixel", "pytorch 82392"},
          [](const Problem& problem, const Geometry& geometry, const Tap& tap) {
            const bool pixel = problem.rows().input == 1 && problem.columns().input == 1;
            return pixel ? OihwOffset(problem, tap) : right::Write(problem, geometry, tap);
          }),
  };
}

std::vector<Fault> Groups() {
  return {
      ChannelFault(
          {"group_by_modulo", "G1", "an out channel's group is its number modulo the groups", "pytorch/xla 969"},
          [](const Problem& problem, const Tap& tap) {
            return tap.oc % problem.groups() * problem.filter_depth() + tap.ic;
          }),
      ChannelFault(
          {"groups_read_first_channels", "G2", "every group reads the input channels of the first", "pytorch 51430"},
          [](const Problem&, const Tap& tap) { return tap.ic; }),
      {{"first_group_only", "G3", "only the first group is computed, the rest is zero", "mlx 2495",
        FaultFamily::kStructural},
       {.counts = [](const Problem& problem, const Tap& tap,
                     const Position&) { return GroupOf(problem, tap.oc) == 0; }}},
      ChannelFault(
          {"group_channels_interleaved", "G4", "the input channels of a group lie apart, not together", "mlx 1449"},
          [](const Problem& problem, const Tap& tap) { return tap.ic * problem.groups() + GroupOf(problem, tap.oc); }),
      WriteFault({"group_multiplier_exchanged", "G5", "out channels are written with group and multiplier exchanged",
                  "Paddle 27006"},
                 [](const Problem& problem, const Geometry&, const Tap& tap) -> std::optional<std::int64_t> {
                   const std::int64_t within = tap.oc % problem.out_depth_per_group();
                   return problem.FilterOffset(tap.kh, tap.kw, tap.ic,
                                               within * problem.groups() + GroupOf(problem, tap.oc));
                 }),
      ChannelFault({"strided_groups_read_first_channels", "G6",
                    "with a stride, every group reads the input channels of the first", "iree 23786, burn 1891"},
                   [](const Problem& problem, const Tap& tap) {
                     return IsStrided(problem) ? tap.ic : right::InputChannel(problem, tap);
                   }),
  };
}

}  // namespace

std::vector<Fault> PlacementFaults() {
  std::vector<Fault> faults = Orders();
  for (Fault& fault : Groups()) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace wgrad::fuzz
