// Words that the JSON value, its parser and its writer share. Not installed.
#pragma once

#include <string>
#include <string_view>

namespace wgrad::io::internal {

/// `text` as a JSON string literal, quotes included.
std::string QuoteJson(std::string_view text);

/// "at /cases/3", or "at the top" for the empty pointer.
std::string PointerWords(std::string_view pointer);

}  // namespace wgrad::io::internal
