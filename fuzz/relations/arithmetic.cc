// Properties of the sum itself: scaling, sign, linearity in each argument, channels that are zero.
#include <algorithm>
#include <cmath>
#include <utility>

#include "fuzz/relations/relation.h"

namespace wgrad::fuzz {
namespace {

enum class Argument { kInput, kOutBackprop };

Tensor& TensorOf(Operands& operands, Argument argument) {
  return argument == Argument::kInput ? operands.input : operands.out_backprop;
}

std::string NameOf(Argument argument) { return argument == Argument::kInput ? "input" : "out_backprop"; }

void Multiply(Tensor& tensor, double factor) {
  for (std::int64_t at = 0; at < tensor.element_count(); ++at) tensor.set_value(at, tensor.value(at) * factor);
}

// A power of two, not 1, by which an operand can be multiplied so that it and the sums, up to plan.limit, stay normal
// numbers of every format on their way.
int DrawExponent(const Source& source, double largest_operand) {
  constexpr int kMost = 10;
  const FloatFormat& in = FormatOf(source.problem.dtype());
  const FloatFormat& out = FormatOf(source.problem.result_dtype());
  const int sum_bits = std::ilogb(static_cast<double>(source.plan.limit)) + 1;
  const int operand_bits = std::ilogb(largest_operand) + 1;
  const int room_above = std::min(
      {out.max_exponent - sum_bits, source.accumulator.max_exponent - sum_bits, in.max_exponent - operand_bits});
  const int room_below = -std::max({in.min_exponent, out.min_exponent, source.accumulator.min_exponent});
  const int up = std::clamp(room_above, 0, kMost);
  const int down = std::clamp(room_below, 1, kMost);
  const auto drawn = static_cast<int>(Draws(DeriveSeed(source.seed, 1)).Below(up + down));  // [0, up + down)
  return drawn < down ? drawn - down : drawn - down + 1;
}

Relation Scaled(const Source& source, Argument argument, double factor, std::string label) {
  Call call = PlainCall(source, std::move(label));
  Multiply(TensorOf(call.operands, argument), factor);
  Relation relation;
  relation.calls.push_back(PlainCall(source));
  relation.calls.push_back(std::move(call));
  relation.due = [factor](const Element& element) {
    return std::vector<Share>{{.call = 1, .at = element, .factor = 1 / factor}};
  };
  return relation;
}

Relation ScaledByPowerOfTwo(const Source& source, Argument argument) {
  const std::int64_t largest = argument == Argument::kInput ? source.plan.input_max : source.plan.out_backprop_max;
  const int exponent = DrawExponent(source, static_cast<double>(largest));
  return Scaled(source, argument, std::ldexp(1.0, exponent), NameOf(argument) + " times 2^" + std::to_string(exponent));
}

Relation ScaleInput(const Source& source) { return ScaledByPowerOfTwo(source, Argument::kInput); }
Relation ScaleOutBackprop(const Source& source) { return ScaledByPowerOfTwo(source, Argument::kOutBackprop); }
Relation NegateInput(const Source& source) { return Scaled(source, Argument::kInput, -1, "input negated"); }
Relation NegateOutBackprop(const Source& source) {
  return Scaled(source, Argument::kOutBackprop, -1, "out_backprop negated");
}

Relation SumOfTwo(const Source& source, Call first, Call second) {
  Relation relation;
  relation.calls.push_back(PlainCall(source));
  relation.calls.push_back(std::move(first));
  relation.calls.push_back(std::move(second));
  relation.due = [](const Element& element) {
    return std::vector<Share>{{.call = 1, .at = element}, {.call = 2, .at = element}};
  };
  return relation;
}

// Each value is cut into two of its own sign, so that no sum of magnitudes grows.
Relation Linear(const Source& source, Argument argument) {
  Call first = PlainCall(source, "a first part of " + NameOf(argument));
  Call second = PlainCall(source, "the rest of " + NameOf(argument));
  Tensor& one = TensorOf(first.operands, argument);
  Tensor& other = TensorOf(second.operands, argument);
  Draws draws(DeriveSeed(source.seed, 2));
  for (std::int64_t at = 0; at < one.element_count(); ++at) {
    const double value = one.value(at);
    const auto part = static_cast<double>(draws.Below(static_cast<std::int64_t>(std::fabs(value)) + 1));
    one.set_value(at, std::copysign(part, value));
    other.set_value(at, std::copysign(std::fabs(value) - part, value));
  }
  return SumOfTwo(source, std::move(first), std::move(second));
}

Relation LinearInput(const Source& source) { return Linear(source, Argument::kInput); }
Relation LinearOutBackprop(const Source& source) { return Linear(source, Argument::kOutBackprop); }

// The call with one channel zero comes first; elements without that channel equal the plain call's.
Relation WithZeros(const Source& source, Call zeroed, std::function<bool(const Element&)> is_zero) {
  Relation relation;
  relation.calls.push_back(std::move(zeroed));
  relation.calls.push_back(PlainCall(source));
  relation.due = [is_zero = std::move(is_zero)](const Element& element) {
    return is_zero(element) ? std::vector<Share>() : std::vector<Share>{{.call = 1, .at = element}};
  };
  return relation;
}

Relation ZeroInputChannel(const Source& source) {
  const Problem& problem = source.problem;
  const std::int64_t zero = Draws(DeriveSeed(source.seed, 3)).Below(problem.input_depth());
  Call call = PlainCall(source, "channel c=" + std::to_string(zero) + " of input all zero");
  call.operands.input =
      MakeInput(problem, [&](std::int64_t n, std::int64_t ih, std::int64_t iw, std::int64_t c) -> std::uint64_t {
        return c == zero ? 0 : source.operands.input.bits(problem.InputOffset(n, ih, iw, c));
      });
  return WithZeros(source, std::move(call), [problem, zero](const Element& element) {
    return element.oc / problem.out_depth_per_group() * problem.filter_depth() + element.ic == zero;
  });
}

Relation ZeroOutChannel(const Source& source) {
  const Problem& problem = source.problem;
  const std::int64_t zero = Draws(DeriveSeed(source.seed, 4)).Below(problem.out_depth());
  Call call = PlainCall(source, "channel oc=" + std::to_string(zero) + " of out_backprop all zero");
  call.operands.out_backprop =
      MakeOutBackprop(problem, [&](std::int64_t n, std::int64_t oh, std::int64_t ow, std::int64_t oc) -> std::uint64_t {
        return oc == zero ? 0 : source.operands.out_backprop.bits(problem.OutBackpropOffset(n, oh, ow, oc));
      });
  return WithZeros(source, std::move(call), [zero](const Element& element) { return element.oc == zero; });
}

}  // namespace

std::vector<Property> ArithmeticProperties() {
  return {
      {.name = "scale_input", .description = "input times a power of two scales the result by it", .make = ScaleInput},
      {.name = "scale_out_backprop",
       .description = "out_backprop times a power of two scales the result by it",
       .make = ScaleOutBackprop},
      {.name = "negate_input", .description = "input negated negates the result", .make = NegateInput},
      {.name = "negate_out_backprop",
       .description = "out_backprop negated negates the result",
       .make = NegateOutBackprop},
      {.name = "linear_input",
       .description = "input as the sum of two parts: the result is the sum of theirs",
       .adds_results = true,
       .make = LinearInput},
      {.name = "linear_out_backprop",
       .description = "out_backprop as the sum of two parts: the result is the sum of theirs",
       .adds_results = true,
       .make = LinearOutBackprop},
      {.name = "zero_input_channel",
       .description = "a channel of input all zero: its elements are zero, no other one changes",
       .zeros_hold_by_channel = true,
       .make = ZeroInputChannel},
      {.name = "zero_out_channel",
       .description = "a channel of out_backprop all zero: its elements are zero, no other one changes",
       .zeros_hold_by_channel = true,
       .make = ZeroOutChannel},
  };
}

}  // namespace wgrad::fuzz
