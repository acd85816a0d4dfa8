#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "core/check.h"
#include "io/json.h"
#include "io/json_internal.h"

namespace wgrad::io {
namespace {

// Reads the text's characters and tells how many were read: the parser's events carry no position.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* position, const char** furthest) : position_(position), furthest_(furthest) {}
  reference operator*() const { return *position_; }
  CountingIterator& operator++() {
    *furthest_ = ++position_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.position_ == b.position_; }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  const char* position_;
  const char** furthest_;
};

// "1, line 2" counted from 1.
std::string PlaceWords(std::string_view text, std::size_t byte) {
  std::size_t line = 1;
  for (const char c : text.substr(0, byte == 0 ? 0 : byte - 1)) line += c == '\n' ? 1 : 0;
  return "byte " + std::to_string(byte) + ", line " + std::to_string(line);
}

// What the parsing library says, without its preamble.
std::string Explanation(std::string_view what) {
  constexpr std::size_t kLongest = 160;
  for (const std::string_view marker : {"syntax error ", "] "}) {
    const std::size_t at = what.find(marker);
    if (at == std::string_view::npos) continue;
    what.remove_prefix(at + (marker == "] " ? marker.size() : 0));
    break;
  }
  const std::string text = ToValidUtf8(what);
  return text.size() <= kLongest ? text : ToValidUtf8(text.substr(0, kLongest)) + "...";
}

// Builds the value out of the parser's events; stops at the first thing that is not allowed.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Builder(std::string_view text, const Limits& limits, const char* const& position)
      : text_(text), limits_(limits), position_(position) {}

  bool null() override { return Add(Json()); }
  bool boolean(bool value) override { return Add(Json(value)); }
  bool number_integer(number_integer_t value) override { return Add(Json(value)); }
  bool number_unsigned(number_unsigned_t value) override { return Add(Json(value)); }
  bool number_float(number_float_t value, const string_t& digits) override {
    if (!limits_.large_integers && digits.find_first_of(".eE") == std::string::npos) {
      return Refuse(ErrorCode::kBadText, "the integer " + digits.substr(0, 40) + " does not fit 64 bits");
    }
    return Add(Json(value));
  }
  bool string(string_t& value) override { return Add(Json(std::move(value))); }
  bool binary(binary_t&) override { return Refuse(ErrorCode::kBadText, "binary data"); }
  bool start_object(std::size_t) override { return Open(Json::MakeObject()); }
  bool start_array(std::size_t) override { return Open(Json::MakeArray()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& key) override {
    Frame& frame = frames_.back();
    frame.key = key;
    if (frame.keys.insert(key).second) return true;
    return Refuse(ErrorCode::kBadText,
                  "the key " + internal::QuoteJson(key.substr(0, 60)) + " stands twice in one object");
  }

  bool parse_error(std::size_t byte, const std::string&, const nlohmann::detail::exception& exception) override {
    return RefuseAt(byte, ErrorCode::kBadText, Explanation(exception.what()));
  }

  Result<Json> Take(bool parsed) {
    if (error_) return *error_;
    WGRAD_CHECK(parsed && root_.has_value(), "the JSON parser stopped without a reason");
    return std::move(*root_);
  }

 private:
  struct Frame {
    Json container;
    std::string key;  // of the member being read
    std::set<std::string> keys;
  };

  bool Add(Json value) {
    if (frames_.empty()) {
      root_ = std::move(value);
    } else if (Frame& frame = frames_.back(); frame.container.IsArray()) {
      frame.container.Append(std::move(value));
    } else {
      frame.container.AddNewMember(frame.key, std::move(value));
    }
    return true;
  }

  bool Open(Json container) {
    if (frames_.size() >= limits_.max_depth) {
      return Refuse(ErrorCode::kTooLarge,
                    "nested deeper than the limit of " + std::to_string(limits_.max_depth) + " levels");
    }
    frames_.push_back({std::move(container), "", {}});
    return true;
  }

  bool Close() {
    Json done = std::move(frames_.back().container);
    frames_.pop_back();
    return Add(std::move(done));
  }

  std::string Pointer() const {
    std::string pointer;
    for (const Frame& frame : frames_) {
      if (frame.container.IsArray()) {
        pointer += PointerStep((*frame.container.GetArray())->size());
      } else if (!frame.keys.empty()) {
        pointer += PointerStep(frame.key);
      }
    }
    return pointer;
  }

  bool Refuse(ErrorCode code, const std::string& why) {
    return RefuseAt(static_cast<std::size_t>(position_ - text_.data()), code, why);
  }
  bool RefuseAt(std::size_t byte, ErrorCode code, const std::string& why) {
    error_ = Error{code, "JSON, " + PlaceWords(text_, byte) + ", " + internal::PointerWords(Pointer()) + ": " + why};
    return false;
  }

  std::string_view text_;
  Limits limits_;
  const char* const& position_;
  std::vector<Frame> frames_;
  std::optional<Json> root_;
  std::optional<Error> error_;
};

}  // namespace

Result<Json> Parse(std::string_view text, const Limits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error{ErrorCode::kTooLarge, "JSON of " + std::to_string(text.size()) + " bytes is over the limit of " +
                                           std::to_string(limits.max_bytes)};
  }
  const char* position = text.data();
  Builder builder(text, limits, position);
  // The parsing library takes a zero byte for the end of the text.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return Error{ErrorCode::kBadText, "JSON, " + PlaceWords(text, zero + 1) + ", at the top: a zero byte"};
  }
  const char* const end = text.data() + text.size();
  const bool parsed =
      nlohmann::json::sax_parse(CountingIterator(text.data(), &position), CountingIterator(end, &position), &builder);
  return builder.Take(parsed);
}

}  // namespace wgrad::io
