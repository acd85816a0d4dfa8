// Faults in the geometry of an axis: padding, stride, dilation, filter extent.
#include <algorithm>
#include <utility>

#include "fuzz/kernels/faults.h"

namespace wgrad::fuzz {
namespace {

Fault GeometryFault(WrongKernel kernel, void (*geometry)(const Problem&, Geometry&)) {
  kernel.family = FaultFamily::kStructural;
  return {std::move(kernel), {.geometry = geometry}};
}

// The same change on both axes.
template <typename Change>
void OnBothAxes(Geometry& geometry, Change change) {
  change(geometry.rows);
  change(geometry.columns);
}

// SAME's total padding before it is clamped at 0.
std::int64_t SameTotal(const Axis& axis, std::int64_t stride, std::int64_t dilation) {
  return (axis.output - 1) * stride + (axis.filter - 1) * dilation + 1 - axis.input;
}

// Input cells behind the last window, padding included.
std::int64_t Remainder(const Axis& axis) {
  return axis.pad_before + axis.input + axis.pad_after - (axis.output - 1) * axis.stride -
         (axis.filter - 1) * axis.dilation - 1;
}

std::vector<Fault> Paddings() {
  return {
      GeometryFault({"same_extra_before", "P1", "SAME puts the extra cell of an odd total before, not after",
                     "CNTK 1862, deeplearning4j 3296"},
                    [](const Problem& problem, Geometry& geometry) {
                      if (problem.padding() != Padding::kSame) return;
                      OnBothAxes(geometry, [](Axis& axis) { std::swap(axis.pad_before, axis.pad_after); });
                    }),
      GeometryFault(
          {"same_total_ignores_stride", "P2", "SAME's total is the filter's extent, whatever the stride", "opacus 451"},
          [](const Problem& problem, Geometry& geometry) {
            if (problem.padding() != Padding::kSame) return;
            OnBothAxes(geometry, [](Axis& axis) { axis.pad_before = (axis.filter - 1) * axis.dilation / 2; });
          }),
      GeometryFault(
          {"same_total_ignores_dilation", "P3", "SAME's total comes from the undilated filter", "pytorch 13008"},
          [](const Problem& problem, Geometry& geometry) {
            if (problem.padding() != Padding::kSame) return;
            OnBothAxes(geometry, [](Axis& axis) {
              axis.pad_before = std::max<std::int64_t>(0, SameTotal(axis, axis.stride, 1)) / 2;
            });
          }),
      GeometryFault({"same_total_not_clamped", "P4", "SAME's total goes below 0 where the stride exceeds the filter",
                     "tensorflow 11092"},
                    [](const Problem& problem, Geometry& geometry) {
                      if (problem.padding() != Padding::kSame) return;
                      OnBothAxes(geometry,
                                 [](Axis& axis) { axis.pad_before = SameTotal(axis, axis.stride, axis.dilation) / 2; });
                    }),
      GeometryFault(
          {"pads_of_axes_exchanged", "P5", "the padding of rows and of columns is exchanged", "NNPACK 15"},
          [](const Problem&, Geometry& geometry) { std::swap(geometry.rows.pad_before, geometry.columns.pad_before); }),
      GeometryFault({"pad_before_after_swapped", "P6", "the padding before and after is exchanged", "opacus 451"},
                    [](const Problem&, Geometry& geometry) {
                      OnBothAxes(geometry, [](Axis& axis) { std::swap(axis.pad_before, axis.pad_after); });
                    }),
      GeometryFault(
          {"pads_both_sides_larger", "P7", "both sides are padded by the larger of the two values", "CNTK 1862"},
          [](const Problem&, Geometry& geometry) {
            OnBothAxes(geometry, [](Axis& axis) { axis.pad_before = std::max(axis.pad_before, axis.pad_after); });
          }),
  };
}

std::vector<Fault> StridesAndDilations() {
  return {
      GeometryFault({"row_stride_for_both", "S1", "the stride of rows is used for columns too", "cunn 470"},
                    [](const Problem&, Geometry& geometry) { geometry.columns.stride = geometry.rows.stride; }),
      GeometryFault({"last_taps_kept", "S2",
                     "of a correlation that is too large where the stride leaves a remainder, the last taps are kept",
                     "opacus 245, backpack 30"},
                    [](const Problem&, Geometry& geometry) {
                      OnBothAxes(geometry, [](Axis& axis) { axis.pad_before -= Remainder(axis); });
                    }),
      {{"last_output_lost_on_remainder", "S3",
        "the last row or column of out_backprop is not summed where the stride leaves a remainder", "mlpack 2986",
        FaultFamily::kStructural},
       {.counts =
            [](const Problem& problem, const Tap&, const Position& position) {
              const bool row_lost = Remainder(problem.rows()) != 0 && position.oh == problem.rows().output - 1;
              const bool column_lost = Remainder(problem.columns()) != 0 && position.ow == problem.columns().output - 1;
              return !row_lost && !column_lost;
            }}},
      {{"last_filter_row_skips_last_output", "S4",
        "with stride and padding the last filter row skips the last row of out_backprop", "pytorch 50042, oneDNN 4124",
        FaultFamily::kStructural},
       {.counts =
            [](const Problem& problem, const Tap& tap, const Position& position) {
              const Axis& rows = problem.rows();
              const bool affected = rows.stride > 1 && rows.pad_before > 0;
              return !(affected && tap.kh == rows.filter - 1 && position.oh == rows.output - 1);
            }}},
      GeometryFault(
          {"dilation_ignored", "D1", "the taps lie next to each other whatever the dilation", "tensorflow 18454"},
          [](const Problem&, Geometry& geometry) { OnBothAxes(geometry, [](Axis& axis) { axis.dilation = 1; }); }),
      GeometryFault(
          {"stride_dilation_exchanged", "D2", "stride and dilation are exchanged", "iree-turbine 1223, candle 2337"},
          [](const Problem&, Geometry& geometry) {
            OnBothAxes(geometry, [](Axis& axis) { std::swap(axis.stride, axis.dilation); });
          }),
      GeometryFault({"dilation_as_inserted_zeros", "D3",
                     "a dilation above 1 is read as the number of zeros between taps", "libraries' conventions"},
                    [](const Problem&, Geometry& geometry) {
                      OnBothAxes(geometry, [](Axis& axis) { axis.dilation += axis.dilation > 1 ? 1 : 0; });
                    }),
      GeometryFault({"row_dilation_for_both", "D4", "the dilation of rows is used for columns too", "haskell 5"},
                    [](const Problem&, Geometry& geometry) { geometry.columns.dilation = geometry.rows.dilation; }),
      GeometryFault({"filter_extent_inferred", "K1",
                     "the filter's extents are inferred from image, padding and stride instead of taken from the call",
                     "opacus 245, Theano 4885"},
                    [](const Problem&, Geometry& geometry) {
                      OnBothAxes(geometry, [](Axis& axis) { axis.filter += Remainder(axis) / axis.dilation; });
                    }),
  };
}

}  // namespace

std::vector<Fault> PaddingFaults() {
  std::vector<Fault> faults = Paddings();
  for (Fault& fault : StridesAndDilations()) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace wgrad::fuzz
