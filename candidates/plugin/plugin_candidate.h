// A plugin (plugin/wgrad_plugin.h) as candidates, one for each of its variants, each in a host process of its own.
#pragma once

#include <string>

#include "candidates/process/process_candidate.h"
#include "core/result.h"

namespace wgrad::candidates {

/// Loads the shared library at `path` in a host process and hears what it can do; one entry for each of its variants,
/// or for `variant` alone. Errors: kUnavailable with one sentence that says why it does not load, or how it died on
/// loading; kNotFound where the host program is missing.
Result<OpenedVariants> OpenPlugin(const std::string& path, const ProcessLimits& limits,
                                  const std::string& variant = "");

/// The host program: what the environment variable WGRAD_PLUGIN_HOST names, or wgrad-plugin-host beside the running
/// program or in ../libexec/wgrad. Errors: kNotFound with the places.
Result<std::string> FindPluginHost();

}  // namespace wgrad::candidates
