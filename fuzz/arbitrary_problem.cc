#include "fuzz/arbitrary_problem.h"

#include <algorithm>
#include <limits>

#include "core/check.h"
#include "fuzz/draw.h"
#include "fuzz/problem_draft.h"
#include "fuzz/regions.h"
#include "fuzz/shrink_problem.h"

namespace wgrad::fuzz {
namespace {

constexpr int kMaxAttempts = 100'000;  // of drawing a problem inside the space

std::int64_t SmallPad(Draw& draw) {
  static constexpr Weighted<std::int64_t> kPads[] = {{6, 0}, {5, 1}, {3, 2}, {1, 3}, {1, 5}};
  return draw.Of(kPads);
}

AxisDraft DrawAxis(Draw& draw) {
  AxisDraft axis;
  axis.filter = draw.Small();
  axis.input = draw.Small() + draw.Between(0, 2) * (axis.filter - 1);
  axis.stride = draw.OneIn(3) ? draw.Step() : 1;
  axis.dilation = draw.OneIn(4) ? draw.Step() : 1;
  axis.pad_before = SmallPad(draw);
  axis.pad_after = draw.OneIn(3) ? axis.pad_before : SmallPad(draw);
  return axis;
}

ProblemDraft DrawFreely(const Space& space, Draw& draw) {
  static constexpr Weighted<Padding> kPaddings[] = {{4, Padding::kSame}, {3, Padding::kValid}, {4, Padding::kExplicit}};
  ProblemDraft draft;
  draft.dtypes = draw.Of(space.dtypes);
  draft.data_format = draw.OneIn(3) ? DataFormat::kNchw : DataFormat::kNhwc;
  draft.padding = draw.Of(kPaddings);
  draft.batch = draw.Small();
  draft.groups = draw.OneIn(4) ? draw.Small() : 1;
  draft.filter_depth = draw.Small();
  draft.out_per_group = draw.Small();
  draft.rows = DrawAxis(draw);
  draft.columns = draw.OneIn(4) ? draft.rows : DrawAxis(draw);
  return draft;
}

std::vector<std::int64_t*> Sizes(ProblemDraft& draft) {
  return {&draft.batch,         &draft.rows.input,     &draft.columns.input, &draft.filter_depth,
          &draft.out_per_group, &draft.columns.filter, &draft.rows.filter,   &draft.groups};
}

// One or two sizes around a block's end.
void Enlarge(ProblemDraft& draft, Draw& draw) {
  const std::vector<std::int64_t*> sizes = Sizes(draft);
  for (std::int64_t times = draw.Between(1, 2); times > 0; --times) {
    // The first five cost least: filters and groups are enlarged by their regions.
    *sizes[static_cast<std::size_t>(draw.Between(0, 4))] = draw.Awkward();
  }
}

// What the candidate cannot do is left out where that is a matter of one field.
void Restrict(const Capabilities& capabilities, ProblemDraft& draft, Draw& draw) {
  const bool nhwc = capabilities.data_formats.contains("NHWC");
  if (!capabilities.data_formats.contains("NCHW")) draft.data_format = DataFormat::kNhwc;
  if (!nhwc) draft.data_format = DataFormat::kNchw;
  if (!capabilities.groups) draft.groups = 1;
  if (!capabilities.per_axis_strides) draft.columns.stride = draft.rows.stride;
  if (!capabilities.non_square) {
    draft.columns.input = draft.rows.input;
    draft.columns.filter = draft.rows.filter;
  }
  for (AxisDraft* axis : {&draft.rows, &draft.columns}) {
    if (!capabilities.dilation) axis->dilation = 1;
    if (!capabilities.asymmetric_padding) axis->pad_after = axis->pad_before;
  }
  if (!capabilities.stride_with_dilation && draw.OneIn(2)) {
    draft.rows.stride = draft.columns.stride = 1;
  } else if (!capabilities.stride_with_dilation) {
    draft.rows.dilation = draft.columns.dilation = 1;
  }
}

// Under VALID a window must fit.
void Fit(ProblemDraft& draft) {
  for (AxisDraft* axis : {&draft.rows, &draft.columns}) {
    const std::int64_t pads = draft.padding == Padding::kExplicit ? axis->pad_before + axis->pad_after : 0;
    const std::int64_t needed = axis->dilated_filter() - pads;
    if (draft.padding != Padding::kSame && axis->input > 0 && axis->input < needed) axis->input = needed;
  }
}

// Halves the largest size until the work is affordable. Nothing where a window that must fit keeps that from happening.
std::optional<Problem> WithinLimits(const Space& space, ProblemDraft draft) {
  for (std::int64_t* size : Sizes(draft)) *size = std::min(*size, space.max_size);
  while (draft.groups > 1 && draft.groups * std::max(draft.filter_depth, draft.out_per_group) > space.max_size) {
    draft.groups /= 2;
  }
  for (std::int64_t work = std::numeric_limits<std::int64_t>::max();;) {
    Fit(draft);
    if (std::max(draft.rows.input, draft.columns.input) > space.max_size) return std::nullopt;
    std::optional<Problem> problem = ToProblem(draft);
    if (!problem || problem->multiply_adds() <= space.max_work) return problem;
    if (problem->multiply_adds() >= work) return std::nullopt;
    work = problem->multiply_adds();
    const std::vector<std::int64_t*> sizes = Sizes(draft);
    **std::max_element(sizes.begin(), sizes.end(), [](auto* a, auto* b) { return *a < *b; }) /= 2;
  }
}

Problem DrawProblem(const Space& space, Draw& draw) {
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    ProblemDraft draft = DrawFreely(space, draw);
    if (draw.OneIn(3)) Enlarge(draft, draw);
    if (draw.OneIn(2)) draw.Of(Regions()).steer(draft, draw);
    Restrict(space.capabilities, draft, draw);
    const std::optional<Problem> problem = WithinLimits(space, draft);
    if (problem && !WhyUnsupported(space.capabilities, *problem)) return *problem;
  }
  WGRAD_CHECK(false, "a space of MakeSpace must hold problems that can be drawn");
}

}  // namespace

rc::Gen<Problem> ArbitraryProblem(const Space& space) {
  return rc::Gen<Problem>([space](rc::Random random, int) {
    Draw draw(random.next(), space.max_size);
    return rc::shrinkable::shrinkRecur(DrawProblem(space, draw), [](const Problem& problem) {
      return rc::seq::fromContainer(PlainerProblems(problem));
    });
  });
}

}  // namespace wgrad::fuzz
