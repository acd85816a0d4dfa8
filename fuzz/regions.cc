#include "fuzz/regions.h"

#include <algorithm>
#include <utility>

#include "fuzz/draw.h"

namespace wgrad::fuzz {
namespace {

bool OnAnyAxis(const Problem& problem, bool (*holds)(const Axis&)) {
  return holds(problem.rows()) || holds(problem.columns());
}

bool IsPointwise(const Problem& problem) { return problem.rows().filter == 1 && problem.columns().filter == 1; }
bool IsStrided(const Axis& axis) { return axis.stride > 1; }
bool IsDilated(const Axis& axis) { return axis.dilation > 1 && axis.filter > 1; }
bool IsPadded(const Axis& axis) { return axis.pad_before + axis.pad_after > 0; }
bool HasElements(const Problem& problem) { return problem.filter_count() > 0 && problem.positions() > 0; }

// Just past, at, or just before a block of 4, 8, .. (fuzz/draw.h draws such sizes).
bool IsTail(std::int64_t size) {
  for (const std::int64_t block : {4, 8, 16, 32, 64, 128}) {
    if (size == block - 1 || size == block + 1) return true;
  }
  return false;
}

AxisDraft& AnyAxis(ProblemDraft& draft, Draw& draw) { return draw.OneIn(2) ? draft.rows : draft.columns; }

// Padding that lets every window lie somewhere, whatever the filter.
void PadEnough(ProblemDraft& draft) {
  if (draft.padding == Padding::kValid) draft.padding = Padding::kSame;
}

void MakeDilated(AxisDraft& axis, Draw& draw) {
  axis.filter = std::max<std::int64_t>(axis.filter, 2);
  axis.dilation = draw.Step();
}

void MakeGrouped(ProblemDraft& draft, Draw& draw) { draft.groups = 1 + draw.Small(); }

std::vector<Region> PaddingRegions() {
  return {
      {"same_odd_total", "SAME with an odd total: the extra cell has a side",
       [](const Problem& problem) {
         return problem.padding() == Padding::kSame &&
                OnAnyAxis(problem, [](const Axis& axis) { return axis.pad_before != axis.pad_after; });
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.padding = Padding::kSame;
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.filter = 2 * draw.Between(1, 3);
         axis.dilation = draw.OneIn(3) ? 3 : 1;
         axis.stride = 1;
       }},
      {"same_clamped", "SAME whose total would be negative: the stride steps over pixels",
       [](const Problem& problem) {
         return problem.padding() == Padding::kSame && OnAnyAxis(problem, [](const Axis& axis) {
                  return axis.output > 0 &&
                         (axis.output - 1) * axis.stride + (axis.filter - 1) * axis.dilation + 1 < axis.input;
                });
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.padding = Padding::kSame;
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.filter = draw.Between(1, 2);
         axis.dilation = 1;
         axis.stride = axis.filter + draw.Between(1, 3);
         axis.input = axis.stride * draw.Between(1, 3);
       }},
      {"one_sided_padding", "explicit padding on one side of an axis alone",
       [](const Problem& problem) {
         return problem.padding() == Padding::kExplicit && OnAnyAxis(problem, [](const Axis& axis) {
                  return IsPadded(axis) && (axis.pad_before == 0 || axis.pad_after == 0);
                });
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.padding = Padding::kExplicit;
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.pad_before = draw.Between(1, 3);
         axis.pad_after = 0;
         if (draw.OneIn(2)) std::swap(axis.pad_before, axis.pad_after);
       }},
      {"one_axis_padding", "explicit padding of one axis alone",
       [](const Problem& problem) {
         return problem.padding() == Padding::kExplicit && IsPadded(problem.rows()) != IsPadded(problem.columns());
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.padding = Padding::kExplicit;
         draft.rows.pad_before = draft.rows.pad_after = draft.columns.pad_before = draft.columns.pad_after = 0;
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.pad_before = draw.Between(0, 3);
         axis.pad_after = draw.Between(1, 3);
       }},
      {"taps_in_padding", "taps that meet the padding alone: their element must be zero",
       [](const Problem& problem) {
         return HasElements(problem) && OnAnyAxis(problem, [](const Axis& axis) {
                  for (std::int64_t k = 0; k < axis.filter; ++k) {
                    if (TapSeesOnlyPadding(axis, k)) return true;
                  }
                  return false;
                });
       },
       [](ProblemDraft& draft, Draw& draw) {
         PadEnough(draft);
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.input = draw.Between(1, 2);
         axis.filter = axis.input + draw.Between(1, 4);
         if (draft.padding == Padding::kExplicit) axis.pad_before = axis.pad_after = axis.dilated_filter();
       }},
      {"windows_in_padding", "whole windows beside the image",
       [](const Problem& problem) {
         return HasElements(problem) && OnAnyAxis(problem, [](const Axis& axis) {
                  const std::int64_t reach = (axis.filter - 1) * axis.dilation + 1;
                  return axis.pad_before >= reach || axis.pad_after >= reach;
                });
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.padding = Padding::kExplicit;
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.pad_before = axis.dilated_filter() + draw.Between(0, 2);
         if (draw.OneIn(2)) std::swap(axis.pad_before, axis.pad_after);
       }},
  };
}

std::vector<Region> WindowRegions() {
  return {
      {"filter_above_image", "a filter larger than the image",
       [](const Problem& problem) {
         return HasElements(problem) && OnAnyAxis(problem, [](const Axis& axis) { return axis.filter > axis.input; });
       },
       [](ProblemDraft& draft, Draw& draw) {
         PadEnough(draft);
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.input = draw.Small();
         axis.filter = axis.input + draw.Small();
         if (draft.padding == Padding::kExplicit) axis.pad_before = axis.pad_after = axis.dilated_filter() - 1;
       }},
      {"stride_above_filter", "a stride larger than the filter: pixels that no tap reads",
       [](const Problem& problem) {
         return OnAnyAxis(problem, [](const Axis& axis) { return axis.stride > axis.filter && axis.output > 1; });
       },
       [](ProblemDraft& draft, Draw& draw) {
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.filter = draw.Between(1, 2);
         axis.dilation = 1;
         axis.stride = axis.filter + draw.Between(1, 2);
         axis.input = axis.stride * draw.Between(1, 3) + draw.Between(1, 3);
       }},
      {"dilation_with_stride", "dilation and stride on one axis",
       [](const Problem& problem) {
         return OnAnyAxis(problem, [](const Axis& axis) { return IsDilated(axis) && IsStrided(axis); });
       },
       [](ProblemDraft& draft, Draw& draw) {
         AxisDraft& axis = AnyAxis(draft, draw);
         MakeDilated(axis, draw);
         axis.stride = draw.Step();
         axis.input = std::max(axis.input, axis.dilated_filter() + axis.stride);
       }},
      {"dilation_across_stride", "dilation on one axis, stride on the other",
       [](const Problem& problem) {
         return (IsDilated(problem.rows()) && IsStrided(problem.columns())) ||
                (IsDilated(problem.columns()) && IsStrided(problem.rows()));
       },
       [](ProblemDraft& draft, Draw& draw) {
         const bool rows_first = draw.OneIn(2);
         AxisDraft& dilated = rows_first ? draft.rows : draft.columns;
         AxisDraft& strided = rows_first ? draft.columns : draft.rows;
         MakeDilated(dilated, draw);
         dilated.input = std::max(dilated.input, dilated.dilated_filter());
         strided.stride = draw.Step();
         strided.input += strided.stride;
       }},
      {"stride_remainder", "a stride that leaves unread pixels at the end",
       [](const Problem& problem) { return OnAnyAxis(problem, [](const Axis& axis) { return Remainder(axis) > 0; }); },
       [](ProblemDraft& draft, Draw& draw) {
         draft.padding = Padding::kValid;
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.stride = draw.Step();
         axis.input = axis.dilated_filter() + axis.stride * draw.Between(0, 2) + draw.Between(1, axis.stride - 1);
       }},
      {"unequal_strides", "strides that differ between the axes",
       [](const Problem& problem) { return problem.rows().stride != problem.columns().stride; },
       [](ProblemDraft& draft, Draw& draw) {
         draft.rows.stride = draw.Between(1, 3);
         draft.columns.stride = draft.rows.stride + draw.Between(1, 2);
         if (draw.OneIn(2)) std::swap(draft.rows.stride, draft.columns.stride);
       }},
      {"wide_even_filter", "an even filter width from 8 on",
       [](const Problem& problem) { return problem.columns().filter >= 8 && problem.columns().filter % 2 == 0; },
       [](ProblemDraft& draft, Draw& draw) {
         draft.columns.filter = 8 + 2 * draw.Between(0, 3);
         draft.columns.dilation = 1;
         draft.columns.input = std::max(draft.columns.input, draft.columns.filter + draw.Between(0, 2));
       }},
      {"pointwise_strided_or_padded", "a 1x1 filter with stride or padding: no plain matrix product",
       [](const Problem& problem) {
         return IsPointwise(problem) && (OnAnyAxis(problem, IsStrided) || OnAnyAxis(problem, IsPadded));
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.rows.filter = draft.columns.filter = 1;
         AxisDraft& axis = AnyAxis(draft, draw);
         if (draw.OneIn(2)) {
           axis.stride = draw.Step();
           axis.input += axis.stride;
         } else {
           draft.padding = Padding::kExplicit;
           axis.pad_before = draw.Between(0, 2);
           axis.pad_after = draw.Between(1, 2);
         }
       }},
      {"one_pixel_image", "an image of one pixel: a fully connected layer",
       [](const Problem& problem) { return problem.rows().input == 1 && problem.columns().input == 1; },
       [](ProblemDraft& draft, Draw& draw) {
         PadEnough(draft);
         draft.rows.input = draft.columns.input = 1;
         draft.columns.filter = draw.Small();
       }},
      {"one_output_pixel", "a single position in each image's out_backprop, filters above 1x1",
       [](const Problem& problem) {
         return problem.rows().output == 1 && problem.columns().output == 1 && !IsPointwise(problem);
       },
       [](ProblemDraft& draft, Draw&) {
         draft.padding = Padding::kValid;
         for (AxisDraft* axis : {&draft.rows, &draft.columns}) axis->input = axis->dilated_filter();
       }},
  };
}

std::vector<Region> ChannelRegions() {
  return {
      {"grouped_strided", "groups and a stride",
       [](const Problem& problem) { return problem.groups() > 1 && OnAnyAxis(problem, IsStrided); },
       [](ProblemDraft& draft, Draw& draw) {
         MakeGrouped(draft, draw);
         AxisDraft& axis = AnyAxis(draft, draw);
         axis.stride = draw.Step();
         axis.input += axis.stride;
       }},
      {"grouped_dilated", "groups and a dilation",
       [](const Problem& problem) { return problem.groups() > 1 && OnAnyAxis(problem, IsDilated); },
       [](ProblemDraft& draft, Draw& draw) {
         MakeGrouped(draft, draw);
         AxisDraft& axis = AnyAxis(draft, draw);
         MakeDilated(axis, draw);
         axis.input = std::max(axis.input, axis.dilated_filter());
       }},
      {"grouped_inner", "groups of several channels on both sides",
       [](const Problem& problem) {
         return problem.groups() > 1 && problem.filter_depth() > 1 && problem.out_depth_per_group() > 1;
       },
       [](ProblemDraft& draft, Draw& draw) {
         MakeGrouped(draft, draw);
         draft.filter_depth = 1 + draw.Small();
         draft.out_per_group = 1 + draw.Small();
       }},
      {"depthwise", "one input channel a group",
       [](const Problem& problem) { return problem.groups() > 1 && problem.filter_depth() == 1; },
       [](ProblemDraft& draft, Draw& draw) {
         MakeGrouped(draft, draw);
         draft.filter_depth = 1;
         draft.out_per_group = 1;
       }},
      {"depthwise_multiplier", "depthwise with several outputs a channel",
       [](const Problem& problem) {
         return problem.groups() > 1 && problem.filter_depth() == 1 && problem.out_depth_per_group() > 1;
       },
       [](ProblemDraft& draft, Draw& draw) {
         MakeGrouped(draft, draw);
         draft.filter_depth = 1;
         draft.out_per_group = 1 + draw.Small();
       }},
      {"depthwise_strided_tail", "depthwise, strided, padded, channels at the end of a block",
       [](const Problem& problem) {
         return problem.groups() > 1 && problem.filter_depth() == 1 && OnAnyAxis(problem, IsStrided) &&
                OnAnyAxis(problem, IsPadded) && (IsTail(problem.groups()) || problem.groups() % 8 == 0);
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.groups = std::max<std::int64_t>(2, draw.OneIn(2) ? draw.Awkward() : 8 * draw.Between(1, 3));
         draft.filter_depth = draft.out_per_group = 1;
         draft.padding = draw.OneIn(2) ? Padding::kSame : Padding::kExplicit;
         draft.rows.stride = draft.columns.stride = 2;
         for (AxisDraft* axis : {&draft.rows, &draft.columns}) {
           axis->filter = 3;
           axis->input = draw.Between(4, 7);
           axis->pad_before = axis->pad_after = 1;
         }
       }},
      {"equal_depths", "as many input as output channels: a transposed result has the right shape",
       [](const Problem& problem) {
         return problem.filter_depth() > 1 && problem.filter_depth() == problem.out_depth();
       },
       [](ProblemDraft& draft, Draw& draw) {
         draft.groups = 1;
         draft.filter_depth = draft.out_per_group = 1 + draw.Small();
       }},
      {"channel_tail", "channels one short of or past a block of 4 to 128",
       [](const Problem& problem) { return IsTail(problem.filter_depth()) || IsTail(problem.out_depth()); },
       [](ProblemDraft& draft, Draw& draw) {
         (draw.OneIn(2) ? draft.filter_depth : draft.out_per_group) = draw.Awkward();
       }},
      {"column_tail", "output columns one short of or past a block",
       [](const Problem& problem) { return IsTail(problem.columns().output); },
       [](ProblemDraft& draft, Draw& draw) {
         draft.columns.stride = 1;
         draft.columns.input =
             draw.Awkward() + (draft.padding == Padding::kValid ? draft.columns.dilated_filter() - 1 : 0);
       }},
      {"odd_batch", "a batch that does not halve, from 3 on",
       [](const Problem& problem) { return problem.batch() >= 3 && problem.batch() % 2 == 1; },
       [](ProblemDraft& draft, Draw& draw) { draft.batch = 1 + 2 * draw.Between(1, 3); }},
      {"long_batch", "more images than a counter of 6 or 7 bits holds",
       [](const Problem& problem) { return problem.batch() > 64; },
       [](ProblemDraft& draft, Draw& draw) {
         draft.batch = draw.OneIn(2) ? draw.Between(120, 140) : draw.Between(250, 300);
         for (AxisDraft* axis : {&draft.rows, &draft.columns}) {
           axis->input = std::min<std::int64_t>(axis->input, 3);
           axis->filter = std::min<std::int64_t>(axis->filter, 2);
         }
       }},
      {"long_sum", "a thousand terms and more in an element",
       [](const Problem& problem) { return problem.positions() >= 1000; },
       [](ProblemDraft& draft, Draw& draw) {
         draft.batch = draw.Between(1, 4);
         draft.rows.input = draw.Between(20, 50);
         draft.columns.input = draw.Between(20, 50);
         draft.rows.stride = draft.columns.stride = 1;
         draft.filter_depth = draft.out_per_group = draft.groups = 1;
       }},
      {"empty_batch", "no image at all: the gradient is zero",
       [](const Problem& problem) { return problem.batch() == 0 && problem.filter_count() > 0; },
       [](ProblemDraft& draft, Draw&) { draft.batch = 0; }},
      {"empty", "another tensor without elements",
       [](const Problem& problem) {
         return problem.batch() > 0 &&
                (problem.input_count() == 0 || problem.out_backprop_count() == 0 || problem.filter_count() == 0);
       },
       [](ProblemDraft& draft, Draw& draw) {
         std::int64_t* const sizes[] = {&draft.out_per_group, &draft.rows.filter, &draft.columns.filter,
                                        &draft.rows.input, &draft.columns.input};
         *sizes[draw.Between(0, static_cast<std::int64_t>(std::size(sizes)) - 1)] = 0;
       }},
  };
}

}  // namespace

bool TapSeesOnlyPadding(const Axis& axis, std::int64_t k) {
  const std::int64_t to_image = axis.pad_before - k * axis.dilation;  // from tap k of the first window to pixel 0
  const std::int64_t first = to_image <= 0 ? 0 : (to_image + axis.stride - 1) / axis.stride;
  return first >= axis.output || first * axis.stride - to_image >= axis.input;
}

std::int64_t Remainder(const Axis& axis) {
  if (axis.output == 0) return 0;
  return axis.pad_before + axis.input + axis.pad_after - (axis.output - 1) * axis.stride -
         (axis.filter - 1) * axis.dilation - 1;
}

const std::vector<Region>& Regions() {
  static const std::vector<Region> regions = [] {
    std::vector<Region> all;
    for (const auto group : {PaddingRegions, WindowRegions, ChannelRegions}) {
      for (Region& region : group()) all.push_back(region);
    }
    return all;
  }();
  return regions;
}

}  // namespace wgrad::fuzz
