#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "io/json.h"
#include "io/json_internal.h"

namespace wgrad::io {
namespace {

constexpr std::size_t kLineWidth = 100;

void AppendEscaped(char c, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code >= 0x20 && code != 0x7F) {
    out += c;
  } else {
    out += "\\u00";
    out += kHex[code >> 4];
    out += kHex[code & 15];
  }
}

// Shortest digits that read back as the same double, always recognisable as one: "1.0", "1e+30".
std::string DoubleText(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

// Writes a value. An empty `indent_` step means one line.
class Writer {
 public:
  explicit Writer(int indent) : step_(indent > 0 ? static_cast<std::size_t>(indent) : 0) {}

  std::string Write(const Json& value) {
    WriteValue(value, 0);
    return std::move(out_);
  }

 private:
  static bool IsContainer(const Json& value) { return value.IsArray() || value.IsObject(); }

  static std::string Scalar(const Json& value) {
    switch (value.type()) {
      case Json::Type::kNull:
        return "null";
      case Json::Type::kBool:
        return *value.GetBool() ? "true" : "false";
      case Json::Type::kInt64:
        return std::to_string(*value.GetInt64());
      case Json::Type::kUint64:
        return std::to_string(*value.GetUint64());
      case Json::Type::kDouble:
        return DoubleText(*value.GetDouble());
      default:
        return internal::QuoteJson(*value.GetString());
    }
  }

  void WriteValue(const Json& value, std::size_t level) {
    if (value.IsArray()) {
      WriteItems(**value.GetArray(), "[]", level);
    } else if (value.IsObject()) {
      WriteItems(**value.GetObject(), "{}", level);
    } else {
      out_ += Scalar(value);
    }
  }

  void WriteItem(const Json& item, std::size_t level) { WriteValue(item, level); }
  void WriteItem(const JsonMember& member, std::size_t level) {
    out_ += internal::QuoteJson(member.key) + (step_ == 0 ? ":" : ": ");
    WriteValue(member.value, level);
  }

  static const Json& ValueOf(const Json& item) { return item; }
  static const Json& ValueOf(const JsonMember& member) { return member.value; }
  static std::string Label(const Json&) { return ""; }
  static std::string Label(const JsonMember& member) { return internal::QuoteJson(member.key) + ": "; }

  // The items on one line where all are plain values and the line is short enough.
  template <typename Items>
  std::optional<std::string> OneLine(const Items& items, std::size_t level) const {
    std::string line;
    for (const auto& item : items) {
      if (IsContainer(ValueOf(item))) return std::nullopt;
      line += (line.empty() ? "" : ", ") + Label(item) + Scalar(ValueOf(item));
      if (level * step_ + line.size() > kLineWidth) return std::nullopt;
    }
    return line;
  }

  template <typename Items>
  void WriteItems(const Items& items, std::string_view brackets, std::size_t level) {
    out_ += brackets[0];
    const std::optional<std::string> line = step_ > 0 ? OneLine(items, level) : std::nullopt;
    if (line) {
      out_ += *line;
    } else {
      bool first = true;
      for (const auto& item : items) {
        if (!first) out_ += ',';
        first = false;
        NewLine(level + 1);
        WriteItem(item, level + 1);
      }
      NewLine(level);
    }
    out_ += brackets[1];
  }

  void NewLine(std::size_t level) {
    if (step_ > 0) out_ += '\n' + std::string(level * step_, ' ');
  }

  std::size_t step_;
  std::string out_;
};

}  // namespace

std::string internal::QuoteJson(std::string_view text) {
  std::string out = "\"";
  for (const char c : ToValidUtf8(text)) AppendEscaped(c, out);
  return out + '"';
}

std::string Json::Dump(int indent) const { return Writer(indent).Write(*this); }

}  // namespace wgrad::io
