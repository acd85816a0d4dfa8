// Base64 (RFC 4648, section 4): bytes in JSON.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace wgrad::io {

std::string EncodeBase64(std::span<const std::byte> bytes);

/// Errors (kBadText): a character outside the alphabet, with its place; missing padding; bits left over that are not 0.
Result<std::vector<std::byte>> DecodeBase64(std::string_view text);

}  // namespace wgrad::io
