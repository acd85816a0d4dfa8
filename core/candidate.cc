#include "core/candidate.h"

#include <algorithm>
#include <array>

#include "core/check.h"

namespace wgrad {
namespace {

constexpr std::array<std::string_view, 3> kLayoutNames = {"hwio", "oihw", "ohwi"};

// Brings OIHW or OHWI into HWIO. Elements are moved as bits: a float move may quiet a signaling NaN.
template <typename Bits>
void Permute(const Problem& problem, ResultLayout layout, std::span<const Bits> result, std::span<Bits> hwio) {
  const std::int64_t taps_h = problem.rows().filter;
  const std::int64_t taps_w = problem.columns().filter;
  const std::int64_t depth = problem.filter_depth();
  std::size_t to = 0;
  for (std::int64_t kh = 0; kh < taps_h; ++kh) {
    for (std::int64_t kw = 0; kw < taps_w; ++kw) {
      for (std::int64_t ic = 0; ic < depth; ++ic) {
        for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
          const std::int64_t from = layout == ResultLayout::kOihw ? ((oc * depth + ic) * taps_h + kh) * taps_w + kw
                                                                  : ((oc * taps_h + kh) * taps_w + kw) * depth + ic;
          hwio[to++] = result[static_cast<std::size_t>(from)];
        }
      }
    }
  }
}

}  // namespace

std::optional<ResultLayout> ResultLayoutFromName(std::string_view name) {
  for (std::size_t i = 0; i < kLayoutNames.size(); ++i) {
    if (kLayoutNames[i] == name) return static_cast<ResultLayout>(i);
  }
  return std::nullopt;
}

std::string_view NameOf(ResultLayout layout) { return kLayoutNames[static_cast<std::size_t>(layout)]; }

std::vector<std::int64_t> ResultShape(const Problem& problem, ResultLayout layout) {
  const std::int64_t kh = problem.rows().filter;
  const std::int64_t kw = problem.columns().filter;
  const std::int64_t ic = problem.filter_depth();
  const std::int64_t oc = problem.out_depth();
  switch (layout) {
    case ResultLayout::kHwio:
      return {kh, kw, ic, oc};
    case ResultLayout::kOihw:
      return {oc, ic, kh, kw};
    case ResultLayout::kOhwi:
      return {oc, kh, kw, ic};
  }
  return {};
}

Tensor ToHwio(const Problem& problem, ResultLayout layout, const Tensor& result) {
  WGRAD_CHECK(result.shape() == ResultShape(problem, layout), "result's shape is not that of its layout");
  if (layout == ResultLayout::kHwio) return result;
  Tensor hwio(result.dtype(), problem.filter_sizes());
  switch (SizeOf(result.dtype())) {
    case 2:
      Permute(problem, layout, result.values<std::uint16_t>(), hwio.values<std::uint16_t>());
      break;
    case 4:
      Permute(problem, layout, result.values<std::uint32_t>(), hwio.values<std::uint32_t>());
      break;
    default:
      Permute(problem, layout, result.values<std::uint64_t>(), hwio.values<std::uint64_t>());
  }
  return hwio;
}

std::optional<std::string> WhyUnsupported(const Capabilities& can, const Problem& problem) {
  const OpArguments arguments = problem.arguments();
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  const std::string tag = DTypeTag(problem);
  const std::string& padding = std::get<std::string>(arguments.padding);
  const bool strided = rows.stride > 1 || columns.stride > 1;
  const bool dilated = rows.dilation > 1 || columns.dilation > 1;
  if (!can.unavailable.empty()) return can.unavailable;
  if (!can.dtypes.contains(tag)) return "dtype " + tag;
  if (!can.data_formats.contains(arguments.data_format)) return "data_format " + arguments.data_format;
  if (!can.paddings.contains(padding)) return "padding " + padding;
  if (!can.asymmetric_padding && (rows.pad_before != rows.pad_after || columns.pad_before != columns.pad_after)) {
    return "asymmetric padding";
  }
  if (!can.per_axis_strides && rows.stride != columns.stride) return "strides that differ between rows and columns";
  if (!can.non_square && (rows.input != columns.input || rows.filter != columns.filter))
    return "an image or filter that is not square";
  if (!can.dilation && dilated) return "dilation";
  if (!can.stride_with_dilation && strided && dilated) return "stride together with dilation";
  if (!can.groups && problem.groups() > 1) return "groups";
  const bool empty = problem.input_count() == 0 || problem.out_backprop_count() == 0 || problem.filter_count() == 0;
  if (!can.zero_sizes && empty) return "a tensor without elements";
  if (std::max({problem.input_count(), problem.out_backprop_count(), problem.filter_count()}) > can.max_elements) {
    return "a tensor of more than " + std::to_string(can.max_elements) + " elements";
  }
  if (problem.multiply_adds() > can.max_work) return "more than " + std::to_string(can.max_work) + " multiply-adds";
  return std::nullopt;
}

Answer Candidate::TryArguments(const OpArguments&, const Tensor&, const Tensor&) {
  return Answer::Of(AnswerKind::kUnsupported, "it has no way to refuse arguments");
}

Answer ValidateAndRun(Candidate& candidate, const OpArguments& arguments, const Tensor& input,
                      const Tensor& out_backprop) {
  const Result<Problem> problem = Validate(arguments);
  if (!problem.ok()) return Answer::Of(AnswerKind::kRejected, problem.error().message);
  return candidate.FilterGradient(*problem, input, out_backprop);
}

}  // namespace wgrad
