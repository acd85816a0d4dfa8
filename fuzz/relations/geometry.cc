// Properties of geometry: the same sums written in another way, mirrored, turned, or with data that nobody may read.
#include <algorithm>
#include <limits>
#include <utility>

#include "fuzz/relations/draft.h"
#include "fuzz/relations/relation.h"

namespace wgrad::fuzz {
namespace {

Element Same(const Element& element) { return element; }

// The call of `problem` whose tensors hold what the source holds at the places told.
template <typename InputBits, typename OutBackpropBits>
Call MakeCall(std::string label, const Problem& problem, InputBits input, OutBackpropBits out_backprop) {
  return {std::move(label), problem, {MakeInput(problem, input), MakeOutBackprop(problem, out_backprop)}};
}

std::uint64_t InputBits(const Source& source, std::int64_t n, std::int64_t ih, std::int64_t iw, std::int64_t c) {
  return source.operands.input.bits(source.problem.InputOffset(n, ih, iw, c));
}

std::uint64_t OutBackpropBits(const Source& source, std::int64_t n, std::int64_t oh, std::int64_t ow, std::int64_t oc) {
  return source.operands.out_backprop.bits(source.problem.OutBackpropOffset(n, oh, ow, oc));
}

Relation OtherDataFormat(const Source& source) {
  Draft draft(source.problem);
  const bool nhwc = source.problem.data_format() == DataFormat::kNhwc;
  draft.data_format = nhwc ? DataFormat::kNchw : DataFormat::kNhwc;
  const auto problem = draft.Build();
  if (!problem) return Inapplicable("the other data format is refused");
  Call call = MakeCall(
      nhwc ? "the same tensors in NCHW" : "the same tensors in NHWC", *problem,
      [&](auto n, auto ih, auto iw, auto c) { return InputBits(source, n, ih, iw, c); },
      [&](auto n, auto oh, auto ow, auto oc) { return OutBackpropBits(source, n, oh, ow, oc); });
  return OneToOne(source, std::move(call), Same);
}

Relation PaddingWritten(const Source& source) {
  if (source.problem.padding() == Padding::kExplicit) return Inapplicable("the padding is explicit already");
  const auto problem = Draft(source.problem).WithExplicitPads().Build();
  if (!problem) return Inapplicable("its pads cannot be written out");
  Call call = PlainCall(source, "the same padding written out");
  call.problem = *problem;
  return OneToOne(source, std::move(call), Same);
}

void PadPhysically(Axis& axis) {
  axis.input += axis.pad_before + axis.pad_after;
  axis.pad_before = axis.pad_after = 0;
}

Relation PaddedInput(const Source& source) {
  const Axis& rows = source.problem.rows();
  const Axis& columns = source.problem.columns();
  const std::int64_t pads = rows.pad_before + rows.pad_after + columns.pad_before + columns.pad_after;
  if (pads == 0) return Inapplicable("there is no padding");
  Draft draft(source.problem);
  draft.padding = Padding::kValid;
  PadPhysically(draft.rows);
  PadPhysically(draft.columns);
  const auto problem = draft.Build();
  if (!problem) return Inapplicable("the padded input is refused");
  Call call = MakeCall(
      "input padded with zeros, padding VALID", *problem,
      [&](auto n, auto ih, auto iw, auto c) -> std::uint64_t {
        const std::int64_t row = ih - rows.pad_before;
        const std::int64_t column = iw - columns.pad_before;
        const bool inside = row >= 0 && row < rows.input && column >= 0 && column < columns.input;
        return inside ? InputBits(source, n, row, column, c) : 0;
      },
      [&](auto n, auto oh, auto ow, auto oc) { return OutBackpropBits(source, n, oh, ow, oc); });
  return OneToOne(source, std::move(call), Same);
}

void FillGaps(Axis& axis) {
  axis.filter = (axis.filter - 1) * axis.dilation + 1;
  axis.dilation = 1;
}

Relation DenseFilter(const Source& source) {
  const std::int64_t row_step = source.problem.rows().dilation;
  const std::int64_t column_step = source.problem.columns().dilation;
  if (row_step == 1 && column_step == 1) return Inapplicable("there is no dilation");
  Draft draft(source.problem);
  FillGaps(draft.rows);
  FillGaps(draft.columns);
  const auto problem = draft.Build();
  if (!problem) return Inapplicable("the filter without gaps is refused");
  Call call = PlainCall(source, "a filter without dilation over the same extent");
  call.problem = *problem;
  return OneToOne(source, std::move(call), [=](const Element& element) {
    return Element{element.kh * row_step, element.kw * column_step, element.ic, element.oc};
  });
}

// With stride 1 there is an output between two former ones for each step of the stride.
void FillSteps(Axis& axis) {
  axis.output = (axis.output - 1) * axis.stride + 1;
  axis.stride = 1;
}

// `problem` with both axes as FittedAxis leaves them; nothing where that is not possible.
std::optional<Draft> Fitted(const Problem& problem) {
  const auto rows = FittedAxis(problem.rows());
  const auto columns = FittedAxis(problem.columns());
  if (!rows || !columns) return std::nullopt;
  Draft draft(problem);
  draft.WithExplicitPads();
  draft.rows = *rows;
  draft.columns = *columns;
  return draft;
}

Relation DenseOutBackprop(const Source& source) {
  const std::int64_t row_step = source.problem.rows().stride;
  const std::int64_t column_step = source.problem.columns().stride;
  if (row_step == 1 && column_step == 1) return Inapplicable("there is no stride");
  auto draft = Fitted(source.problem);
  if (!draft) return Inapplicable("no window reads the image");
  FillSteps(draft->rows);
  FillSteps(draft->columns);
  const auto problem = draft->Build();
  if (!problem) return Inapplicable("stride 1 is refused");
  Call call = MakeCall(
      "stride 1, with zeros between the pixels of out_backprop", *problem,
      [&](auto n, auto ih, auto iw, auto c) { return InputBits(source, n, ih, iw, c); },
      [&](auto n, auto oh, auto ow, auto oc) -> std::uint64_t {
        const bool stands = oh % row_step == 0 && ow % column_step == 0;
        return stands ? OutBackpropBits(source, n, oh / row_step, ow / column_step, oc) : 0;
      });
  return OneToOne(source, std::move(call), Same);
}

// Which axes are turned around.
struct Mirror {
  bool rows = false;
  bool columns = false;
};

std::int64_t MirroredIf(bool mirrored, std::int64_t index, std::int64_t size) {
  return mirrored ? size - 1 - index : index;
}

// What lies before a fitted axis lies after its mirror image.
Relation Mirrored(const Source& source, Mirror mirror, std::string label) {
  auto draft = Fitted(source.problem);
  if (!draft) return Inapplicable("no window reads the image");
  if (mirror.rows) std::swap(draft->rows.pad_before, draft->rows.pad_after);
  if (mirror.columns) std::swap(draft->columns.pad_before, draft->columns.pad_after);
  const auto problem = draft->Build();
  if (!problem) return Inapplicable("the mirror image is refused");
  const auto row = [&](std::int64_t index, std::int64_t size) { return MirroredIf(mirror.rows, index, size); };
  const auto column = [&](std::int64_t index, std::int64_t size) { return MirroredIf(mirror.columns, index, size); };
  const Axis& rows = problem->rows();
  const Axis& columns = problem->columns();
  Call call = MakeCall(
      std::move(label), *problem,
      [&](auto n, auto ih, auto iw, auto c) {
        return InputBits(source, n, row(ih, rows.input), column(iw, columns.input), c);
      },
      [&](auto n, auto oh, auto ow, auto oc) {
        return OutBackpropBits(source, n, row(oh, rows.output), column(ow, columns.output), oc);
      });
  return OneToOne(source, std::move(call), [mirror, height = rows.filter, width = columns.filter](const Element& at) {
    return Element{MirroredIf(mirror.rows, at.kh, height), MirroredIf(mirror.columns, at.kw, width), at.ic, at.oc};
  });
}

Relation MirroredRows(const Source& source) {
  return Mirrored(source, {.rows = true}, "the rows of image, out_backprop and filter in reverse");
}
Relation MirroredColumns(const Source& source) {
  return Mirrored(source, {.columns = true}, "the columns of image, out_backprop and filter in reverse");
}

Relation Transposed(const Source& source) {
  Draft draft(source.problem);
  std::swap(draft.rows, draft.columns);
  const auto problem = draft.Build();
  if (!problem) return Inapplicable("rows and columns exchanged are refused");
  Call call = MakeCall(
      "rows and columns exchanged", *problem,
      [&](auto n, auto ih, auto iw, auto c) { return InputBits(source, n, iw, ih, c); },
      [&](auto n, auto oh, auto ow, auto oc) { return OutBackpropBits(source, n, ow, oh, oc); });
  return OneToOne(source, std::move(call), [](const Element& element) {
    return Element{element.kw, element.kh, element.ic, element.oc};
  });
}

// For each row (or column) of the image whether any tap of any window reads it.
std::vector<bool> ReadBySome(const Axis& axis) {
  std::vector<bool> read(static_cast<std::size_t>(axis.input));
  for (std::int64_t output = 0; output < axis.output; ++output) {
    for (std::int64_t tap = 0; tap < axis.filter; ++tap) {
      const std::int64_t at = output * axis.stride + tap * axis.dilation - axis.pad_before;
      if (at >= 0 && at < axis.input) read[static_cast<std::size_t>(at)] = true;
    }
  }
  return read;
}

Relation UnreadPixels(const Source& source) {
  const Problem& problem = source.problem;
  const std::vector<bool> rows = ReadBySome(problem.rows());
  const std::vector<bool> columns = ReadBySome(problem.columns());
  const bool all_rows = std::find(rows.begin(), rows.end(), false) == rows.end();
  const bool all_columns = std::find(columns.begin(), columns.end(), false) == columns.end();
  if ((all_rows && all_columns) || problem.input_count() == 0) return Inapplicable("every pixel is read");
  const std::uint64_t nan = EncodeNearest(problem.dtype(), std::numeric_limits<double>::quiet_NaN());
  Call call = PlainCall(source, "NaN in every pixel that no window reads");
  call.operands.input = MakeInput(problem, [&](auto n, auto ih, auto iw, auto c) {
    const bool read = rows[static_cast<std::size_t>(ih)] && columns[static_cast<std::size_t>(iw)];
    return read ? InputBits(source, n, ih, iw, c) : nan;
  });
  return OneToOne(source, std::move(call), Same);
}

}  // namespace

std::vector<Property> GeometryProperties() {
  return {
      {.name = "data_format", .description = "NHWC and NCHW give the same result", .make = OtherDataFormat},
      {.name = "padding_written",
       .description = "SAME and VALID equal EXPLICIT with the same pads",
       .make = PaddingWritten},
      {.name = "padded_input", .description = "padding equals zeros around the input, with VALID", .make = PaddedInput},
      {.name = "dense_filter",
       .description = "a dilated filter equals every d-th tap of the larger one without dilation",
       .make = DenseFilter},
      {.name = "dense_out_backprop",
       .description = "a stride equals stride 1 with zeros between the pixels of out_backprop",
       .make = DenseOutBackprop},
      {.name = "mirrored_rows",
       .description = "rows of image, out_backprop and pads in reverse: so are the filter's",
       .make = MirroredRows},
      {.name = "mirrored_columns",
       .description = "columns of image, out_backprop and pads in reverse: so are the filter's",
       .make = MirroredColumns},
      {.name = "transposed",
       .description = "rows and columns exchanged everywhere: so are the filter's",
       .make = Transposed},
      {.name = "unread_pixels",
       .description = "NaN in pixels that no window reads changes nothing",
       .make = UnreadPixels},
  };
}

}  // namespace wgrad::fuzz
