#include "core/case.h"

#include <algorithm>
#include <charconv>

namespace wgrad {
namespace {

constexpr std::array<std::string_view, kFillingCount> kFillingNames = {
    "int_a", "int_o", "one_hot", "coded",   "normal", "positive", "stair",    "cancel",
    "wide",  "tiny",  "huge",    "special", "local",  "symmetry", "partition"};

constexpr std::array<std::string_view, 6> kTags = {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"};

struct Pair {
  std::int64_t height = 1;
  std::int64_t width = 1;
};

// The parts of a problem's text, before validation.
struct Parts {
  std::int64_t batch = 0;
  Pair input;
  std::int64_t depth = 0;
  Pair filter;
  std::int64_t out_depth = 0;
  Pair stride;
  Pair dilation;
  std::int64_t groups = 1;
  Padding padding = Padding::kValid;
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
  DataFormat data_format = DataFormat::kNhwc;
  DTypePair dtypes{DType::kFloat32, DType::kFloat32};
};

// Reads a text from left to right and remembers where it stopped making sense.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool failed() const { return !error_.empty(); }
  bool AtEnd() const { return at_ == text_.size(); }

  bool TryWord(std::string_view word) {
    if (failed() || text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  void Expect(std::string_view word) {
    if (!TryWord(word)) Fail("expected \"" + std::string(word) + "\"");
  }
  std::int64_t Number(const char* what) {
    std::int64_t value = 0;
    if (failed()) return value;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [stop, status] = std::from_chars(begin, end, value);
    const bool canonical = stop != begin && *begin != '-' && (*begin != '0' || stop - begin == 1);
    if (status == std::errc::result_out_of_range) {
      Fail(std::string("expected ") + what + " below 2^63");
    } else if (status != std::errc() || !canonical) {
      Fail(std::string("expected ") + what + " as a decimal number");
    } else {
      at_ += static_cast<std::size_t>(stop - begin);
    }
    return value;
  }
  Pair NumberPair(const char* height, const char* width) {
    Pair pair;
    pair.height = Number(height);
    Expect("x");
    pair.width = Number(width);
    return pair;
  }
  void Fail(const std::string& expectation) {
    if (!failed()) error_ = expectation;
  }
  Error error() const {
    std::string found = at_ < text_.size() ? "'" + std::string(1, text_[at_]) + "'" : "the end";
    return {ErrorCode::kBadText, "character " + std::to_string(at_ + 1) + " of \"" + std::string(text_) +
                                     "\": " + error_ + ", found " + found + "\n  " + std::string(text_) + "\n  " +
                                     std::string(at_, ' ') + "^"};
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

void ReadPadding(Reader& reader, Parts& parts) {
  if (reader.TryWord("same")) {
    parts.padding = Padding::kSame;
  } else if (reader.TryWord("valid")) {
    parts.padding = Padding::kValid;
  } else if (reader.TryWord("pt")) {
    parts.padding = Padding::kExplicit;
    parts.top = reader.Number("the top padding");
    reader.Expect("b");
    parts.bottom = reader.Number("the bottom padding");
    reader.Expect("l");
    parts.left = reader.Number("the left padding");
    reader.Expect("r");
    parts.right = reader.Number("the right padding");
  } else {
    reader.Fail("expected s<SH>x<SW>, d<DH>x<DW>, g<G> or a padding (same, valid, pt<T>b<B>l<L>r<R>)");
  }
}

void ReadDTypes(Reader& reader, Parts& parts) {
  // Longest first: "f16_f32" before "f16".
  for (const std::string_view tag : {"f16_f32", "bf16_f32", "f16", "bf16", "f32", "f64"}) {
    if (reader.TryWord(tag)) {
      parts.dtypes = *DTypePairFromTag(tag);
      return;
    }
  }
  reader.Fail("expected nchw or a dtype (f16, bf16, f32, f64, f16_f32, bf16_f32)");
}

Parts ReadParts(Reader& reader) {
  Parts parts;
  reader.Expect("n");
  parts.batch = reader.Number("the batch");
  reader.Expect("_i");
  parts.input = reader.NumberPair("the input's height", "the input's width");
  reader.Expect("_c");
  parts.depth = reader.Number("the input's depth");
  reader.Expect("_k");
  parts.filter = reader.NumberPair("the filter's height", "the filter's width");
  reader.Expect("_o");
  parts.out_depth = reader.Number("the out depth");
  // "same" starts with the letter of a stride, so the padding word is tried first.
  reader.Expect("_");
  auto next_is = [&reader](const char* key) { return reader.TryWord(key); };
  if (!next_is("same")) {
    if (next_is("s")) {
      parts.stride = reader.NumberPair("the stride of rows", "the stride of columns");
      reader.Expect("_");
    }
    if (next_is("d")) {
      parts.dilation = reader.NumberPair("the dilation of rows", "the dilation of columns");
      reader.Expect("_");
    }
    if (next_is("g")) {
      parts.groups = reader.Number("the number of groups");
      reader.Expect("_");
    }
    ReadPadding(reader, parts);
  } else {
    parts.padding = Padding::kSame;
  }
  reader.Expect("_");
  if (reader.TryWord("nchw")) {
    parts.data_format = DataFormat::kNchw;
    reader.Expect("_");
  }
  ReadDTypes(reader, parts);
  return parts;
}

std::vector<std::int64_t> Ordered(DataFormat format, std::int64_t n, std::int64_t h, std::int64_t w, std::int64_t c) {
  if (format == DataFormat::kNhwc) return {n, h, w, c};
  return {n, c, h, w};
}

// The op arguments of the parts. out_backprop's size is not in the text: it is what the rules compute.
OpArguments ToArguments(const Parts& parts) {
  OpArguments arguments;
  arguments.dtype = arguments.out_backprop_dtype = NameOf(parts.dtypes.dtype);
  if (parts.dtypes.result_dtype != parts.dtypes.dtype) arguments.result_dtype = NameOf(parts.dtypes.result_dtype);
  const DataFormat format = parts.data_format;
  arguments.data_format = format == DataFormat::kNhwc ? "NHWC" : "NCHW";
  arguments.input_shape = Ordered(format, parts.batch, parts.input.height, parts.input.width, parts.depth);
  arguments.filter_sizes = {parts.filter.height, parts.filter.width, parts.depth / parts.groups, parts.out_depth};
  arguments.strides = Ordered(format, 1, parts.stride.height, parts.stride.width, 1);
  arguments.dilations = Ordered(format, 1, parts.dilation.height, parts.dilation.width, 1);
  static constexpr const char* kWords[] = {"SAME", "VALID", "EXPLICIT"};
  arguments.padding = std::string(kWords[static_cast<int>(parts.padding)]);
  if (parts.padding == Padding::kExplicit) {
    arguments.explicit_paddings = {0, 0, parts.top, parts.bottom, parts.left, parts.right, 0, 0};
    if (format == DataFormat::kNchw)
      arguments.explicit_paddings = {0, 0, 0, 0, parts.top, parts.bottom, parts.left, parts.right};
  }
  std::int64_t out_height = 0;
  std::int64_t out_width = 0;
  const bool steps_valid =
      parts.stride.height > 0 && parts.stride.width > 0 && parts.dilation.height > 0 && parts.dilation.width > 0;
  if (steps_valid) {  // otherwise Validate refuses the strides or dilations first
    out_height = ComputeAxis({parts.input.height, parts.filter.height, parts.stride.height, parts.dilation.height,
                              parts.top, parts.bottom},
                             parts.padding)
                     .output;
    out_width = ComputeAxis({parts.input.width, parts.filter.width, parts.stride.width, parts.dilation.width,
                             parts.left, parts.right},
                            parts.padding)
                    .output;
  }
  arguments.out_backprop_shape = Ordered(format, parts.batch, std::max<std::int64_t>(0, out_height),
                                         std::max<std::int64_t>(0, out_width), parts.out_depth);
  return arguments;
}

Error BrokenGroups(const Parts& parts, std::string_view text) {
  return {ErrorCode::kInvalidArgument,
          "V19: input depth must be a positive multiple of the groups, got c" + std::to_string(parts.depth) + " and g" +
              std::to_string(parts.groups) + " in \"" + std::string(text) + "\"",
          19};
}

}  // namespace

std::string_view NameOf(Filling filling) { return kFillingNames[static_cast<std::size_t>(filling)]; }

std::optional<Filling> FillingFromName(std::string_view name) {
  for (std::size_t i = 0; i < kFillingNames.size(); ++i) {
    if (kFillingNames[i] == name) return static_cast<Filling>(i);
  }
  return std::nullopt;
}

std::string DTypeTag(const Problem& problem) {
  std::string tag(NameOf(problem.dtype()));
  if (problem.result_dtype() != problem.dtype()) tag.append("_").append(NameOf(problem.result_dtype()));
  return tag;
}

std::optional<DTypePair> DTypePairFromTag(std::string_view tag) {
  for (const std::string_view known : kTags) {
    if (tag != known) continue;
    const std::size_t cut = tag.find('_');
    const DType dtype = *DTypeFromName(tag.substr(0, cut));
    return DTypePair{dtype, cut == std::string_view::npos ? dtype : *DTypeFromName(tag.substr(cut + 1))};
  }
  return std::nullopt;
}

std::string Format(const Problem& problem) {
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  auto number = [](std::int64_t value) { return std::to_string(value); };
  auto pair = [&](std::int64_t height, std::int64_t width) { return number(height) + "x" + number(width); };
  std::string text = "n" + number(problem.batch()) + "_i" + pair(rows.input, columns.input) + "_c" +
                     number(problem.input_depth()) + "_k" + pair(rows.filter, columns.filter) + "_o" +
                     number(problem.out_depth());
  if (rows.stride != 1 || columns.stride != 1) text += "_s" + pair(rows.stride, columns.stride);
  if (rows.dilation != 1 || columns.dilation != 1) text += "_d" + pair(rows.dilation, columns.dilation);
  if (problem.groups() != 1) text += "_g" + number(problem.groups());
  switch (problem.padding()) {
    case Padding::kSame:
      text += "_same";
      break;
    case Padding::kValid:
      text += "_valid";
      break;
    case Padding::kExplicit:
      text += "_pt" + number(rows.pad_before) + "b" + number(rows.pad_after) + "l" + number(columns.pad_before) + "r" +
              number(columns.pad_after);
      break;
  }
  if (problem.data_format() == DataFormat::kNchw) text += "_nchw";
  return text + "_" + DTypeTag(problem);
}

std::string Format(const Case& c) {
  return Format(c.problem) + "/" + std::string(NameOf(c.filling)) + "/" + std::to_string(c.seed);
}

Result<Problem> ParseProblem(std::string_view text) {
  Reader reader(text);
  const Parts parts = ReadParts(reader);
  if (!reader.failed() && !reader.AtEnd()) reader.Fail("expected the end of the problem");
  if (reader.failed()) return reader.error();
  if (parts.groups < 1 || parts.depth % parts.groups != 0) return BrokenGroups(parts, text);
  Result<Problem> problem = Validate(ToArguments(parts));
  if (problem.ok()) return problem;
  Error error = problem.error();
  error.message += " (in \"" + std::string(text) + "\")";
  return error;
}

Result<Case> ParseCase(std::string_view text) {
  const std::size_t first = text.find('/');
  const std::size_t second = first == std::string_view::npos ? first : text.find('/', first + 1);
  if (second == std::string_view::npos) {
    return Error{ErrorCode::kBadText, "a case is PROBLEM/FILLING/SEED, got \"" + std::string(text) + "\""};
  }
  Result<Problem> problem = ParseProblem(text.substr(0, first));
  if (!problem.ok()) return problem.error();
  const std::string_view filling_name = text.substr(first + 1, second - first - 1);
  const auto filling = FillingFromName(filling_name);
  if (!filling) {
    return Error{ErrorCode::kBadText, "character " + std::to_string(first + 2) + " of \"" + std::string(text) +
                                          "\": unknown filling \"" + std::string(filling_name) + "\""};
  }
  const std::string_view digits = text.substr(second + 1);
  std::uint64_t seed = 0;
  const auto [stop, status] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
  const bool canonical = digits.size() == 1 || (!digits.empty() && digits.front() != '0');
  if (status != std::errc() || stop != digits.data() + digits.size() || !canonical) {
    return Error{ErrorCode::kBadText, "character " + std::to_string(second + 2) + " of \"" + std::string(text) +
                                          "\": expected a seed, a decimal number below 2^64, found \"" +
                                          std::string(digits) + "\""};
  }
  return Case{*problem, *filling, seed};
}

}  // namespace wgrad
