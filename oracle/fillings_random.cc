// normal, positive, wide, tiny, local and symmetry: random data whose scale is chosen for one kind of fault.
#include <algorithm>

#include "oracle/fillings_data.h"
#include "oracle/fillings_places.h"
#include "oracle/fillings_recipes.h"

namespace wgrad::oracle::filling {
namespace {

bool HasHalfResult(const Problem& problem) { return problem.result_dtype() == DType::kFloat16; }

void FillNormal(Tensor& tensor, std::uint64_t seed) {
  const DType dtype = tensor.dtype();
  Fill(tensor, [=](std::int64_t i) { return Encode(dtype, NormalValue(seed, i)); });
}

// Normal values moved to the nearest odd multiple of 2^-7: sums of products are multiples of half's smallest normal
// number, so that none of them is subnormal.
void FillCoarseNormal(Tensor& tensor, std::uint64_t seed) {
  const DType dtype = tensor.dtype();
  Fill(tensor, [=](std::int64_t i) {
    const auto shifted = static_cast<std::int64_t>(NormalValue(seed, i) * 64 + 1024);  // positive: truncation is floor
    return Encode(dtype, static_cast<double>(2 * (shifted - 1024) + 1) / 128);
  });
}

void Scale(Tensor& tensor, double factor) {
  const DType dtype = tensor.dtype();
  if (dtype == DType::kFloat32) {
    for (float& value : tensor.values<float>()) value *= static_cast<float>(factor);
  } else if (dtype == DType::kFloat64) {
    for (double& value : tensor.values<double>()) value *= factor;
  } else {
    for (std::uint16_t& bits : tensor.values<std::uint16_t>()) {
      bits = static_cast<std::uint16_t>(Encode(dtype, DecodeBits(dtype, bits) * factor));
    }
  }
}

// One scale of `tiny`: exponents of input, and of out_backprop by output channel.
struct TinyScale {
  int input;
  std::vector<int> out_backprop;
  const char* label;
};

std::vector<TinyScale> TinyScales(const Problem& problem) {
  const FloatFormat& format = FormatOf(problem.dtype());
  const int subnormal = format.min_exponent - 4;
  const int low = format.min_exponent / 2;
  std::vector<int> products = {format.min_exponent - low, format.lowest_exponent() - low};
  if (problem.dtype() == DType::kBFloat16) products.push_back(kFloat32Format.lowest_exponent() - low);
  return {{0, {subnormal, format.min_exponent}, "out_backprop subnormal or just normal"},
          {low, products, "products around the smallest normal and subnormal numbers"},
          {subnormal, {10, 0}, "input subnormal"}};
}

constexpr int kTinyTurns = 2;  // runs of each scale, so that one output channel meets two products

// Magnitudes of `local`. Half has room for less.
struct LocalScale {
  int tiny, usual, large;
};
LocalScale LocalScaleOf(DType dtype) {
  if (dtype == DType::kFloat16) return {-10, -4, 4};
  return {-20, 0, 20};
}

RandomFloat OneBinade(DType dtype, int exponent) { return RandomFloat(dtype, {exponent, 1, false, false}); }

void FillPixels(const Case& c, const Pixel& centre, std::int64_t distance, int exponent, Tensor& input) {
  const Problem& problem = c.problem;
  const RandomFloat random = OneBinade(problem.dtype(), exponent);
  const std::uint64_t seed = SeedOf(c, 0, Stream::kInput);
  const std::int64_t last_row = std::min(problem.rows().input - 1, centre.ih + distance);
  const std::int64_t last_column = std::min(problem.columns().input - 1, centre.iw + distance);
  for (std::int64_t ih = std::max<std::int64_t>(0, centre.ih - distance); ih <= last_row; ++ih) {
    for (std::int64_t iw = std::max<std::int64_t>(0, centre.iw - distance); iw <= last_column; ++iw) {
      for (std::int64_t channel = 0; channel < problem.input_depth(); ++channel) {
        const std::int64_t offset = problem.InputOffset(centre.n, ih, iw, channel);
        input.set_bits(offset, random(At(seed, offset)));
      }
    }
  }
}

// out_backprop becomes zero wherever a tap other than `seen` would read `pixel`: only that tap's elements are large.
void HidePixelFromOtherTaps(const Problem& problem, const Pixel& pixel, const TapBox& seen, Tensor& out_backprop) {
  for (const TapBox& box : NonEmptyBoxes(problem)) {
    if (box.kh == seen.kh && box.kw == seen.kw) continue;
    const Pixel origin = PixelOf(problem, {pixel.n, 0, 0}, box.kh, box.kw);
    const std::int64_t down = pixel.ih - origin.ih;
    const std::int64_t right = pixel.iw - origin.iw;
    if (down % problem.rows().stride != 0 || right % problem.columns().stride != 0) continue;
    const std::int64_t oh = down / problem.rows().stride;
    const std::int64_t ow = right / problem.columns().stride;
    if (oh < box.rows.first || oh > box.rows.last || ow < box.columns.first || ow > box.columns.last) continue;
    for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
      out_backprop.set_bits(problem.OutBackpropOffset(pixel.n, oh, ow, oc), 0);
    }
  }
}

Run MakeLocalPixel(const Case& c) {
  const Problem& problem = c.problem;
  const LocalScale scale = LocalScaleOf(problem.dtype());
  Run run = EmptyRun(problem);
  run.label = "one large pixel among tiny ones";
  FillFloats(run.input, SeedOf(c, 0, Stream::kInput), {scale.usual, 1, false, false});
  FillFloats(run.out_backprop, SeedOf(c, 0, Stream::kOutBackprop), {0, 1, false, false});
  const std::vector<TapBox> boxes = NonEmptyBoxes(problem);
  if (boxes.empty()) return run;
  const std::uint64_t choices = SeedOf(c, 0, Stream::kChoices);
  const TapBox& box = boxes[boxes.size() / 2];
  const Pixel pixel = PixelOf(problem, box.At(Below(At(choices, 0), box.count())), box.kh, box.kw);
  FillPixels(c, pixel, 2, scale.tiny, run.input);
  FillPixels(c, pixel, 0, scale.large, run.input);
  HidePixelFromOtherTaps(problem, pixel, box, run.out_backprop);
  return run;
}

// Which channels of a tensor are large and which are zero; of one channel alone neither is.
struct OddChannels {
  std::int64_t large = -1;
  std::int64_t zero = -1;
};
OddChannels ChooseChannels(std::uint64_t z, std::int64_t channels) {
  if (channels < 2) return {};
  const std::int64_t large = Below(z, channels);
  return {large, (large + 1) % channels};
}

Run MakeLocalChannel(const Case& c) {
  const Problem& problem = c.problem;
  const LocalScale scale = LocalScaleOf(problem.dtype());
  Run run = EmptyRun(problem);
  run.label = "one large channel beside a zero one, and a zero row";
  const std::uint64_t choices = SeedOf(c, 1, Stream::kChoices);
  const RandomFloat usual = OneBinade(problem.dtype(), scale.usual);
  const RandomFloat large = OneBinade(problem.dtype(), scale.large);
  const auto fill = [&](Tensor& tensor, std::uint64_t seed, const OddChannels& odd) {
    FillByChannel(problem.data_format(), tensor, [&, seed](std::int64_t i, std::int64_t channel) {
      if (channel == odd.zero) return std::uint64_t{0};
      return channel == odd.large ? large(At(seed, i)) : usual(At(seed, i));
    });
  };
  fill(run.input, SeedOf(c, 1, Stream::kInput), ChooseChannels(At(choices, 0), problem.input_depth()));
  fill(run.out_backprop, SeedOf(c, 1, Stream::kOutBackprop),
       {-1, ChooseChannels(At(choices, 1), problem.out_depth()).zero});
  if (problem.rows().output < 2) return run;
  const std::int64_t oh = Below(At(choices, 2), problem.rows().output);
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    for (std::int64_t ow = 0; ow < problem.columns().output; ++ow) {
      for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
        run.out_backprop.set_bits(problem.OutBackpropOffset(n, oh, ow, oc), 0);
      }
    }
  }
  return run;
}

// Powers of two by which run 1 of `symmetry` multiplies input and out_backprop.
struct SymmetryScale {
  double input, out_backprop;
};
SymmetryScale SymmetryScaleOf(const Problem& problem) {
  if (problem.dtype() == DType::kFloat16) return {0x1p3, 0x1p-2};
  return {0x1p9, 0x1p-21};
}

}  // namespace

Run MakeNormal(const Case& c, int) {
  Run run = EmptyRun(c.problem);
  FillNormal(run.input, SeedOf(c, 0, Stream::kInput));
  FillNormal(run.out_backprop, SeedOf(c, 0, Stream::kOutBackprop));
  return run;
}

Run MakePositive(const Case& c, int) {
  Run run = EmptyRun(c.problem);
  // A half result would overflow from n = 2^16 on: out_backprop is scaled down by a power of two.
  const int shift = HasHalfResult(c.problem) ? std::clamp(FloorLog2(c.problem.positions()) - 14, 0, 13) : 0;
  FillFloats(run.input, SeedOf(c, 0, Stream::kInput), {-1, 1, true, false});
  FillFloats(run.out_backprop, SeedOf(c, 0, Stream::kOutBackprop), {-1 - shift, 1, true, false});
  return run;
}

Run MakeWide(const Case& c, int) {
  Run run = EmptyRun(c.problem);
  const int reach = c.problem.dtype() == DType::kFloat16 ? 5 : 12;
  // Sums grow like the root of n; a half result must not overflow.
  const int shift = HasHalfResult(c.problem) ? std::clamp(FloorLog2(c.problem.positions()) / 2 - 4, 0, 9) : 0;
  FillFloats(run.input, SeedOf(c, 0, Stream::kInput), {-reach, 2 * reach + 1, false, false});
  FillFloats(run.out_backprop, SeedOf(c, 0, Stream::kOutBackprop), {-reach - shift, 2 * reach + 1, false, false});
  return run;
}

int TinyRuns(const Problem& problem) { return kTinyTurns * static_cast<int>(TinyScales(problem).size()); }

Run MakeTiny(const Case& c, int run_index) {
  const Problem& problem = c.problem;
  const TinyScale scale = TinyScales(problem)[static_cast<std::size_t>(run_index / kTinyTurns)];
  Run run = EmptyRun(problem);
  run.label = scale.label;
  FillFloats(run.input, SeedOf(c, run_index, Stream::kInput), {scale.input - 1, 3, false, false});
  std::vector<RandomFloat> random;
  for (const int exponent : scale.out_backprop) {
    random.emplace_back(problem.dtype(), FloatRange{exponent - 1, 3, false, false});
  }
  const std::uint64_t seed = SeedOf(c, run_index, Stream::kOutBackprop);
  const auto turn = static_cast<std::size_t>(run_index % kTinyTurns);
  FillByChannel(problem.data_format(), run.out_backprop, [&](std::int64_t i, std::int64_t oc) {
    return random[(static_cast<std::size_t>(oc) + turn) % random.size()](At(seed, i));
  });
  return run;
}

int LocalRuns(const Problem&) { return 2; }

Run MakeLocal(const Case& c, int run) { return run == 0 ? MakeLocalPixel(c) : MakeLocalChannel(c); }

int SymmetryRuns(const Problem&) { return 3; }

Run MakeSymmetry(const Case& c, int run_index) {
  Run run = EmptyRun(c.problem);
  const bool half = c.problem.dtype() == DType::kFloat16;
  (half ? FillCoarseNormal : FillNormal)(run.input, SeedOf(c, 0, Stream::kInput));
  (half ? FillCoarseNormal : FillNormal)(run.out_backprop, SeedOf(c, 0, Stream::kOutBackprop));
  run.label = "the data themselves";
  if (run_index == 1) {
    run.label = "both tensors scaled by powers of two";
    const SymmetryScale scale = SymmetryScaleOf(c.problem);
    Scale(run.input, scale.input);
    Scale(run.out_backprop, scale.out_backprop);
  } else if (run_index == 2) {
    run.label = "out_backprop negated";
    Scale(run.out_backprop, -1);
  }
  return run;
}

std::vector<BitRelation> SymmetryRelations(const Problem& problem) {
  const SymmetryScale scale = SymmetryScaleOf(problem);
  return {{1, scale.input * scale.out_backprop}, {2, -1}};
}

}  // namespace wgrad::oracle::filling
