#include "oracle/accuracy_class.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace wgrad::oracle {
namespace {

struct NamedFormat {
  std::string_view name;
  FloatFormat format;
};
constexpr std::array<NamedFormat, 4> kFormats = {
    {{"f16", kHalfFormat}, {"bf16", kBFloat16Format}, {"f32", kFloat32Format}, {"f64", kFloat64Format}}};

constexpr std::string_view kClassList =
    "cr, faithful, wide[:f32|f64], wide_hw, depth:N|tree|blockedB|lanesL, order[:f16|bf16|f32], order_hw, split:S, "
    "input:tf32|bf16|bf16x3, channel:winograd_f3x3_2x2|fft|C, tensor:strassen|C";

std::optional<FloatFormat> FormatFromName(std::string_view name) {
  for (const NamedFormat& known : kFormats) {
    if (known.name == name) return known.format;
  }
  return std::nullopt;
}

std::string_view NameOfFormat(const FloatFormat& format) {
  for (const NamedFormat& known : kFormats) {
    if (known.format == format) return known.name;
  }
  return "tf32";
}

std::optional<std::int64_t> PositiveInteger(std::string_view text) {
  std::int64_t value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stop != text.data() + text.size() || value < 1) return std::nullopt;
  return value;
}

std::optional<double> PositiveNumber(std::string_view text) {
  double value = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || stop != text.data() + text.size() || !(value > 0) || value > 1e30) return std::nullopt;
  return value;
}

Error BadOption(std::string_view text, std::string_view rule) {
  return {ErrorCode::kBadText, "class \"" + std::string(text) + "\": " + std::string(rule)};
}

Result<AccuracyClass> ParseDepth(std::string_view text, std::string_view option, AccuracyClass result) {
  result.kind = ClassKind::kDepth;
  auto counted = [&](std::string_view word, DepthKind kind) {
    if (!option.starts_with(word)) return false;
    const auto value = PositiveInteger(option.substr(word.size()));
    if (!value) return false;
    result.depth = kind;
    result.depth_value = *value;
    return true;
  };
  if (option == "tree") {
    result.depth = DepthKind::kTree;
    return result;
  }
  if (counted("blocked", DepthKind::kBlocked) || counted("lanes", DepthKind::kLanes) || counted("", DepthKind::kFixed))
    return result;
  return BadOption(text, "depth needs a number of roundings, tree, blocked<B> or lanes<L>");
}

Result<AccuracyClass> ParseAccumulator(std::string_view text, std::string_view option, AccuracyClass result) {
  if (option.empty()) return result;
  result.accumulator = FormatFromName(option);
  if (!result.accumulator) return BadOption(text, "the accumulator must be f16, bf16, f32 or f64");
  return result;
}

Result<AccuracyClass> ParseInput(std::string_view text, std::string_view option, AccuracyClass result) {
  result.kind = ClassKind::kInput;
  if (option == "tf32") result.input = InputFormat::kTf32;
  if (option == "bf16") result.input = InputFormat::kBFloat16;
  if (option == "bf16x3") result.input = InputFormat::kBFloat16x3;
  if (result.input == InputFormat::kExact) return BadOption(text, "input needs tf32, bf16 or bf16x3");
  return result;
}

Result<AccuracyClass> ParseNorm(std::string_view text, std::string_view option, AccuracyClass result) {
  const bool channel = result.kind == ClassKind::kChannel;
  if (channel && (option.empty() || option == "fft")) {
    result.channel = ChannelKind::kFft;
  } else if (channel && option == "winograd_f3x3_2x2") {
    result.channel = ChannelKind::kWinogradF3x3_2x2;
  } else if (!channel && (option.empty() || option == "strassen")) {
    result.constant = 0;
  } else if (const auto constant = PositiveNumber(option)) {
    result.constant = *constant;
  } else {
    return BadOption(text, channel ? "channel needs winograd_f3x3_2x2, fft or a positive constant"
                                   : "tensor needs strassen or a positive constant");
  }
  return result;
}

const AccuracyClass* Chosen(const JudgingChoice& choice, const std::string& tag) {
  for (auto it = choice.by_dtype.rbegin(); it != choice.by_dtype.rend(); ++it) {
    if (it->first == tag) return &it->second;
  }
  return choice.any ? &*choice.any : nullptr;
}

// A class may ask for an accumulator that does not fit the result's dtype.
Status CheckAgainst(const Problem& problem, const AccuracyClass& accuracy_class) {
  if (!accuracy_class.accumulator) return Ok();
  const FloatFormat& out = FormatOf(problem.result_dtype());
  const bool wider = accuracy_class.accumulator->precision > out.precision;
  if (accuracy_class.kind == ClassKind::kWide && !wider) {
    return Error{ErrorCode::kBadText, "class " + Format(accuracy_class) +
                                          " needs an accumulator wider than the result's " +
                                          std::string(NameOfFormat(out))};
  }
  if (accuracy_class.kind == ClassKind::kOrder && wider) {
    return Error{ErrorCode::kBadText,
                 "class " + Format(accuracy_class) + " has an accumulator wider than the result's " +
                     std::string(NameOfFormat(out)) +
                     "; that is class wide:" + std::string(NameOfFormat(*accuracy_class.accumulator))};
  }
  return Ok();
}

}  // namespace

Result<AccuracyClass> ParseClass(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view option = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  const bool bare = name == "cr" || name == "faithful" || name == "wide_hw" || name == "order_hw";
  if (bare && !option.empty()) return BadOption(text, std::string(name) + " takes no option");
  if (colon != std::string_view::npos && option.empty()) return BadOption(text, "an option must follow the colon");

  AccuracyClass result;
  result.hardware = name.ends_with("_hw");
  if (name == "cr" || name == "faithful") {
    result.kind = name == "cr" ? ClassKind::kCr : ClassKind::kFaithful;
    return result;
  }
  if (name == "wide" || name == "wide_hw") {
    result.kind = ClassKind::kWide;
    return ParseAccumulator(text, option, result);
  }
  if (name == "order" || name == "order_hw") {
    result.kind = ClassKind::kOrder;
    return ParseAccumulator(text, option, result);
  }
  if (name == "depth") return ParseDepth(text, option, result);
  if (name == "split") {
    const auto splits = PositiveInteger(option);
    if (!splits || *splits < 2) return BadOption(text, "split needs the number of partial sums, at least 2");
    result.kind = ClassKind::kSplit;
    result.splits = *splits;
    return result;
  }
  if (name == "input") return ParseInput(text, option, result);
  if (name == "channel" || name == "tensor") {
    result.kind = name == "channel" ? ClassKind::kChannel : ClassKind::kTensor;
    return ParseNorm(text, option, result);
  }
  return Error{ErrorCode::kNotFound,
               "unknown class \"" + std::string(text) + "\"; there are " + std::string(kClassList)};
}

std::string Format(const AccuracyClass& accuracy_class) {
  const std::string suffix =
      accuracy_class.accumulator ? ":" + std::string(NameOfFormat(*accuracy_class.accumulator)) : "";
  auto number = [](double value) {
    std::array<char, 32> buffer{};
    const auto [stop, status] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    return status == std::errc() ? std::string(buffer.data(), stop) : std::string("?");
  };
  switch (accuracy_class.kind) {
    case ClassKind::kCr:
      return "cr";
    case ClassKind::kFaithful:
      return "faithful";
    case ClassKind::kWide:
      return accuracy_class.hardware ? "wide_hw" : "wide" + suffix;
    case ClassKind::kOrder:
      return accuracy_class.hardware ? "order_hw" : "order" + suffix;
    case ClassKind::kSplit:
      return "split:" + std::to_string(accuracy_class.splits);
    case ClassKind::kDepth: {
      static constexpr std::string_view kWords[] = {"", "tree", "blocked", "lanes"};
      const std::string value =
          accuracy_class.depth == DepthKind::kTree ? "" : std::to_string(accuracy_class.depth_value);
      return "depth:" + std::string(kWords[static_cast<int>(accuracy_class.depth)]) + value;
    }
    case ClassKind::kInput: {
      static constexpr std::string_view kWords[] = {"exact", "tf32", "bf16", "bf16x3"};
      return "input:" + std::string(kWords[static_cast<int>(accuracy_class.input)]);
    }
    case ClassKind::kChannel:
      if (accuracy_class.channel == ChannelKind::kFft) return "channel:fft";
      if (accuracy_class.channel == ChannelKind::kWinogradF3x3_2x2) return "channel:winograd_f3x3_2x2";
      return "channel:" + number(accuracy_class.constant);
    case ClassKind::kTensor:
      return accuracy_class.constant == 0 ? "tensor:strassen" : "tensor:" + number(accuracy_class.constant);
  }
  return "";
}

AccuracyClass DefaultClass(const Problem& problem) {
  AccuracyClass result;
  const bool half_inputs = problem.dtype() == DType::kFloat16 || problem.dtype() == DType::kBFloat16;
  result.hardware = half_inputs;
  result.kind = half_inputs && problem.result_dtype() == problem.dtype() ? ClassKind::kWide : ClassKind::kOrder;
  return result;
}

const std::vector<ClassDescription>& ClassDescriptions() {
  static const std::vector<ClassDescription> kDescriptions = {
      {"cr", "correctly rounded: the dtype's value nearest to the exact sum", "cr"},
      {"faithful", "one of the two values of the dtype around the exact sum", "faithful"},
      {"wide", "accumulates in a format wider than the result's, rounds once at the end", "wide:f32"},
      {"wide_hw", "the same on dot-product hardware: truncating alignment, subnormals may be flushed", "wide_hw"},
      {"depth", "accumulates in the result's format, no term passes more roundings than told", "depth:tree"},
      {"order", "accumulates in the result's format (or a narrower one) in any order", "order:bf16"},
      {"order_hw", "the same on dot-product hardware", "order_hw"},
      {"split", "keeps that many partial sums in the result's format", "split:8"},
      {"input", "rounds its inputs first", "input:tf32"},
      {"channel", "error relative to the norms of the two channels: Winograd, FFT", "channel:fft"},
      {"tensor", "error relative to the largest values of the two tensors: Strassen", "tensor:strassen"},
  };
  return kDescriptions;
}

std::string Format(const Policy& policy) {
  static constexpr std::string_view kPads[] = {"skip", "multiply", "either"};
  std::string text = "pad " + std::string(kPads[static_cast<int>(policy.pad)]);
  if (policy.ftz) text += ", ftz";
  if (policy.daz) text += ", daz";
  if (policy.saturate) text += ", saturate";
  if (policy.zero_skip) text += ", zero-skip";
  return text;
}

Result<Judging> Resolve(const Problem& problem, const JudgingChoice& choice, const Declaration& declaration) {
  Judging judging;
  const std::string tag = DTypeTag(problem);
  const auto declared = declaration.accuracy_class.find(tag);
  if (const AccuracyClass* chosen = Chosen(choice, tag)) {
    judging.accuracy_class = *chosen;
    judging.class_source = "command line";
  } else if (declared != declaration.accuracy_class.end()) {
    Result<AccuracyClass> parsed = ParseClass(declared->second);
    if (!parsed.ok())
      return Error{parsed.error().code, "declared by the candidate for " + tag + ": " + parsed.error().message};
    judging.accuracy_class = *parsed;
    judging.class_source = "declared by the candidate";
  } else {
    judging.accuracy_class = DefaultClass(problem);
    judging.class_source = "default";
  }
  if (const Status status = CheckAgainst(problem, judging.accuracy_class); !status.ok()) return status.error();

  Policy& policy = judging.policy;
  if (declaration.pad == "skip") policy.pad = PadPolicy::kSkip;
  if (declaration.pad == "multiply") policy.pad = PadPolicy::kMultiply;
  policy.pad = choice.pad.value_or(policy.pad);
  policy.ftz = choice.ftz.value_or(declaration.ftz);
  policy.daz = choice.daz.value_or(declaration.daz);
  policy.saturate = choice.saturate.value_or(declaration.saturate);
  policy.zero_skip = choice.zero_skip.value_or(declaration.zero_skip);
  judging.deterministic = declaration.deterministic;
  return judging;
}

}  // namespace wgrad::oracle
