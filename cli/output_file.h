// Report files: known to be writable before a long run, and never seen half-written.
#pragma once

#include <string>
#include <string_view>

#include "core/result.h"

namespace wgrad::cli {

/// Whether a file could be put at `path` now. Errors: kUnavailable with path and reason. Leaves nothing behind.
Status CheckWritable(const std::string& path);

/// Puts `content` at `path`: under another name first, then renamed, so that a reader sees the old file or the new
/// one. Something that is no regular file (a pipe, /dev/stdout) is written directly.
Status WriteWhole(const std::string& path, std::string_view content);

/// The content of a file. Errors: kNotFound, kTooLarge above `limit` bytes.
Result<std::string> ReadWhole(const std::string& path, std::size_t limit);

}  // namespace wgrad::cli
