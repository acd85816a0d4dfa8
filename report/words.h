// Numbers, names and colours as the text reports write them. Not installed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/dtype.h"
#include "oracle/verdict.h"

namespace wgrad::report::internal {

std::string Grouped(std::int64_t number);                          // 1,234,567
std::string Quantity(std::int64_t number, std::string_view noun);  // "1 case", "1,234 cases"
/// Three significant digits, more where they would show a number as 1 that is not; "inf".
std::string Ratio(double ratio);
/// One decimal, rounded down, so that only all is 100 %.
std::string Percent(double share);
std::string Duration(double seconds);
/// 0x3fc00000, as wide as the dtype.
std::string HexBits(DType dtype, std::uint64_t bits);

/// Words of a candidate's own on one line: control characters become blanks, invalid UTF-8 U+FFFD.
std::string OneLine(std::string_view text);

/// For text and attributes of XML and HTML. What XML 1.0 cannot hold (control characters, U+FFFE, U+FFFF) becomes
/// U+FFFD.
std::string EscapeMarkup(std::string_view text);
/// The same, with line ends as they are.
std::string EscapeMarkupLines(std::string_view text);
/// What the largest error is like: "behaves like a chain of 37 roundings, longest sum 12,544".
std::string DepthSentence(std::int64_t achieved_depth, std::int64_t max_terms);

enum class Style : std::uint8_t { kPlain, kBold, kDim, kGood, kBad, kNote };

/// Wraps text in terminal colours, or leaves it as it is.
class Paint {
 public:
  explicit Paint(bool color) : color_(color) {}
  std::string operator()(Style style, std::string_view text) const;

 private:
  bool color_;
};

}  // namespace wgrad::report::internal
