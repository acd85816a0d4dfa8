// special: NaN, infinities, negative zeros and subnormals, each at a place where another fault would treat it wrongly.
#include <algorithm>
#include <array>

#include "oracle/fillings_data.h"
#include "oracle/fillings_places.h"
#include "oracle/fillings_recipes.h"

namespace wgrad::oracle::filling {
namespace {

enum class Kind : std::uint8_t {
  kNone,
  kNaN,
  kLowPayloadNaN,  // its payload's last bit alone: cut to fewer bits it would be an infinity
  kPlusInfinity,
  kMinusInfinity,
  kMinusZero,
  kSubnormal,
};

enum class Place : std::uint8_t {
  kFirst,     // of input the first pixel that is read, of out_backprop the first position: a corner, beside padding
  kLast,      // likewise the last
  kInterior,  // what a tap in the middle of the filter reads or meets, drawn by the seed
};

struct Plant {
  Place place = Place::kFirst;
  Kind kind = Kind::kNone;
};

// What one channel gets in one run. Channels of a run take consecutive recipes; the runs shift them by one.
struct Recipe {
  Plant first;
  Plant second;
  bool meets_zero = false;  // the other tensor is zero where the first plant meets it: 0 * Inf
};
constexpr std::array<Recipe, 6> kRecipes = {{
    {{Place::kFirst, Kind::kNaN}, {}},
    {{Place::kInterior, Kind::kPlusInfinity}, {}, true},
    {{Place::kInterior, Kind::kLowPayloadNaN}, {}},
    {{Place::kLast, Kind::kMinusInfinity}, {}},
    {{Place::kInterior, Kind::kPlusInfinity}, {Place::kFirst, Kind::kMinusInfinity}},
    {{Place::kFirst, Kind::kSubnormal}, {Place::kLast, Kind::kMinusZero}},
}};
constexpr int kRunsPerTensor = 3;

std::uint64_t BitsOf(DType dtype, Kind kind) {
  const std::uint64_t infinity = InfinityBits(dtype, false);
  const int fraction_bits = FormatOf(dtype).precision - 1;
  switch (kind) {
    case Kind::kNone:
      return 0;
    case Kind::kNaN:
      return infinity | (std::uint64_t{1} << (fraction_bits - 1));
    case Kind::kLowPayloadNaN:
      return infinity | 1;
    case Kind::kPlusInfinity:
      return infinity;
    case Kind::kMinusInfinity:
      return InfinityBits(dtype, true);
    case Kind::kMinusZero:
      return infinity ^ InfinityBits(dtype, true);
    case Kind::kSubnormal:
      return (std::uint64_t{1} << (fraction_bits - 1)) | 1;
  }
  return 0;
}

void FillSmallIntegers(Tensor& tensor, std::uint64_t seed) {
  const DType dtype = tensor.dtype();
  Fill(tensor, [=](std::int64_t i) {
    const std::uint64_t z = At(seed, i);
    return Encode(dtype, WithSign(z, 1 + static_cast<std::int64_t>(z & 3)));
  });
}

// Plants into the tensors of one run; `which` counts the runs that plant into the same tensor.
class Planter {
 public:
  Planter(const Case& c, int run_index, Run& run)
      : problem_(c.problem),
        boxes_(NonEmptyBoxes(c.problem)),
        choices_(SeedOf(c, run_index, Stream::kChoices)),
        run_(run) {}

  void PlantInput(int which) {
    ForEachRecipe(problem_.input_depth(), which, [this](const Recipe& recipe, std::int64_t channel, std::int64_t draw) {
      for (const Plant& plant : {recipe.first, recipe.second}) {
        if (plant.kind != Kind::kNone)
          SetInput(PixelAt(plant.place, draw), channel, BitsOf(problem_.dtype(), plant.kind));
      }
      if (!recipe.meets_zero) return;
      const std::int64_t group = channel / problem_.filter_depth();
      SetOutBackprop(PositionOf(recipe.first.place, draw), (group + 1) * problem_.out_depth_per_group() - 1, 0);
    });
    const auto unread = UnreadPixel(problem_);
    if (unread && which > 0) SetInput(*unread, problem_.input_depth() - 1, BitsOf(problem_.dtype(), Kind::kNaN));
  }

  void PlantOutBackprop(int which) {
    ForEachRecipe(problem_.out_depth(), which, [this](const Recipe& recipe, std::int64_t oc, std::int64_t draw) {
      for (const Plant& plant : {recipe.first, recipe.second}) {
        if (plant.kind != Kind::kNone)
          SetOutBackprop(PositionOf(plant.place, draw), oc, BitsOf(problem_.dtype(), plant.kind));
      }
      if (!recipe.meets_zero) return;
      const std::int64_t group = oc / problem_.out_depth_per_group();
      SetInput(PixelAt(recipe.first.place, draw), (group + 1) * problem_.filter_depth() - 1, 0);
    });
    const auto padding_only = PaddingOnlyPosition(problem_);
    if (padding_only && which == kRunsPerTensor - 1) {
      SetOutBackprop(*padding_only, problem_.out_depth() - 1, BitsOf(problem_.dtype(), Kind::kNaN));
    }
  }

 private:
  // The recipes of one run on channels spread from the last one down. Where there are several, one at least stays
  // clean: its elements show whether a NaN leaks from channel to channel.
  template <typename Function>
  void ForEachRecipe(std::int64_t channels, int which, Function function) {
    const std::int64_t most = channels > 1 ? channels - 1 : channels;
    const std::int64_t count = std::min<std::int64_t>(most, std::ssize(kRecipes));
    for (std::int64_t k = 0; k < count; ++k) {
      function(kRecipes[static_cast<std::size_t>(k + which) % kRecipes.size()], channels - 1 - k * channels / count, k);
    }
  }

  // The position and tap of a place: a corner of out_backprop, or a position at which the tap reads the image.
  Position PositionOf(Place place, std::int64_t draw) const {
    if (place == Place::kFirst || problem_.positions() == 0) return {};
    if (place == Place::kLast || boxes_.empty()) return PositionAt(problem_, problem_.positions() - 1);
    const TapBox& box = boxes_[boxes_.size() / 2];
    return box.At(Below(At(choices_, draw), box.count()));
  }
  Pixel PixelAt(Place place, std::int64_t draw) const {
    if (boxes_.empty()) return {};
    const TapBox& box = place == Place::kFirst  ? boxes_.front()
                        : place == Place::kLast ? boxes_.back()
                                                : boxes_[boxes_.size() / 2];
    const std::int64_t last = box.count() - 1;
    const Position at = place == Place::kFirst  ? box.At(0)
                        : place == Place::kLast ? box.At(last)
                                                : PositionOf(place, draw);
    return PixelOf(problem_, at, box.kh, box.kw);
  }

  void SetInput(const Pixel& at, std::int64_t channel, std::uint64_t bits) {
    if (problem_.input_count() == 0) return;
    run_.input.set_bits(problem_.InputOffset(at.n, at.ih, at.iw, channel), bits);
  }
  void SetOutBackprop(const Position& at, std::int64_t oc, std::uint64_t bits) {
    if (problem_.out_backprop_count() == 0) return;
    run_.out_backprop.set_bits(problem_.OutBackpropOffset(at.n, at.oh, at.ow, oc), bits);
  }

  const Problem& problem_;
  std::vector<TapBox> boxes_;
  std::uint64_t choices_;
  Run& run_;
};

}  // namespace

int SpecialRuns(const Problem& problem) {
  return problem.filter_count() == 0 || problem.positions() == 0 ? 1 : 2 * kRunsPerTensor;
}

Run MakeSpecial(const Case& c, int run_index) {
  Run run = EmptyRun(c.problem);
  FillSmallIntegers(run.input, SeedOf(c, run_index, Stream::kInput));
  FillSmallIntegers(run.out_backprop, SeedOf(c, run_index, Stream::kOutBackprop));
  Planter planter(c, run_index, run);
  const int which = run_index % kRunsPerTensor;
  const bool in_input = run_index < kRunsPerTensor;
  if (in_input) {
    planter.PlantInput(which);
  } else {
    planter.PlantOutBackprop(which);
  }
  run.label = std::string("special values in ") + (in_input ? "input" : "out_backprop") + ", " +
              std::to_string(which + 1) + " of " + std::to_string(kRunsPerTensor);
  return run;
}

}  // namespace wgrad::oracle::filling
