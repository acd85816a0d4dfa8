#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/case.h"
#include "io/json.h"

namespace wgrad::report::internal {

std::string Grouped(std::int64_t number) {
  std::string digits = fmt::format("{}", number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > sign + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string Quantity(std::int64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", Grouped(number), noun, number == 1 ? "" : "s");
}

std::string Ratio(double ratio) {
  if (std::isnan(ratio)) return "-";
  if (std::isinf(ratio)) return "inf";
  if (ratio == 0) return "0";
  if (ratio >= 1e7 || ratio < 1e-4) return fmt::format("{:.2e}", ratio);
  if (ratio >= 999.5) return Grouped(std::llround(ratio));
  std::string text = fmt::format("{:.3g}", ratio);
  if (text == "1" && ratio != 1) text = fmt::format("{:.7g}", ratio);
  return text;
}

std::string Percent(double share) {
  if (share > 0 && share < 0.001) return "<0.1 %";
  return fmt::format("{:.1f} %", std::floor(std::clamp(share, 0.0, 1.0) * 1000) / 10);
}

std::string Duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.{}f} s", seconds, seconds < 1 ? 2 : 1);
  const auto whole = static_cast<std::int64_t>(seconds);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string HexBits(DType dtype, std::uint64_t bits) { return fmt::format("0x{:0{}x}", bits, 2 * SizeOf(dtype)); }

std::string OneLine(std::string_view text) {
  std::string line = io::ToValidUtf8(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return line;
}

std::string EscapeMarkup(std::string_view text) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const std::string valid = io::ToValidUtf8(text);
  std::string out;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    const char c = valid[i];
    const std::string_view three = std::string_view(valid).substr(i, 3);
    if (three == "\xEF\xBF\xBE" || three == "\xEF\xBF\xBF") {
      out += kReplacement;
      i += 2;
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\n' || c == '\t' || c == '\r') {
      out += fmt::format("&#{};", static_cast<int>(c));
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += kReplacement;
    } else {
      out += c;
    }
  }
  return out;
}

std::string EscapeMarkupLines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += EscapeMarkup(text.substr(0, end));
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string DepthSentence(std::int64_t achieved_depth, std::int64_t max_terms) {
  const std::string longest = max_terms > 0 ? ", longest sum " + Grouped(max_terms) : "";
  if (achieved_depth == 0) return "shows no rounding error" + longest;
  if (achieved_depth == 1) return "behaves like a single rounding" + longest;
  return fmt::format("behaves like a chain of {}{}", Quantity(achieved_depth, "rounding"), longest);
}

std::string Paint::operator()(Style style, std::string_view text) const {
  constexpr std::string_view kCodes[] = {"", "1", "2", "1;32", "1;31", "33"};
  const std::string_view code = kCodes[static_cast<std::size_t>(style)];
  if (!color_ || code.empty() || text.empty()) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace wgrad::report::internal
