// stair, cancel and huge: chains of terms built for one tap per output channel. input is one number per channel, so the
// chain is what out_backprop holds at the tap's positions; the other taps see parts of it and are judged as usual.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "oracle/fillings_data.h"
#include "oracle/fillings_places.h"
#include "oracle/fillings_recipes.h"

namespace wgrad::oracle::filling {
namespace {

// Writes to out_backprop at the positions of one tap.
class Chain {
 public:
  Chain(const Problem& problem, const TapBox& box, std::int64_t oc, Tensor& out_backprop)
      : problem_(problem), box_(box), oc_(oc), out_backprop_(out_backprop) {}
  std::int64_t length() const { return box_.count(); }
  void Set(std::int64_t index, double value) { out_backprop_.set_value(Offset(index), value); }
  void SetBits(std::int64_t index, std::uint64_t bits) { out_backprop_.set_bits(Offset(index), bits); }

 private:
  std::int64_t Offset(std::int64_t index) const {
    const Position at = box_.At(index);
    return problem_.OutBackpropOffset(at.n, at.oh, at.ow, oc_);
  }
  const Problem& problem_;
  const TapBox& box_;
  std::int64_t oc_;
  Tensor& out_backprop_;
};

// Calls function(chain, k) for `count` output channels spread up to the last one; the k-th builds its chain for tap
// k mod taps.
template <typename Function>
void ForEachChain(const Problem& problem, std::int64_t count, Tensor& out_backprop, Function function) {
  const std::vector<TapBox> boxes = NonEmptyBoxes(problem);
  if (boxes.empty()) return;
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t oc = (k + 1) * problem.out_depth() / count - 1;
    Chain chain(problem, boxes[static_cast<std::size_t>(k % std::ssize(boxes))], oc, out_backprop);
    function(chain, k);
  }
}

// Elements near overflow are dear to judge: large filters have chains in some channels only, each tap and each kind of
// chain once at least.
std::int64_t HugeChainCount(const Problem& problem) {
  constexpr std::int64_t kElements = 1 << 14;
  const std::int64_t taps = problem.rows().filter * problem.columns().filter;
  const std::int64_t per_channel = std::max<std::int64_t>(1, taps * problem.filter_depth());
  return std::min(problem.out_depth(), std::max({taps, std::int64_t{6}, kElements / per_channel}));
}

void FillConstant(Tensor& tensor, double value) {
  const std::uint64_t bits = Encode(tensor.dtype(), value);
  Fill(tensor, [bits](std::int64_t) { return bits; });
}

double LargestBelow(double power_of_two, DType dtype) {
  return power_of_two * (1 - std::ldexp(1.0, -FormatOf(dtype).precision));
}

// The accumulator that `stair` shows in a run: the default one, and for narrow dtypes their own.
int StairPrecision(const Problem& problem, int run) {
  if (run == 2) return FormatOf(problem.dtype()).precision;
  return problem.dtype() == DType::kFloat64 ? kFloat64Format.precision : kFloat32Format.precision;
}

// One chain of `huge`: terms of one size, as a multiple of 2^(max_exponent + 1), and their signs in order.
struct Burst {
  double size;
  std::string_view signs;
};
constexpr Burst kOrderFree[] = {{1.5 / 4, "++++"}, {0.75 / 4, "----"}, {1.0 / 4, "++++"}, {0.5 / 4, "----"}};
constexpr Burst kOrderDependent[] = {{0.75, "++--"}, {0.75, "+-+-"}, {0.375, "++--"}};
constexpr Burst kProductsBeyond[] = {{2, "+-"}, {2, "++"}, {2, "-"}};

// A chain too short for four terms keeps what they add up to: one term of one sign, or a pair.
Burst Shortened(const Burst& burst, std::int64_t length) {
  if (length >= std::ssize(burst.signs)) return burst;
  const bool one_sign = burst.signs.front() == burst.signs.back();
  if (!one_sign && length >= 2) return {burst.size, "+-"};
  return {burst.size * (one_sign ? static_cast<double>(burst.signs.size()) : 1), burst.signs.substr(0, 1)};
}

// Terms spread over the chain; its last position is left for an ordinary term, which must survive a cancellation.
void SetBurst(const Burst& whole, double unit, Chain& chain) {
  const Burst burst = Shortened(whole, chain.length());
  const std::int64_t terms = std::ssize(burst.signs);
  const std::int64_t step = std::max<std::int64_t>(1, chain.length() / (terms + 1));
  const double size = burst.size * unit;
  for (std::int64_t i = 0; i < terms; ++i) {
    chain.Set(i * step, burst.signs[static_cast<std::size_t>(i)] == '-' ? -size : size);
  }
  if (chain.length() > terms) chain.Set(chain.length() - 1, 1);
}

// The largest finite number, and half a unit of its last place or just less: 65520 and 65519 in half.
void SetEdge(const FloatFormat& format, bool over, double unit, Chain& chain) {
  const double ulp_share = std::ldexp(unit, -format.precision - 1);
  const double largest = unit * (1 - std::ldexp(1.0, -format.precision));
  chain.Set(0, largest);
  if (chain.length() < 2) return;
  chain.Set(chain.length() - 1, over ? ulp_share : ulp_share * (1 - std::ldexp(1.0, -format.precision)));
}

}  // namespace

int StairRuns(const Problem& problem) { return SizeOf(problem.dtype()) == 2 ? 3 : 2; }

Run MakeStair(const Case& c, int run_index) {
  const Problem& problem = c.problem;
  const DType dtype = problem.dtype();
  const int precision = StairPrecision(problem, run_index);
  const int half = precision / 2;
  Run run = EmptyRun(problem);
  run.label = run_index == 1 ? "a 1 and terms just below the unit that a matrix unit cuts off"
                             : "a 1 and terms of half a unit of " + std::to_string(precision) + " bits";
  FillConstant(run.input, std::ldexp(1.0, -half));
  std::uint64_t steps[3];
  for (int extra = 0; extra < 3; ++extra) {  // extra bits that a matrix unit may keep
    const double unit = std::ldexp(1.0, half - precision + 1 - (run_index == 1 ? extra : 0));
    steps[extra] = Encode(dtype, run_index == 1 ? LargestBelow(unit, dtype) : unit / 2);
  }
  FillByChannel(problem.data_format(), run.out_backprop,
                [&steps](std::int64_t, std::int64_t oc) { return steps[oc % 3]; });
  ForEachChain(problem, problem.out_depth(), run.out_backprop,
               [half](Chain& chain, std::int64_t) { chain.Set(0, std::ldexp(1.0, half)); });
  return run;
}

Run MakeCancel(const Case& c, int) {
  const Problem& problem = c.problem;
  const DType dtype = problem.dtype();
  Run run = EmptyRun(problem);
  const int precision = FormatOf(problem.result_dtype()).precision;
  // A half's exponents do not reach below float32's unit unless the pairs are large.
  const int pair_exponent = dtype == DType::kFloat16 && precision > 11 ? 11 : 0;
  const RandomFloat pair(dtype, {pair_exponent - 1, 2, false, true});
  const RandomFloat one(dtype, {0, 1, false, true});
  const std::uint64_t input_seed = SeedOf(c, 0, Stream::kInput);
  FillByChannel(problem.data_format(), run.input,
                [&](std::int64_t, std::int64_t channel) { return one(At(input_seed, channel)); });
  const std::uint64_t pairs = SeedOf(c, 0, Stream::kOutBackprop);
  const std::uint64_t choices = SeedOf(c, 0, Stream::kChoices);
  const std::uint64_t sign_bit = std::uint64_t{1} << (8 * SizeOf(dtype) - 1);
  ForEachChain(problem, problem.out_depth(), run.out_backprop, [&](Chain& chain, std::int64_t oc) {
    const std::int64_t length = chain.length();
    const std::int64_t half = length / 2;
    const std::int64_t survivor = length % 2 != 0 ? length - 1 : Below(At(choices, oc), length);
    for (std::int64_t i = 0; i < half; ++i) {
      if (survivor % std::max<std::int64_t>(half, 1) == i && length % 2 == 0) continue;
      const std::uint64_t bits = pair(At(pairs, oc * half + i));
      chain.SetBits(i, bits);
      chain.SetBits(i + half, bits ^ sign_bit);
    }
    const int exponent = pair_exponent + FloorLog2(length) - precision - 3;
    chain.Set(survivor, std::ldexp(1.0, std::max(exponent, FormatOf(dtype).min_exponent)));
  });
  return run;
}

int HugeRuns(const Problem&) { return 3; }

Run MakeHuge(const Case& c, int run_index) {
  const Problem& problem = c.problem;
  const FloatFormat& format = FormatOf(problem.dtype());
  const int low = format.max_exponent / 2;
  Run run = EmptyRun(problem);
  const std::uint64_t values[2] = {Encode(problem.dtype(), std::ldexp(1.0, low)),
                                   Encode(problem.dtype(), -std::ldexp(1.0, low))};
  FillByChannel(problem.data_format(), run.input,
                [&values](std::int64_t, std::int64_t channel) { return values[channel % 2]; });
  const double unit = std::ldexp(1.0, format.max_exponent + 1 - low);  // times input: 2^(max_exponent + 1)
  ForEachChain(problem, HugeChainCount(problem), run.out_backprop, [&](Chain& chain, std::int64_t k) {
    if (run_index == 0) {
      const std::int64_t kind = k % 6;
      if (kind == 1 || kind == 2) return SetEdge(format, kind == 1, unit, chain);
      return SetBurst(kOrderFree[kind == 0 ? 0 : kind - 2], unit, chain);
    }
    SetBurst(run_index == 1 ? kOrderDependent[k % 3] : kProductsBeyond[k % 3], unit, chain);
  });
  run.label = run_index == 0   ? "sums of one sign around the largest number"
              : run_index == 1 ? "partial sums beyond the largest number in some orders"
                               : "products beyond the largest number";
  return run;
}

}  // namespace wgrad::oracle::filling
