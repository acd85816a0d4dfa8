#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>

#include "core/random.h"

namespace wgrad {
namespace {

using Json = nlohmann::json;
using List = std::vector<std::int64_t>;

// What follows throws std::exception on damaged text, as the JSON library does; ReadGoldenCalls turns that into Errors.

std::vector<std::uint8_t> DecodeBase64(std::string_view text) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) throw std::runtime_error("base64 of odd length");
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  std::vector<std::uint8_t> bytes;
  std::uint32_t window = 0;
  int bits = 0;
  for (const char digit : text) {
    const std::size_t value = kDigits.find(digit);
    if (value == std::string_view::npos) throw std::runtime_error("not base64");
    window = window << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push_back(static_cast<std::uint8_t>(window >> bits));
  }
  return bytes;
}

DType DTypeOf(const std::string& name) {
  const auto dtype = DTypeFromName(name);
  if (!dtype) throw std::runtime_error("unknown dtype " + name);
  return *dtype;
}

// All elements are `bytes`, or, where `repeat` is set, each element is.
void Store(Tensor& tensor, const std::vector<std::uint8_t>& bytes, bool repeat) {
  const std::size_t expected = repeat ? SizeOf(tensor.dtype()) : tensor.byte_count();
  if (bytes.size() != expected) throw std::runtime_error("data do not fill their shape");
  for (std::size_t at = 0; expected != 0 && at < tensor.byte_count(); at += expected) {
    std::memcpy(tensor.data() + at, bytes.data(), expected);
  }
}

double SmallElement(std::uint64_t z) { return static_cast<double>(static_cast<std::int64_t>((z >> 33) % 5) - 2); }

double RealElement(DType dtype, std::uint64_t z) {
  struct Recipe {
    int shift;
    int scale;
  };
  constexpr Recipe kRecipes[] = {{53, 10}, {56, 7}, {40, 23}, {11, 52}};  // in DType's order
  const Recipe recipe = kRecipes[static_cast<int>(dtype)];
  return std::ldexp(static_cast<double>(z >> recipe.shift), -recipe.scale) - 1;
}

Tensor Fill(const Json& recipe, DType dtype, const List& shape) {
  Tensor tensor(dtype, shape);
  if (recipe.contains("bits") || recipe.contains("repeat")) {
    const bool repeat = recipe.contains("repeat");
    Store(tensor, DecodeBase64(recipe.at(repeat ? "repeat" : "bits").get<std::string>()), repeat);
    return tensor;
  }
  const bool small = recipe.contains("small");
  const auto seed = recipe.at(small ? "small" : "real").get<std::uint64_t>();
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) {
    const std::uint64_t z = SplitMix64(seed, static_cast<std::uint64_t>(i));
    tensor.set_value(i, small ? SmallElement(z) : RealElement(dtype, z));
  }
  return tensor;
}

bool IsListOfIntegers(const Json& json) {
  return json.is_array() &&
         std::all_of(json.begin(), json.end(), [](const Json& entry) { return entry.is_number_integer(); });
}

bool IsListOfLists(const Json& json) {
  return json.is_array() && std::all_of(json.begin(), json.end(), IsListOfIntegers);
}

// Why a call cannot be told with OpArguments, or "".
std::string WhyBeyondArguments(const Json& json) {
  if (json.value("entry", "") == "raw_v2") return "another op, Conv2DBackpropFilterV2";
  if (json.contains("filter_sizes_dtype"))
    return "filter_sizes of dtype " + json.at("filter_sizes_dtype").get<std::string>();
  for (const char* list : {"strides", "dilations"}) {
    if (json.contains(list) && !IsListOfIntegers(json.at(list))) return std::string(list) + " is no list";
  }
  const Json& padding = json.at("padding");
  if (!padding.is_string() && !IsListOfLists(padding)) return "padding is neither a word nor a list of lists";
  return "";
}

// The tensor filter_sizes, which may have any rank.
void ReadFilterSizes(const Json& json, OpArguments& arguments) {
  arguments.filter_sizes_rank = 0;
  const Json* values = &json;
  for (; values->is_array(); values = &values->front()) {
    ++arguments.filter_sizes_rank;
    if (IsListOfIntegers(*values)) {
      arguments.filter_sizes = values->get<List>();
      return;
    }
  }
  arguments.filter_sizes = {values->get<std::int64_t>()};
}

OpArguments ReadArguments(const Json& json) {
  OpArguments arguments;
  arguments.dtype = json.at("dtype").get<std::string>();
  arguments.out_backprop_dtype = json.value("out_backprop_dtype", arguments.dtype);
  arguments.input_shape = json.at("input_shape").get<List>();
  arguments.out_backprop_shape = json.at("out_backprop_shape").get<List>();
  ReadFilterSizes(json.at("filter_sizes"), arguments);
  arguments.strides = json.at("strides").get<List>();
  const Json& padding = json.at("padding");
  if (padding.is_string()) {
    arguments.padding = padding.get<std::string>();
  } else {
    arguments.padding = padding.get<PaddingPairs>();
  }
  arguments.explicit_paddings = json.value("explicit_paddings", arguments.explicit_paddings);
  arguments.use_cudnn_on_gpu = json.value("use_cudnn_on_gpu", arguments.use_cudnn_on_gpu);
  arguments.dilations = json.value("dilations", arguments.dilations);
  // None is the wrapper's way to ask for the default.
  if (json.contains("data_format") && !json.at("data_format").is_null()) {
    arguments.data_format = json.at("data_format").get<std::string>();
  }
  return arguments;
}

Answer ReadAnswer(const Json& json, DType dtype) {
  if (json.contains("died")) return Answer::Of(AnswerKind::kDied, json.at("died").get<std::string>());
  if (json.contains("error")) {
    return Answer::Of(AnswerKind::kRejected,
                      json.at("error").get<std::string>() + ": " + json.at("message").get<std::string>());
  }
  return Answer::Of(Fill(json, dtype, json.at("shape").get<List>()));
}

GoldenCall ReadCall(const Json& json) {
  GoldenCall call;
  call.id = json.at("id").get<std::string>();
  call.beyond_arguments = WhyBeyondArguments(json);
  if (call.beyond_arguments.empty()) call.arguments = ReadArguments(json);
  const std::string dtype_name = json.at("dtype").get<std::string>();
  const DType dtype = DTypeOf(dtype_name);
  call.input = Fill(json.at("input"), dtype, json.at("input_shape").get<List>());
  call.out_backprop = Fill(json.at("out_backprop"), DTypeOf(json.value("out_backprop_dtype", dtype_name)),
                           json.at("out_backprop_shape").get<List>());
  if (json.contains("results")) {
    for (const auto& [route, answer] : json.at("results").items()) call.results[route] = ReadAnswer(answer, dtype);
  }
  if (json.contains("result")) {
    Tensor exact(dtype, call.arguments.filter_sizes);
    Store(exact, DecodeBase64(json.at("result").get<std::string>()), false);
    call.exact = std::move(exact);
  }
  call.agree = json.value("agree", call.agree);
  call.unstable = json.value("unstable", call.unstable);
  return call;
}

}  // namespace

Result<std::vector<GoldenCall>> ReadGoldenCalls(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kNotFound, "cannot open " + path};
  std::vector<GoldenCall> calls;
  for (std::string line; std::getline(file, line);) {
    try {
      calls.push_back(ReadCall(Json::parse(line)));
    } catch (const std::exception& exception) {
      return Error{ErrorCode::kBadFile, path + ", line " + std::to_string(calls.size() + 1) + ": " + exception.what()};
    }
  }
  return calls;
}

}  // namespace wgrad
