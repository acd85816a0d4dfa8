#include "io/json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "core/check.h"
#include "io/json_internal.h"

namespace wgrad::io {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// "the string "x"", "the number 5", "an array of 3": a value as an error names it.
std::string Describe(const Json& value) {
  switch (value.type()) {
    case Json::Type::kNull:
      return "null";
    case Json::Type::kBool:
      return *value.GetBool() ? "true" : "false";
    case Json::Type::kInt64:
    case Json::Type::kUint64:
    case Json::Type::kDouble:
      return "the number " + value.Dump();
    case Json::Type::kString: {
      constexpr std::size_t kLongest = 60;
      const std::string text = *value.GetString();
      return "the string " + internal::QuoteJson(text.size() <= kLongest ? text : text.substr(0, kLongest) + "...");
    }
    case Json::Type::kArray:
      return "an array of " + std::to_string((*value.GetArray())->size());
    case Json::Type::kObject:
      return "an object of " + std::to_string((*value.GetObject())->size());
  }
  WGRAD_CHECK(false, "a JSON type without a description");
}

Error WrongType(std::string_view pointer, std::string_view due, const Json* found) {
  return {ErrorCode::kBadText, internal::PointerWords(pointer) + ": expected " + std::string(due) + ", found " +
                                   (found == nullptr ? "nothing" : Describe(*found))};
}

// The byte length of the well-formed UTF-8 sequence at the start of `text`, 0 where there is none (RFC 3629: no
// overlong forms, no surrogates, nothing beyond U+10FFFF).
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  const auto is_tail = [&](std::size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const int lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return is_tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return is_tail(1) && is_tail(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90;
    const bool too_large = lead == 0xF4 && byte(1) >= 0x90;
    return is_tail(1) && is_tail(2) && is_tail(3) && !overlong && !too_large ? 4 : 0;
  }
  return 0;
}

}  // namespace

Json::Json() : state_(nullptr) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(std::nullptr_t) : state_(nullptr) {}
Json::Json(Tag, bool value) : state_(value) {}
Json::Json(Tag, std::int64_t value) : state_(value) {}
Json::Json(Tag, std::uint64_t value) : state_(value) {
  if (value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    state_ = static_cast<std::int64_t>(value);
  }
}
Json::Json(double value) : state_(value) { WGRAD_CHECK(std::isfinite(value), "JSON has no infinities and no NaN"); }
Json::Json(const char* value) : state_(std::string(value)) {}
Json::Json(std::string_view value) : state_(std::string(value)) {}
Json::Json(std::string value) : state_(std::move(value)) {}

Json Json::MakeArray(std::initializer_list<Json> items) {
  Json array;
  array.state_ = Array(items);
  return array;
}

Json Json::MakeObject(std::initializer_list<JsonMember> members) {
  Json object;
  object.state_ = Object();
  for (const JsonMember& member : members) {
    WGRAD_CHECK(object.Find(member.key) == nullptr, "a key given twice");
    object.AddNewMember(member.key, member.value);
  }
  return object;
}

Json& Json::operator[](std::string_view key) {
  if (IsNull()) state_ = Object();
  WGRAD_CHECK(IsObject(), "operator[] of a JSON value that is no object");
  for (JsonMember& member : std::get<Object>(state_)) {
    if (member.key == key) return member.value;
  }
  return AddNewMember(std::string(key), Json());
}

Json& Json::AddNewMember(std::string key, Json value) {
  return std::get<Object>(state_).emplace_back(JsonMember{std::move(key), std::move(value)}).value;
}

void Json::Append(Json value) {
  if (IsNull()) state_ = Array();
  WGRAD_CHECK(IsArray(), "Append to a JSON value that is no array");
  std::get<Array>(state_).push_back(std::move(value));
}

const Json* Json::Find(std::string_view key) const {
  if (!IsObject()) return nullptr;
  for (const JsonMember& member : std::get<Object>(state_)) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

const Json* Json::At(std::string_view pointer) const {
  const Json* value = this;
  while (!pointer.empty() && value != nullptr) {
    if (pointer[0] != '/') return nullptr;
    pointer.remove_prefix(1);
    const std::string_view step = pointer.substr(0, pointer.find('/'));
    pointer.remove_prefix(step.size());
    if (value->IsArray()) {
      std::size_t index = 0;
      const auto [end, problem] = std::from_chars(step.data(), step.data() + step.size(), index);
      const Array& items = std::get<Array>(value->state_);
      const bool whole = problem == std::errc() && end == step.data() + step.size();
      value = whole && index < items.size() ? &items[index] : nullptr;
    } else if (step.find('~') == std::string_view::npos) {
      value = value->Find(step);
    } else {
      std::string key;
      for (std::size_t i = 0; i < step.size(); ++i) {
        const bool escape = step[i] == '~' && i + 1 < step.size() && (step[i + 1] == '0' || step[i + 1] == '1');
        key += !escape ? step[i] : step[i + 1] == '0' ? '~' : '/';
        i += escape ? 1 : 0;
      }
      value = value->Find(key);
    }
  }
  return value;
}

Result<bool> Json::GetBool(std::string_view pointer) const {
  const Json* value = At(pointer);
  if (value == nullptr || value->type() != Type::kBool) return WrongType(pointer, "true or false", value);
  return std::get<bool>(value->state_);
}

Result<std::int64_t> Json::GetInt64(std::string_view pointer) const {
  const Json* value = At(pointer);
  if (value == nullptr || value->type() != Type::kInt64) {
    return WrongType(pointer, "an integer from -2^63 to 2^63 - 1", value);
  }
  return std::get<std::int64_t>(value->state_);
}

Result<std::uint64_t> Json::GetUint64(std::string_view pointer) const {
  const Json* value = At(pointer);
  if (value != nullptr && value->type() == Type::kUint64) return std::get<std::uint64_t>(value->state_);
  if (value != nullptr && value->type() == Type::kInt64 && std::get<std::int64_t>(value->state_) >= 0) {
    return static_cast<std::uint64_t>(std::get<std::int64_t>(value->state_));
  }
  return WrongType(pointer, "an integer from 0 to 2^64 - 1", value);
}

Result<double> Json::GetDouble(std::string_view pointer) const {
  const Json* value = At(pointer);
  if (value != nullptr && value->type() == Type::kDouble) return std::get<double>(value->state_);
  constexpr std::int64_t kExact = std::int64_t{1} << std::numeric_limits<double>::digits;
  if (value != nullptr && value->type() == Type::kInt64) {
    const std::int64_t integer = std::get<std::int64_t>(value->state_);
    if (integer >= -kExact && integer <= kExact) return static_cast<double>(integer);
  }
  return WrongType(pointer, "a number that a double holds", value);
}

Result<std::string> Json::GetString(std::string_view pointer) const {
  const Json* value = At(pointer);
  if (value == nullptr || !value->IsString()) return WrongType(pointer, "a string", value);
  return std::get<std::string>(value->state_);
}

Result<const Json::Array*> Json::GetArray(std::string_view pointer) const {
  const Json* value = At(pointer);
  if (value == nullptr || !value->IsArray()) return WrongType(pointer, "an array", value);
  return &std::get<Array>(value->state_);
}

Result<const Json::Object*> Json::GetObject(std::string_view pointer) const {
  const Json* value = At(pointer);
  if (value == nullptr || !value->IsObject()) return WrongType(pointer, "an object", value);
  return &std::get<Object>(value->state_);
}

bool operator==(const Json& a, const Json& b) { return a.state_ == b.state_; }
bool operator==(const JsonMember& a, const JsonMember& b) { return a.key == b.key && a.value == b.value; }

std::string PointerStep(std::string_view key) {
  std::string step = "/";
  for (const char c : key) {
    if (c == '~') {
      step += "~0";
    } else if (c == '/') {
      step += "~1";
    } else {
      step += c;
    }
  }
  return step;
}

std::string PointerStep(std::size_t index) { return "/" + std::to_string(index); }

std::string ToValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string internal::PointerWords(std::string_view pointer) {
  return pointer.empty() ? "at the top" : "at " + ToValidUtf8(pointer);
}

}  // namespace wgrad::io
