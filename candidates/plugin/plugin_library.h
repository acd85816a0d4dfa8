// A plugin's shared library, loaded into this process. Only the host program does this: loading runs foreign code.
#pragma once

#include <string>

#include "candidates/plugin/wgrad_plugin.h"
#include "candidates/process/messages.h"
#include "core/result.h"

namespace wgrad::candidates {

struct PluginLibrary {
  int (*filter_gradient)(const wgrad_call* call) = nullptr;
  ProcessGreeting greeting;
};

/// Loads `path` for the life of this process. Errors, one sentence each: kNotFound for a missing file; kBadFile for a
/// file that is no shared library, is built for another architecture, lacks a function, has another version or
/// capabilities that cannot be read.
Result<PluginLibrary> LoadPlugin(const std::string& path);

}  // namespace wgrad::candidates
