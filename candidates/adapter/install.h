// Puts what an adapter needs into wgrad's cache folder, never into the system's Python.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "candidates/adapter/adapter.h"
#include "core/result.h"

namespace wgrad::candidates {

/// One command of an installation.
struct InstallStep {
  std::string what;  // "pip: tensorflow-cpu==2.21.0"
  std::vector<std::string> words;
};

/// Debian packages of the adapter that are not there.
std::vector<std::string> MissingDebianPackages(const Adapter& adapter);

/// What installing does, without the Debian packages.
std::vector<InstallStep> InstallSteps(const Adapter& adapter, const AdapterPlaces& places);

/// Whether the cache folder holds what this manifest asks for.
bool InstallationIsCurrent(const Adapter& adapter, const AdapterPlaces& places);

/// Runs the steps and tells `say` of each. Debian packages are installed where this is root. Errors: kNotFound where
/// it is not and some are missing, with the line to type; kUnavailable, with the end of the step's output and the file
/// that holds all of it.
Status Install(const Adapter& adapter, const AdapterPlaces& places, const std::function<void(const std::string&)>& say);

}  // namespace wgrad::candidates
