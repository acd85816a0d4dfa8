#include "io/op_arguments_json.h"

#include <string>
#include <utility>
#include <vector>

namespace wgrad::io {
namespace {

using List = std::vector<std::int64_t>;

Json ToJson(const List& numbers) {
  Json list = Json::MakeArray();
  for (const std::int64_t number : numbers) list.Append(number);
  return list;
}

Json PaddingToJson(const OpArguments& arguments) {
  if (const auto* word = std::get_if<std::string>(&arguments.padding)) return *word;
  Json pairs = Json::MakeArray();
  for (const List& pair : std::get<PaddingPairs>(arguments.padding)) pairs.Append(ToJson(pair));
  return pairs;
}

// Axes beyond the last have one entry each.
Json FilterSizesToJson(const OpArguments& arguments) {
  if (arguments.filter_sizes_rank == 0) return arguments.filter_sizes.empty() ? 0 : arguments.filter_sizes[0];
  Json sizes = ToJson(arguments.filter_sizes);
  for (std::int64_t rank = 1; rank < arguments.filter_sizes_rank; ++rank) sizes = Json::MakeArray({sizes});
  return sizes;
}

Error At(const std::string& pointer, const Error& error) {
  return {error.code, "at " + pointer + ": " + error.message};
}

Status ReadList(const Json& value, const std::string& pointer, List& numbers) {
  const auto list = value.GetArray();
  if (!list.ok()) return At(pointer, list.error());
  numbers.clear();
  for (const Json& item : **list) {
    const auto number = item.GetInt64();
    if (!number.ok()) return At(pointer, number.error());
    numbers.push_back(*number);
  }
  return Ok();
}

Status ReadFilterSizes(const Json& value, OpArguments& arguments) {
  arguments.filter_sizes_rank = 0;
  const Json* inner = &value;
  while (inner->IsArray()) {
    ++arguments.filter_sizes_rank;
    const Json* const first = inner->At("/0");
    if (first == nullptr || !first->IsArray()) return ReadList(*inner, "/filter_sizes", arguments.filter_sizes);
    inner = first;
  }
  const auto scalar = inner->GetInt64();
  if (!scalar.ok()) return At("/filter_sizes", scalar.error());
  arguments.filter_sizes = {*scalar};
  return Ok();
}

Status ReadPadding(const Json& value, OpArguments& arguments) {
  if (value.IsString()) {
    arguments.padding = value.GetString().value();
    return Ok();
  }
  const auto list = value.GetArray();
  if (!list.ok()) return At("/padding", list.error());
  PaddingPairs pairs;
  for (const Json& item : **list) {
    List pair;
    if (const Status status = ReadList(item, "/padding", pair); !status.ok()) return status;
    pairs.push_back(std::move(pair));
  }
  arguments.padding = std::move(pairs);
  return Ok();
}

Status ReadText(const Json& value, const std::string& pointer, std::string& text) {
  auto read = value.GetString();
  if (!read.ok()) return At(pointer, read.error());
  text = std::move(read).value();
  return Ok();
}

}  // namespace

Json AttributesToJson(const OpArguments& arguments) {
  return Json::MakeObject({{"filter_sizes", FilterSizesToJson(arguments)},
                           {"strides", ToJson(arguments.strides)},
                           {"padding", PaddingToJson(arguments)},
                           {"explicit_paddings", ToJson(arguments.explicit_paddings)},
                           {"use_cudnn_on_gpu", arguments.use_cudnn_on_gpu},
                           {"data_format", arguments.data_format},
                           {"dilations", ToJson(arguments.dilations)}});
}

Result<OpArguments> OpArgumentsFromJson(const Json& call) {
  for (const char* required : {"dtype", "input_shape", "filter_sizes", "out_backprop_shape", "strides", "padding"}) {
    if (call.Find(required) == nullptr) {
      return Error{ErrorCode::kBadText, std::string("there is no key \"") + required + "\""};
    }
  }
  OpArguments arguments;
  std::vector<Status> read = {
      ReadText(*call.Find("dtype"), "/dtype", arguments.dtype),
      ReadList(*call.Find("input_shape"), "/input_shape", arguments.input_shape),
      ReadFilterSizes(*call.Find("filter_sizes"), arguments),
      ReadList(*call.Find("out_backprop_shape"), "/out_backprop_shape", arguments.out_backprop_shape),
      ReadList(*call.Find("strides"), "/strides", arguments.strides),
      ReadPadding(*call.Find("padding"), arguments)};
  arguments.out_backprop_dtype = arguments.dtype;
  if (const Json* value = call.Find("out_backprop_dtype")) {
    read.push_back(ReadText(*value, "/out_backprop_dtype", arguments.out_backprop_dtype));
  }
  if (const Json* value = call.Find("explicit_paddings")) {
    read.push_back(ReadList(*value, "/explicit_paddings", arguments.explicit_paddings));
  }
  if (const Json* value = call.Find("data_format")) {
    read.push_back(ReadText(*value, "/data_format", arguments.data_format));
  }
  if (const Json* value = call.Find("dilations")) {
    read.push_back(ReadList(*value, "/dilations", arguments.dilations));
  }
  for (const Status& status : read) {
    if (!status.ok()) return status.error();
  }
  return arguments;
}

}  // namespace wgrad::io
