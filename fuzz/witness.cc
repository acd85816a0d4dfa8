#include "fuzz/witness.h"

#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "reference/filter_gradient.h"

namespace wgrad::fuzz {
namespace {

constexpr std::size_t kShown = 4;  // numbers, or wrong elements, before the rest are counted

std::string Decimal(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Inf" : "+Inf";
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string Index(const Tensor& tensor, std::int64_t offset) {
  std::string text;
  for (auto extent = tensor.shape().rbegin(); extent != tensor.shape().rend(); ++extent) {
    text = std::to_string(offset % *extent) + (text.empty() ? "" : ",") + text;
    offset /= *extent;
  }
  return "[" + text + "]";
}

std::vector<std::int64_t> NonZeros(const Tensor& tensor) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t at = 0; at < tensor.element_count(); ++at) {
    if (!IsZero(tensor.dtype(), tensor.bits(at))) offsets.push_back(at);
  }
  return offsets;
}

// "a[0,1] = 1, a[2,0] = 3 and 7 more", or nothing.
std::string Listed(const std::string& name, const Tensor& tensor, const std::vector<std::int64_t>& offsets) {
  std::string text;
  for (std::size_t i = 0; i < offsets.size() && i < kShown; ++i) {
    text += (text.empty() ? "" : ", ") + name + Index(tensor, offsets[i]) + " = " + Decimal(tensor.value(offsets[i]));
  }
  if (offsets.size() > kShown) text += " and " + std::to_string(offsets.size() - kShown) + " more";
  return text;
}

std::string Given(const CallData& data) {
  const std::string input = Listed("input", data.input, NonZeros(data.input));
  const std::string out_backprop = Listed("out_backprop", data.out_backprop, NonZeros(data.out_backprop));
  if (input.empty() && out_backprop.empty()) return "zeros alone";
  if (input.empty()) return out_backprop + " and an input of zeros";
  if (out_backprop.empty()) return input + " and an out_backprop of zeros";
  return input + " and " + out_backprop;
}

// Elements whose values differ; two NaNs are the same.
std::vector<std::int64_t> Differing(const Tensor& actual, const Tensor& due) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t at = 0; at < due.element_count(); ++at) {
    const double a = actual.value(at);
    const double d = due.value(at);
    if (a != d && !(std::isnan(a) && std::isnan(d))) offsets.push_back(at);
  }
  return offsets;
}

// Where a single product must land and where it did; nothing where the failure is no matter of places.
std::optional<std::string> Landing(const Tensor& actual, const Tensor& due) {
  const std::vector<std::int64_t> wanted = NonZeros(due);
  const std::vector<std::int64_t> got = NonZeros(actual);
  if (wanted.size() > 1 || (wanted.empty() && got.empty())) return std::nullopt;
  if (wanted.empty()) {
    return " must land nowhere; yours put " + Listed("filter_backprop", actual, got);
  }
  const std::string place = "filter_backprop" + Index(due, wanted.front());
  if (got.empty()) return " must land on " + place + "; yours lost it";
  const bool moved = got.size() == 1 && got.front() != wanted.front();
  if (moved && actual.value(got.front()) == due.value(wanted.front())) {
    return " must land on " + place + "; yours put it on " + Index(actual, got.front());
  }
  return std::nullopt;
}

}  // namespace

std::int64_t NonZeroCount(const CallData& data) {
  return static_cast<std::int64_t>(NonZeros(data.input).size() + NonZeros(data.out_backprop).size());
}

std::string WitnessSentence(const PlainCall& call) {
  const CallData& data = call.data;
  const std::string given = Given(data);
  if (!call.outcome.result) return "with " + given + ": " + call.outcome.verdict.reason;
  const Tensor& actual = *call.outcome.result;
  const Tensor due = reference::RoundedFilterGradient(data.problem, data.input, data.out_backprop);
  const bool one_product = NonZeros(data.input).size() == 1 && NonZeros(data.out_backprop).size() == 1;
  if (one_product) {
    if (const auto landing = Landing(actual, due)) return given + *landing;
  }
  const std::vector<std::int64_t> differing = Differing(actual, due);
  if (differing.empty()) return "with " + given + ": " + call.outcome.verdict.reason;
  const std::int64_t at = differing.front();
  const bool written = actual.bits(at) != PoisonBits(actual.dtype());
  std::string text = "with " + given + ", filter_backprop" + Index(due, at) + " must be " + Decimal(due.value(at)) +
                     (written ? "; yours is " + Decimal(actual.value(at)) : "; yours was never written");
  if (differing.size() > 1) text += " (and " + std::to_string(differing.size() - 1) + " other elements differ)";
  return text;
}

}  // namespace wgrad::fuzz
