// one_hot and coded: one non-zero of out_backprop per output channel, so that each element is one product.
#include <algorithm>

#include "oracle/fillings_data.h"
#include "oracle/fillings_places.h"
#include "oracle/fillings_recipes.h"

namespace wgrad::oracle::filling {
namespace {

constexpr std::int64_t kOneHotRuns = 64;
constexpr std::int64_t kCodedRuns = 16;
constexpr std::int64_t kSweepWork = std::int64_t{1} << 31;  // multiply-adds that a sweep may spend beyond the anchors

// Which position a channel probes in a run. Slot (run + channel) mod slots: the first slots are anchors, the others
// are drawn; over all runs each channel comes through every slot, or through `runs` of them where slots are more.
struct Sweep {
  std::vector<Position> anchors;
  std::int64_t runs = 1;
  std::int64_t slots = 1;
};

Sweep MakeSweep(const Problem& problem, std::int64_t most_runs) {
  Sweep sweep;
  const std::int64_t positions = problem.positions();
  if (positions == 0 || problem.filter_count() == 0) return sweep;
  sweep.anchors = FirstAndLastTerms(problem);
  const std::int64_t needed = std::max<std::int64_t>(4, std::ssize(sweep.anchors));
  const std::int64_t affordable = std::max(needed, kSweepWork / std::max<std::int64_t>(1, problem.multiply_adds()));
  sweep.runs = std::min({most_runs, affordable, positions});
  if (sweep.runs == positions) {
    sweep.anchors.clear();
    for (std::int64_t i = 0; i < positions; ++i) sweep.anchors.push_back(PositionAt(problem, i));
  }
  sweep.slots = std::max<std::int64_t>(sweep.runs, std::ssize(sweep.anchors));
  return sweep;
}

// Calls function(offset, oc) for the position of out_backprop that each channel probes.
template <typename Function>
void ForEachProbe(const Case& c, int run, const Sweep& sweep, Function function) {
  const Problem& problem = c.problem;
  if (problem.positions() == 0) return;
  const std::uint64_t choices = SeedOf(c, run, Stream::kChoices);
  for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
    const std::int64_t slot = (run + oc) % sweep.slots;
    const Position at = slot < std::ssize(sweep.anchors)
                            ? sweep.anchors[static_cast<std::size_t>(slot)]
                            : PositionAt(problem, Below(At(choices, oc), problem.positions()));
    function(problem.OutBackpropOffset(at.n, at.oh, at.ow, oc), oc);
  }
}

std::string LabelOf(const char* name, int run, const Sweep& sweep) {
  return std::string(name) + " " + std::to_string(run + 1) + " of " + std::to_string(sweep.runs);
}

// Codes of the 16-bit dtypes are their positive normal numbers, of the others the integers from 1.
std::int64_t CodeCount(DType dtype) {
  const FloatFormat& format = FormatOf(dtype);
  if (SizeOf(dtype) > 2) return std::int64_t{1} << format.precision;
  const std::int64_t binades = format.max_exponent - format.min_exponent + 1;
  return binades << (format.precision - 1);
}

std::uint64_t CodeBits(DType dtype, std::int64_t code) {
  if (SizeOf(dtype) > 2) return Encode(dtype, static_cast<double>(code + 1));
  return static_cast<std::uint64_t>(code) + (std::uint64_t{1} << (FormatOf(dtype).precision - 1));
}

}  // namespace

int OneHotRuns(const Problem& problem) { return static_cast<int>(MakeSweep(problem, kOneHotRuns).runs); }

Run MakeOneHot(const Case& c, int run_index) {
  const Sweep sweep = MakeSweep(c.problem, kOneHotRuns);
  Run run = EmptyRun(c.problem);
  run.label = LabelOf("one-hot sweep", run_index, sweep);
  const FloatRange range{-2, 4, false, true};
  FillFloats(run.input, SeedOf(c, run_index, Stream::kInput), range);
  const RandomFloat random(c.problem.dtype(), range);
  const std::uint64_t values = SeedOf(c, run_index, Stream::kOutBackprop);
  ForEachProbe(c, run_index, sweep, [&](std::int64_t offset, std::int64_t oc) {
    run.out_backprop.set_bits(offset, random(At(values, oc)));
  });
  return run;
}

int CodedRuns(const Problem& problem) { return static_cast<int>(MakeSweep(problem, kCodedRuns).runs); }

Run MakeCoded(const Case& c, int run_index) {
  const Sweep sweep = MakeSweep(c.problem, kCodedRuns);
  Run run = EmptyRun(c.problem);
  run.label = LabelOf("coded sweep", run_index, sweep);
  const DType dtype = c.problem.dtype();
  const std::int64_t codes = CodeCount(dtype);
  Fill(run.input, [=](std::int64_t i) { return CodeBits(dtype, i % codes); });
  const std::uint64_t signs = SeedOf(c, run_index, Stream::kOutBackprop);
  ForEachProbe(c, run_index, sweep, [&](std::int64_t offset, std::int64_t oc) {
    run.out_backprop.set_value(offset, (At(signs, oc) >> 63) != 0 ? -1.0 : 1.0);
  });
  return run;
}

}  // namespace wgrad::oracle::filling

namespace wgrad::oracle {

std::optional<std::int64_t> DecodeInputOffset(const Case& coded, int run, double value) {
  const DType dtype = coded.problem.dtype();
  if (coded.filling != Filling::kCoded || run < 0 || run >= filling::CodedRuns(coded.problem)) return std::nullopt;
  const std::uint64_t bits = EncodeNearest(dtype, value < 0 ? -value : value);
  const double magnitude = DecodeBits(dtype, bits);
  if (!(magnitude == value || magnitude == -value)) return std::nullopt;  // NaN, or no value of the dtype
  const std::int64_t codes = filling::CodeCount(dtype);
  const std::int64_t elements = coded.problem.input_count();
  std::int64_t code = -1;
  if (SizeOf(dtype) > 2) {
    if (!(magnitude >= 1 && magnitude <= static_cast<double>(codes))) return std::nullopt;
    code = static_cast<std::int64_t>(magnitude) - 1;
    if (static_cast<double>(code + 1) != magnitude) return std::nullopt;
  } else {
    code = static_cast<std::int64_t>(bits) - (std::int64_t{1} << (FormatOf(dtype).precision - 1));
  }
  if (code < 0 || code >= codes || code >= elements) return std::nullopt;
  if (elements - code > codes) return std::nullopt;  // the code is used again: it names no single element
  return code;
}

}  // namespace wgrad::oracle
