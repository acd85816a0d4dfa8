// Ready adapters: folders candidates/NAME with a manifest, adapter.json, that says how a real implementation is
// installed and started. docs/adapters.md describes the manifest.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "candidates/process/process_candidate.h"
#include "core/result.h"

namespace wgrad::candidates {

/// One way in which an implementation computes.
struct AdapterVariant {
  std::string name;
  std::string description;
  std::map<std::string, std::string> environment;
};

/// A plugin (plugin/wgrad_plugin.h) that wraps a native library.
struct AdapterPlugin {
  std::string built;                   // not empty: wgrad's build makes it, under this name
  std::string source;                  // else the file that installing compiles, with
  std::vector<std::string> flags;      // these before it
  std::vector<std::string> libraries;  // and these behind
};

struct Adapter {
  std::string name;
  std::filesystem::path folder;
  std::string description;
  std::vector<std::string> command;  // a program that speaks the protocol; empty where `plugin` is what there is
  std::vector<AdapterVariant> variants;
  AdapterPlugin plugin;
  std::vector<std::string> apt, pip, npm;  // packages
  std::string probe;                       // "file:PATH" or "python:MODULE" that Debian's packages bring along

  bool is_plugin() const { return command.empty(); }
};

/// Errors: kNotFound, or kBadFile with the manifest's field.
Result<Adapter> ReadAdapter(const std::filesystem::path& folder);
/// Those of all folders below `root`, by name.
Result<std::vector<Adapter>> ReadAdapters(const std::filesystem::path& root);

/// Where things are on this machine.
struct AdapterPlaces {
  std::filesystem::path share;      // holds candidates/ and clients/
  std::filesystem::path libraries;  // holds plugins made by wgrad's build
  std::filesystem::path include;    // holds candidates/plugin/wgrad_plugin.h
  std::filesystem::path cache;      // wgrad's own, one folder for each adapter

  /// Beside the running program, and the cache folder: WGRAD_CACHE, or wgrad in XDG_CACHE_HOME or ~/.cache.
  static AdapterPlaces OfThisProgram(const std::string& library_folder);
  std::filesystem::path CacheOf(const Adapter& adapter) const { return cache / adapter.name; }
};

/// Why it cannot be started yet ("not installed"), or an empty text.
std::string WhyNotInstalled(const Adapter& adapter, const AdapterPlaces& places);
/// The plugin's file.
std::filesystem::path PluginPath(const Adapter& adapter, const AdapterPlaces& places);
/// The program that runs Python adapters: the one in the adapter's own environment, or Debian's.
std::filesystem::path PythonOf(const Adapter& adapter, const AdapterPlaces& places);
/// How the adapter is started as one of its variants.
Command CommandFor(const Adapter& adapter, const AdapterVariant& variant, const AdapterPlaces& places);

}  // namespace wgrad::candidates
