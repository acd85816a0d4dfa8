// The greeting's half of messages.h: capabilities to and from JSON, field by field.
#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "candidates/process/messages.h"

namespace wgrad::candidates {
namespace {

using Words = std::set<std::string>;

struct CapabilityFlag {
  const char* name;
  bool Capabilities::*member;
};
constexpr std::array kCapabilityFlags = {
    CapabilityFlag{"asymmetric_padding", &Capabilities::asymmetric_padding},
    CapabilityFlag{"per_axis_strides", &Capabilities::per_axis_strides},
    CapabilityFlag{"non_square", &Capabilities::non_square},
    CapabilityFlag{"dilation", &Capabilities::dilation},
    CapabilityFlag{"stride_with_dilation", &Capabilities::stride_with_dilation},
    CapabilityFlag{"groups", &Capabilities::groups},
    CapabilityFlag{"zero_sizes", &Capabilities::zero_sizes},
};

struct DeclarationFlag {
  const char* name;
  bool Declaration::*member;
};
constexpr std::array kDeclarationFlags = {
    DeclarationFlag{"ftz", &Declaration::ftz},
    DeclarationFlag{"daz", &Declaration::daz},
    DeclarationFlag{"saturate", &Declaration::saturate},
    DeclarationFlag{"zero_skip", &Declaration::zero_skip},
    DeclarationFlag{"deterministic", &Declaration::deterministic},
};

// Of the greeting itself, neither capability nor declaration.
struct ProcessFlag {
  const char* name;
  bool ProcessGreeting::*member;
};
constexpr std::array kProcessFlags = {
    ProcessFlag{"restart_after_error", &ProcessGreeting::restart_after_error},
    ProcessFlag{"shared_memory", &ProcessGreeting::shared_memory},
};

struct Limit {
  const char* name;
  std::int64_t Capabilities::*member;
};
constexpr std::array kLimits = {
    Limit{"max_elements", &Capabilities::max_elements},
    Limit{"max_work", &Capabilities::max_work},
};

struct WordList {
  const char* name;
  Words Capabilities::*member;
};
constexpr std::array kWordLists = {
    WordList{"dtypes", &Capabilities::dtypes},
    WordList{"data_formats", &Capabilities::data_formats},
    WordList{"paddings", &Capabilities::paddings},
};

std::string Joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

Error BadField(const std::string& name, const std::string& rule, const io::Json& value) {
  return {ErrorCode::kBadText, "field \"" + name + "\" must be " + rule + ", got " + value.Dump()};
}

std::optional<std::string> AsString(const io::Json& value) {
  if (!value.IsString()) return std::nullopt;
  return value.GetString().value();
}

// A non-empty list of words out of `allowed` (out of all words where that is empty).
std::optional<std::vector<std::string>> AsWords(const io::Json& value, const Words& allowed) {
  const auto list = value.GetArray();
  if (!list.ok()) return std::nullopt;
  std::vector<std::string> words;
  for (const io::Json& item : **list) {
    const auto word = AsString(item);
    if (!word || (!allowed.empty() && !allowed.contains(*word))) return std::nullopt;
    words.push_back(*word);
  }
  return words;
}

// An object whose values are strings.
std::optional<std::map<std::string, std::string>> AsStringMap(const io::Json& value) {
  const auto object = value.GetObject();
  if (!object.ok()) return std::nullopt;
  std::map<std::string, std::string> map;
  for (const io::JsonMember& member : **object) {
    const auto text = AsString(member.value);
    if (!text) return std::nullopt;
    map[member.key] = *text;
  }
  return map;
}

bool IsVariantName(const std::string& name) {
  const std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
  return !name.empty() && name.find_first_not_of(allowed) == std::string::npos;
}

Status ReadVariants(const io::Json& value, ProcessGreeting& greeting) {
  const auto variants = AsWords(value, {});
  const bool named = variants && std::all_of(variants->begin(), variants->end(), IsVariantName);
  if (!named || Words(variants->begin(), variants->end()).size() != variants->size()) {
    return BadField("variants", "a list of different names out of letters, digits, '_', '.' and '-'", value);
  }
  greeting.variants = *variants;
  return Ok();
}

Status ReadAccuracyClass(const io::Json& value, ProcessGreeting& greeting) {
  const auto classes = AsStringMap(value);
  bool tags = classes.has_value();
  for (const auto& [tag, name] : classes.value_or(std::map<std::string, std::string>{})) {
    tags = tags && DTypePairFromTag(tag).has_value();
  }
  if (!tags) {
    return BadField("accuracy_class",
                    "an object from a dtype (" + Joined(Capabilities().dtypes) + ") to a class's name", value);
  }
  greeting.greeting.declaration.accuracy_class = *classes;
  return Ok();
}

// Fields that are one string.
Status ReadText(const std::string& key, const io::Json& value, ProcessGreeting& greeting) {
  const auto text = AsString(value);
  if (key == "result_layout") {
    const auto layout = ResultLayoutFromName(text.value_or(""));
    if (!layout) return BadField(key, "\"hwio\", \"oihw\" or \"ohwi\"", value);
    greeting.result_layout = *layout;
    return Ok();
  }
  if (key == "pad") {
    if (!text || !Words{"", "skip", "multiply", "either"}.contains(*text)) {
      return BadField(key, "\"skip\", \"multiply\" or \"either\"", value);
    }
    greeting.greeting.declaration.pad = *text;
    return Ok();
  }
  if (!text) return BadField(key, "a string", value);
  (key == "name" ? greeting.greeting.name : greeting.greeting.version) = *text;
  return Ok();
}

Status ReadField(const std::string& key, const io::Json& value, ProcessGreeting& greeting) {
  Capabilities& capabilities = greeting.greeting.capabilities;
  for (const auto& [name, member] : kWordLists) {
    if (key != name) continue;
    const Words allowed = Capabilities().*member;
    const auto words = AsWords(value, allowed);
    if (!words || words->empty()) return BadField(key, "a list out of " + Joined(allowed), value);
    capabilities.*member = Words(words->begin(), words->end());
    return Ok();
  }
  const Result<bool> flag = value.GetBool();
  for (const auto& [name, member] : kCapabilityFlags) {
    if (key != name) continue;
    if (!flag.ok()) return BadField(key, "true or false", value);
    capabilities.*member = *flag;
    return Ok();
  }
  for (const auto& [name, member] : kDeclarationFlags) {
    if (key != name) continue;
    if (!flag.ok()) return BadField(key, "true or false", value);
    greeting.greeting.declaration.*member = *flag;
    return Ok();
  }
  for (const auto& [name, member] : kProcessFlags) {
    if (key != name) continue;
    if (!flag.ok()) return BadField(key, "true or false", value);
    greeting.*member = *flag;
    return Ok();
  }
  if (key == "validates") {
    if (!flag.ok()) return BadField(key, "true or false", value);
    greeting.greeting.validates = *flag;
    return Ok();
  }
  for (const auto& [name, member] : kLimits) {
    if (key != name) continue;
    const Result<std::int64_t> limit = value.GetInt64();
    if (!limit.ok() || *limit < 1) return BadField(key, "an integer from 1 on", value);
    capabilities.*member = *limit;
    return Ok();
  }
  if (key == "variants") return ReadVariants(value, greeting);
  if (key == "accuracy_class") return ReadAccuracyClass(value, greeting);
  if (key == "libraries") {
    const auto libraries = AsStringMap(value);
    if (!libraries) return BadField(key, "an object from a library's name to its version", value);
    greeting.greeting.libraries = *libraries;
    return Ok();
  }
  if (Words{"name", "version", "pad", "result_layout"}.contains(key)) return ReadText(key, value, greeting);
  return Error{ErrorCode::kBadText, "there is no field \"" + key + "\" (its value is " + value.Dump() + ")"};
}

io::Json ListOf(const auto& words) {
  io::Json list = io::Json::MakeArray();
  for (const std::string& word : words) list.Append(word);
  return list;
}

io::Json ObjectOf(const std::map<std::string, std::string>& map) {
  io::Json object = io::Json::MakeObject();
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

}  // namespace

Result<ProcessGreeting> ParseCapabilities(const io::Json& fields, const std::string& name) {
  const auto object = fields.GetObject();
  if (!object.ok()) return Error{ErrorCode::kBadText, "capabilities must be a JSON object, got " + fields.Dump()};
  ProcessGreeting greeting;
  for (const io::JsonMember& member : **object) {
    if (const Status status = ReadField(member.key, member.value, greeting); !status.ok()) return status.error();
  }
  if (greeting.greeting.name.empty()) greeting.greeting.name = name;
  return greeting;
}

OutgoingFrame EncodeGreeting(const ProcessGreeting& from) {
  const Greeting& greeting = from.greeting;
  io::Json header = io::Json::MakeObject({{"kind", "greeting"},
                                          {"protocol", kProtocolVersion},
                                          {"name", greeting.name},
                                          {"version", greeting.version},
                                          {"libraries", ObjectOf(greeting.libraries)},
                                          {"variants", ListOf(from.variants)}});
  for (const auto& [name, member] : kWordLists) header[name] = ListOf(greeting.capabilities.*member);
  for (const auto& [name, member] : kCapabilityFlags) header[name] = greeting.capabilities.*member;
  header["accuracy_class"] = ObjectOf(greeting.declaration.accuracy_class);
  header["pad"] = greeting.declaration.pad;
  for (const auto& [name, member] : kDeclarationFlags) header[name] = greeting.declaration.*member;
  for (const auto& [name, member] : kLimits) header[name] = greeting.capabilities.*member;
  header["validates"] = greeting.validates;
  for (const auto& [name, member] : kProcessFlags) header[name] = from.*member;
  header["result_layout"] = NameOf(from.result_layout);
  return EncodeFrame(std::move(header));
}

OutgoingFrame EncodeStartError(const std::string& message) {
  return EncodeFrame(io::Json::MakeObject({{"kind", "error"}, {"message", message}}));
}

Result<ProcessGreeting> DecodeGreeting(const Frame& frame) {
  const auto kind = frame.header.GetString("/kind");
  if (kind.ok() && *kind == "error") {
    const auto message = frame.header.GetString("/message");
    return Error{ErrorCode::kUnavailable, message.ok() ? *message : "it did not start and gave no reason"};
  }
  if (!kind.ok() || *kind != "greeting") {
    return Error{ErrorCode::kBadText, "the first frame must be a greeting, got " + frame.header.Dump().substr(0, 80)};
  }
  const auto protocol = frame.header.GetInt64("/protocol");
  if (!protocol.ok() || *protocol != kProtocolVersion) {
    const io::Json* got = frame.header.Find("protocol");
    return Error{ErrorCode::kBadText, "the greeting's field \"protocol\" must be " + std::to_string(kProtocolVersion) +
                                          ", got " + (got == nullptr ? "none" : got->Dump())};
  }
  io::Json fields = io::Json::MakeObject();
  for (const io::JsonMember& member : *frame.header.GetObject().value()) {
    if (member.key != "kind" && member.key != "protocol") fields[member.key] = member.value;
  }
  Result<ProcessGreeting> greeting = ParseCapabilities(fields, "process");
  if (!greeting.ok()) return Error{ErrorCode::kBadText, "the greeting: " + greeting.error().message};
  ProcessGreeting read = std::move(greeting).value();
  read.wire = frame.wire;
  if (read.wire == Wire::kLines) {
    std::int64_t& most = read.greeting.capabilities.max_elements;
    most = std::min(most, kMaxLineElements);
  }
  return read;
}

}  // namespace wgrad::candidates
