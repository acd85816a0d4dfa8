// Faults in what is summed: images, tails of blocks, the shortcuts of special filters, the image's border.
#include <algorithm>
#include <utility>

#include "fuzz/kernels/faults.h"

namespace wgrad::fuzz {
namespace {

using CountRule = bool (*)(const Problem&, const Tap&, const Position&);

constexpr std::int64_t kBlock = 4;  // elements that a vectorized loop would take at once

Fault CountFault(WrongKernel kernel, CountRule counts, FaultFamily family = FaultFamily::kStructural) {
  kernel.family = family;
  return {std::move(kernel), {.counts = counts}};
}

Fault FinishFault(WrongKernel kernel, double (*finish)(const Problem&, double)) {
  kernel.family = FaultFamily::kStructural;
  return {std::move(kernel), {.finish = finish}};
}

/// Whether `at` lies behind the last whole block of `count` elements that make at least one.
bool InTail(std::int64_t at, std::int64_t count) { return count > kBlock && at >= count / kBlock * kBlock; }

bool IsPointwise(const Problem& problem) { return problem.rows().filter == 1 && problem.columns().filter == 1; }
bool IsDepthwise(const Problem& problem) { return problem.groups() > 1 && problem.filter_depth() == 1; }

void DropPadding(Geometry& geometry) { geometry.rows.pad_before = geometry.columns.pad_before = 0; }

std::optional<std::int64_t> ReadFirstPixels(const Problem& problem, const Pixel& pixel, const Position& position) {
  if (!IsPointwise(problem)) return right::Read(problem, pixel, position);
  const std::int64_t width = problem.columns().input;
  const std::int64_t flat = position.oh * problem.columns().output + position.ow;
  if (flat >= problem.rows().input * width) return std::nullopt;
  return FlatOffset(problem, problem.data_format(), {pixel.n, flat / width, flat % width, pixel.c});
}

std::optional<std::int64_t> ReadEdge(const Problem& problem, const Pixel& pixel, const Position&) {
  if (problem.input_count() == 0) return std::nullopt;
  const Pixel edge{pixel.n, std::clamp<std::int64_t>(pixel.ih, 0, problem.rows().input - 1),
                   std::clamp<std::int64_t>(pixel.iw, 0, problem.columns().input - 1), pixel.c};
  return FlatOffset(problem, problem.data_format(), edge);
}

std::optional<std::int64_t> ReadAcrossColumns(const Problem& problem, const Pixel& pixel, const Position&) {
  if (pixel.ih < 0 || pixel.ih >= problem.rows().input) return std::nullopt;
  const std::int64_t from = FlatOffset(problem, problem.data_format(), pixel);
  if (from < 0 || from >= problem.input_count()) return std::nullopt;
  return from;
}

std::vector<Fault> Batches() {
  return {
      CountFault({"first_image_only", "B1", "only the first image is summed", ""},
                 [](const Problem&, const Tap&, const Position& position) { return position.n == 0; }),
      CountFault(
          {"odd_image_lost", "B2", "the batch is summed in two equal halves, an odd image is lost", "pytorch 31889"},
          [](const Problem& problem, const Tap&, const Position& position) {
            return position.n < problem.batch() / 2 * 2;
          }),
      FinishFault({"divided_by_batch", "B3", "the sum is divided by the batch", "cTensor 3"},
                  [](const Problem& problem, double sum) { return sum / static_cast<double>(problem.batch()); }),
      FinishFault({"divided_by_output_area", "B4", "the sum is divided by the pixels of out_backprop", "OneFlow 255"},
                  [](const Problem& problem, double sum) {
                    return sum / static_cast<double>(problem.rows().output * problem.columns().output);
                  }),
  };
}

std::vector<Fault> Tails() {
  return {
      CountFault({"input_channel_tail_lost", "T1", "in channels behind the last block of 4 stay zero", "MIOpen 563"},
                 [](const Problem& problem, const Tap& tap, const Position&) {
                   return !InTail(tap.ic, problem.filter_depth());
                 }),
      CountFault(
          {"output_channel_tail_lost", "T2", "out channels behind the last block of 4 stay zero", "OpenBLAS 5429"},
          [](const Problem& problem, const Tap& tap, const Position&) { return !InTail(tap.oc, problem.out_depth()); }),
      CountFault({"output_column_tail_lost", "T3", "columns of out_backprop behind the last block of 4 are not summed",
                  "MIOpen 449"},
                 [](const Problem& problem, const Tap&, const Position& position) {
                   return !InTail(position.ow, problem.columns().output);
                 }),
      CountFault({"even_filter_last_column_lost", "T4", "the last column of an even filter width from 4 on stays zero",
                  "MIOpen 100"},
                 [](const Problem& problem, const Tap& tap, const Position&) {
                   const std::int64_t width = problem.columns().filter;
                   return !(width >= kBlock && width % 2 == 0 && tap.kw == width - 1);
                 }),
  };
}

std::vector<Fault> Shortcuts() {
  constexpr FaultFamily kFamily = FaultFamily::kStructural;
  return {
      {{"pointwise_ignores_stride", "Q1", "a 1x1 filter takes the first pixels of the image whatever the stride",
        "tensorflow 1868, MIOpen 999", kFamily},
       {.read = ReadFirstPixels}},
      {{"pointwise_ignores_padding", "Q2", "a 1x1 filter ignores the padding", "pytorch 54080", kFamily},
       {.geometry =
            [](const Problem& problem, Geometry& geometry) {
              if (IsPointwise(problem)) DropPadding(geometry);
            }}},
      {{"depthwise_ignores_padding", "Q3", "a depthwise filter ignores the padding", "pytorch 50042", kFamily},
       {.geometry =
            [](const Problem& problem, Geometry& geometry) {
              if (IsDepthwise(problem)) DropPadding(geometry);
            }}},
      {{"padding_repeats_edge", "Q4", "the padding repeats the pixel at the edge", "", kFamily}, {.read = ReadEdge}},
      {{"column_limit_unchecked", "Q5", "only rows are checked, so that a column runs into the next row",
        "TFSA-2021-028", kFamily},
       {.read = ReadAcrossColumns}},
  };
}

}  // namespace

std::vector<Fault> CountingFaults() {
  std::vector<Fault> faults = Batches();
  for (const auto group : {Tails, Shortcuts}) {
    for (Fault& fault : group()) faults.push_back(std::move(fault));
  }
  return faults;
}

std::vector<Fault> LostTermFaults() {
  constexpr FaultFamily kFamily = FaultFamily::kLostTerm;
  return {
      CountFault(
          {"drops_last_term", "", "the last position of out_backprop is not summed", ""},
          [](const Problem& problem, const Tap&, const Position& position) {
            return position.n != problem.batch() - 1 || position.oh != problem.rows().output - 1 ||
                   position.ow != problem.columns().output - 1;
          },
          kFamily),
      CountFault(
          {"last_image_missing", "", "the last image is not summed", ""},
          [](const Problem& problem, const Tap&, const Position& position) {
            return position.n != problem.batch() - 1;
          },
          kFamily),
      CountFault(
          {"lost_update_in_one_element", "", "one element in the middle misses one update", "NNlib 197"},
          [](const Problem& problem, const Tap& tap, const Position& position) {
            const bool element = problem.FilterOffset(tap.kh, tap.kw, tap.ic, tap.oc) == problem.filter_count() / 2;
            return !(element && position.n == problem.batch() / 2 && position.oh == problem.rows().output / 2 &&
                     position.ow == problem.columns().output / 2);
          },
          kFamily),
  };
}

}  // namespace wgrad::fuzz
