#include "fuzz/shrink_problem.h"

#include <algorithm>
#include <optional>

#include "fuzz/problem_draft.h"

namespace wgrad::fuzz {
namespace {

using Drafts = std::vector<ProblemDraft>;

// The draft with a change, where that changes it.
template <typename Change>
void AddChanged(const ProblemDraft& draft, Drafts& drafts, Change change) {
  ProblemDraft changed = draft;
  change(changed);
  if (changed != draft) drafts.push_back(changed);
}

// What can be dropped in one step.
void AddPlain(const ProblemDraft& draft, Drafts& drafts) {
  AddChanged(draft, drafts, [](ProblemDraft& d) { d.rows = AxisDraft{}; });
  AddChanged(draft, drafts, [](ProblemDraft& d) { d.columns = AxisDraft{}; });
  AddChanged(draft, drafts, [](ProblemDraft& d) { d.rows.dilation = d.columns.dilation = 1; });
  AddChanged(draft, drafts, [](ProblemDraft& d) { d.rows.stride = d.columns.stride = 1; });
  AddChanged(draft, drafts, [](ProblemDraft& d) { d.data_format = DataFormat::kNhwc; });
  // One group of as many channels first, so that the sizes stay.
  AddChanged(draft, drafts, [](ProblemDraft& d) {
    d.filter_depth *= d.groups;
    d.out_per_group *= d.groups;
    d.groups = 1;
  });
  AddChanged(draft, drafts, [](ProblemDraft& d) { d.groups = 1; });
  // Explicit padding without pads is VALID; SAME is plainer than pads of one's own.
  if (draft.padding != Padding::kValid) {
    AddChanged(draft, drafts, [](ProblemDraft& d) {
      d.padding = Padding::kValid;
      d.rows.pad_before = d.rows.pad_after = d.columns.pad_before = d.columns.pad_after = 0;
    });
  }
  if (draft.padding == Padding::kExplicit) {
    AddChanged(draft, drafts, [](ProblemDraft& d) {
      d.padding = Padding::kSame;
      d.rows.pad_before = d.rows.pad_after = d.columns.pad_before = d.columns.pad_after = 0;
    });
  }
}

// Values closer to `plain`: itself, half way, two steps (some faults are of even sizes), one step.
std::vector<std::int64_t> Closer(std::int64_t value, std::int64_t plain) {
  if (value < plain) return {plain};
  std::vector<std::int64_t> values;
  for (const std::int64_t closer : {plain, plain + (value - plain) / 2, value - 2, value - 1}) {
    const bool is_new = std::count(values.begin(), values.end(), closer) == 0;
    if (closer >= plain && closer < value && is_new) values.push_back(closer);
  }
  return values;
}

using Field = std::int64_t& (*)(ProblemDraft&);
struct Shrinking {
  Field field;
  std::int64_t plain;
};
constexpr Shrinking kFields[] = {
    {[](ProblemDraft& d) -> std::int64_t& { return d.batch; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.filter_depth; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.out_per_group; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.groups; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.rows.filter; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.columns.filter; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.rows.input; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.columns.input; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.rows.stride; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.columns.stride; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.rows.dilation; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.columns.dilation; }, 1},
    {[](ProblemDraft& d) -> std::int64_t& { return d.rows.pad_before; }, 0},
    {[](ProblemDraft& d) -> std::int64_t& { return d.rows.pad_after; }, 0},
    {[](ProblemDraft& d) -> std::int64_t& { return d.columns.pad_before; }, 0},
    {[](ProblemDraft& d) -> std::int64_t& { return d.columns.pad_after; }, 0},
};

void AddCloser(const ProblemDraft& draft, Drafts& drafts) {
  for (const Shrinking& shrinking : kFields) {
    ProblemDraft changed = draft;
    std::int64_t& field = shrinking.field(changed);
    for (const std::int64_t value : Closer(field, shrinking.plain)) {
      field = value;
      drafts.push_back(changed);
    }
  }
}

// Image and filter together: a window that just fits goes on fitting.
void AddSmallerWindows(const ProblemDraft& draft, Drafts& drafts) {
  for (AxisDraft ProblemDraft::*axis : {&ProblemDraft::rows, &ProblemDraft::columns}) {
    const AxisDraft& from = draft.*axis;
    if (from.filter < 2) continue;
    for (const std::int64_t filter : Closer(from.filter, 1)) {
      ProblemDraft changed = draft;
      AxisDraft& to = changed.*axis;
      to.filter = filter;
      to.input = std::max<std::int64_t>(1, from.input - (from.dilated_filter() - to.dilated_filter()));
      if (to.input != from.input) drafts.push_back(changed);
    }
    ProblemDraft undilated = draft;
    AxisDraft& to = undilated.*axis;
    to.dilation = 1;
    to.input = std::max<std::int64_t>(1, from.input - (from.dilated_filter() - to.dilated_filter()));
    if (to.dilation != from.dilation && to.input != from.input) drafts.push_back(undilated);
  }
}

}  // namespace

std::vector<Problem> PlainerProblems(const Problem& problem) {
  const ProblemDraft draft = DraftOf(problem);
  Drafts drafts;
  AddPlain(draft, drafts);
  AddCloser(draft, drafts);
  AddSmallerWindows(draft, drafts);
  std::vector<Problem> problems;
  for (const ProblemDraft& plainer : drafts) {
    if (std::optional<Problem> valid = ToProblem(plainer)) problems.push_back(*std::move(valid));
  }
  return problems;
}

Problem ShrinkProblem(const Problem& problem, const std::function<bool(const Problem&)>& fails) {
  Problem plainest = problem;
  for (bool progress = true; progress;) {
    progress = false;
    for (const Problem& plainer : PlainerProblems(plainest)) {
      if (!fails(plainer)) continue;
      plainest = plainer;
      progress = true;
      break;
    }
  }
  return plainest;
}

}  // namespace wgrad::fuzz
