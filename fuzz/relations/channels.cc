// Properties of batch, channels and groups: their order says nothing, and each part can be computed by itself.
#include <algorithm>
#include <numeric>
#include <utility>

#include "fuzz/relations/draft.h"
#include "fuzz/relations/relation.h"

namespace wgrad::fuzz {
namespace {

using Order = std::vector<std::int64_t>;

std::int64_t At(const Order& order, std::int64_t index) { return order[static_cast<std::size_t>(index)]; }

// An order of [0, count) other than the given one. Requires count >= 2.
Order Shuffled(std::int64_t count, Draws& draws) {
  Order order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size() - 1; i > 0; --i) {
    std::swap(order[i], order[static_cast<std::size_t>(draws.Below(static_cast<std::int64_t>(i) + 1))]);
  }
  if (std::is_sorted(order.begin(), order.end())) std::rotate(order.begin(), order.begin() + 1, order.end());
  return order;
}

// A part of a problem: which image, input channel and out channel of the source its own ones are.
struct Part {
  std::string label;
  Problem problem;
  std::function<std::int64_t(std::int64_t)> image;
  std::function<std::int64_t(std::int64_t)> input_channel;
  std::function<std::int64_t(std::int64_t)> out_channel;
};

std::int64_t Itself(std::int64_t index) { return index; }

Part Whole(const Source& source, std::string label) {
  return {std::move(label), source.problem, Itself, Itself, Itself};
}

Call CallOf(const Source& source, const Part& part) {
  const auto input = [&](std::int64_t n, std::int64_t ih, std::int64_t iw, std::int64_t c) {
    return source.operands.input.bits(source.problem.InputOffset(part.image(n), ih, iw, part.input_channel(c)));
  };
  const auto out_backprop = [&](std::int64_t n, std::int64_t oh, std::int64_t ow, std::int64_t oc) {
    return source.operands.out_backprop.bits(
        source.problem.OutBackpropOffset(part.image(n), oh, ow, part.out_channel(oc)));
  };
  return {part.label, part.problem, {MakeInput(part.problem, input), MakeOutBackprop(part.problem, out_backprop)}};
}

Relation BatchPermutation(const Source& source) {
  if (source.problem.batch() < 2) return Inapplicable("there are not two images");
  Draws draws(DeriveSeed(source.seed, 11));
  Part part = Whole(source, "the images in another order");
  part.image = [order = Shuffled(source.problem.batch(), draws)](std::int64_t n) { return At(order, n); };
  return OneToOne(source, CallOf(source, part), [](const Element& element) { return element; });
}

Relation BatchSplit(const Source& source) {
  const Problem& problem = source.problem;
  if (problem.batch() < 2) return Inapplicable("there are not two images");
  const std::int64_t cut = 1 + Draws(DeriveSeed(source.seed, 12)).Below(problem.batch() - 1);
  Draft first(problem);
  first.batch = cut;
  Draft second(problem);
  second.batch = problem.batch() - cut;
  Relation relation;
  relation.calls.push_back(PlainCall(source));
  relation.calls.push_back(
      CallOf(source, {"the first " + std::to_string(cut) + " images", first.Build().value(), Itself, Itself, Itself}));
  relation.calls.push_back(CallOf(
      source, {"the other images", second.Build().value(), [cut](std::int64_t n) { return n + cut; }, Itself, Itself}));
  relation.due = [](const Element& element) {
    return std::vector<Share>{{.call = 1, .at = element}, {.call = 2, .at = element}};
  };
  return relation;
}

// An order for the channels of each group: index g * size + i holds g * size + (another i).
Order ShuffledWithinGroups(std::int64_t groups, std::int64_t size, Draws& draws) {
  Order order;
  for (std::int64_t g = 0; g < groups; ++g) {
    for (const std::int64_t i : Shuffled(size, draws)) order.push_back(g * size + i);
  }
  return order;
}

Order Inverse(const Order& order) {
  Order inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    inverse[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return inverse;
}

Relation InputChannelPermutation(const Source& source) {
  const Problem& problem = source.problem;
  if (problem.filter_depth() < 2) return Inapplicable("a group has no two input channels");
  Draws draws(DeriveSeed(source.seed, 13));
  const Order order = ShuffledWithinGroups(problem.groups(), problem.filter_depth(), draws);
  Part part = Whole(source, "the input channels of each group in another order");
  part.input_channel = [order](std::int64_t c) { return At(order, c); };
  return OneToOne(source, CallOf(source, part), [problem, to = Inverse(order)](const Element& element) {
    const std::int64_t first = element.oc / problem.out_depth_per_group() * problem.filter_depth();
    return Element{element.kh, element.kw, At(to, first + element.ic) - first, element.oc};
  });
}

Relation OutChannelPermutation(const Source& source) {
  const Problem& problem = source.problem;
  if (problem.out_depth_per_group() < 2) return Inapplicable("a group has no two out channels");
  Draws draws(DeriveSeed(source.seed, 14));
  const Order order = ShuffledWithinGroups(problem.groups(), problem.out_depth_per_group(), draws);
  Part part = Whole(source, "the out channels of each group in another order");
  part.out_channel = [order](std::int64_t oc) { return At(order, oc); };
  return OneToOne(source, CallOf(source, part), [to = Inverse(order)](const Element& element) {
    return Element{element.kh, element.kw, element.ic, At(to, element.oc)};
  });
}

Relation GroupPermutation(const Source& source) {
  const Problem& problem = source.problem;
  if (problem.groups() < 2) return Inapplicable("there is one group only");
  Draws draws(DeriveSeed(source.seed, 15));
  const Order order = Shuffled(problem.groups(), draws);
  const auto by_block = [](const Order& blocks, std::int64_t size) {
    return [blocks, size](std::int64_t i) { return At(blocks, i / size) * size + i % size; };
  };
  Part part = Whole(source, "the groups in another order");
  part.input_channel = by_block(order, problem.filter_depth());
  part.out_channel = by_block(order, problem.out_depth_per_group());
  const auto place = by_block(Inverse(order), problem.out_depth_per_group());
  return OneToOne(source, CallOf(source, part), [place](const Element& element) {
    return Element{element.kh, element.kw, element.ic, place(element.oc)};
  });
}

// Channels [begin, begin + size) of every block of `block` channels.
std::function<std::int64_t(std::int64_t)> Slice(std::int64_t block, std::int64_t begin, std::int64_t size) {
  return [=](std::int64_t i) { return i / size * block + begin + i % size; };
}

Relation InputChannelSplit(const Source& source) {
  const Problem& problem = source.problem;
  const std::int64_t depth = problem.filter_depth();
  if (depth < 2) return Inapplicable("a group has no two input channels");
  const std::int64_t cut = 1 + Draws(DeriveSeed(source.seed, 16)).Below(depth - 1);
  Draft low(problem);
  low.filter_depth = cut;
  Draft high(problem);
  high.filter_depth = depth - cut;
  Relation relation;
  relation.calls.push_back(PlainCall(source));
  relation.calls.push_back(CallOf(source, {"the first " + std::to_string(cut) + " input channels of each group",
                                           low.Build().value(), Itself, Slice(depth, 0, cut), Itself}));
  relation.calls.push_back(CallOf(source, {"the other input channels of each group", high.Build().value(), Itself,
                                           Slice(depth, cut, depth - cut), Itself}));
  relation.due = [cut](const Element& element) {
    if (element.ic < cut) return std::vector<Share>{{.call = 1, .at = element}};
    return std::vector<Share>{{.call = 2, .at = {element.kh, element.kw, element.ic - cut, element.oc}}};
  };
  return relation;
}

Relation OutChannelSplit(const Source& source) {
  const Problem& problem = source.problem;
  const std::int64_t depth = problem.out_depth_per_group();
  if (depth < 2) return Inapplicable("a group has no two out channels");
  const std::int64_t cut = 1 + Draws(DeriveSeed(source.seed, 17)).Below(depth - 1);
  Draft low(problem);
  low.out_depth = cut * problem.groups();
  Draft high(problem);
  high.out_depth = (depth - cut) * problem.groups();
  Relation relation;
  relation.calls.push_back(PlainCall(source));
  relation.calls.push_back(CallOf(source, {"the first " + std::to_string(cut) + " out channels of each group",
                                           low.Build().value(), Itself, Itself, Slice(depth, 0, cut)}));
  relation.calls.push_back(CallOf(source, {"the other out channels of each group", high.Build().value(), Itself, Itself,
                                           Slice(depth, cut, depth - cut)}));
  relation.due = [cut, depth](const Element& element) {
    const std::int64_t group = element.oc / depth;
    const std::int64_t within = element.oc % depth;
    const bool is_low = within < cut;
    const std::int64_t oc = is_low ? group * cut + within : group * (depth - cut) + within - cut;
    return std::vector<Share>{{.call = is_low ? 1u : 2u, .at = {element.kh, element.kw, element.ic, oc}}};
  };
  return relation;
}

Relation GroupsApart(const Source& source) {
  const Problem& problem = source.problem;
  if (problem.groups() < 2) return Inapplicable("there is one group only");
  const std::int64_t depth = problem.out_depth_per_group();
  Draft draft(problem);
  draft.groups = 1;
  draft.out_depth = depth;
  const Problem one = draft.Build().value();
  Relation relation;
  relation.calls.push_back(PlainCall(source));
  for (std::int64_t g = 0; g < problem.groups(); ++g) {
    relation.calls.push_back(CallOf(source, {"group " + std::to_string(g) + " by itself", one, Itself,
                                             [first = g * problem.filter_depth()](std::int64_t c) { return first + c; },
                                             [first = g * depth](std::int64_t oc) { return first + oc; }}));
  }
  relation.due = [depth](const Element& element) {
    return std::vector<Share>{{.call = static_cast<std::size_t>(1 + element.oc / depth),
                               .at = {element.kh, element.kw, element.ic, element.oc % depth}}};
  };
  return relation;
}

}  // namespace

std::vector<Property> BatchAndChannelProperties() {
  return {
      {.name = "batch_permutation", .description = "the order of the images changes nothing", .make = BatchPermutation},
      {.name = "batch_split",
       .description = "the batch cut in two: the result is the sum of theirs",
       .adds_results = true,
       .make = BatchSplit},
      {.name = "input_channel_permutation",
       .description = "input channels of a group in another order: so is the result",
       .make = InputChannelPermutation},
      {.name = "out_channel_permutation",
       .description = "out channels of a group in another order: so is the result",
       .make = OutChannelPermutation},
      {.name = "group_permutation",
       .description = "groups in another order: so is the result",
       .make = GroupPermutation},
      {.name = "input_channel_split",
       .description = "input channels cut in two: each part of the result by itself",
       .make = InputChannelSplit},
      {.name = "out_channel_split",
       .description = "out channels cut in two: each part of the result by itself",
       .make = OutChannelSplit},
      {.name = "groups_apart", .description = "each group is a problem of its own", .make = GroupsApart},
  };
}

}  // namespace wgrad::fuzz
