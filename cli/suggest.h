// Unknown names: the sentence that says so, with the nearest known name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/result.h"

namespace wgrad::cli {

/// Edits (insert, delete, replace, swap of neighbours) that turn `a` into `b`; no part is edited twice.
int EditDistance(std::string_view a, std::string_view b);

/// kNotFound: `unknown KIND "NAME"`, then the nearest of `known` where it is near, else all of them.
Error UnknownName(std::string_view kind, std::string_view name, std::span<const std::string> known);

}  // namespace wgrad::cli
