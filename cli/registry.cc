#include "cli/registry.h"

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "candidates/plugin/plugin_candidate.h"
#include "cli/suggest.h"
#include "fuzz/wrong_kernels.h"
#include "optimized/filter_gradient.h"
#include "reference/filter_gradient.h"

namespace wgrad::cli {
namespace {

constexpr std::string_view kMutantPrefix = "mutant:";

// A candidate's words: "onednn:any" is name onednn, variant any.
struct CandidateWords {
  std::string name;
  std::string variant;  // empty: all
  bool is_path = false;
};

bool LooksLikePath(std::string_view word) { return word.find('/') != std::string_view::npos || word.ends_with(".so"); }

CandidateWords Split(std::string_view argument) {
  const std::size_t cut = argument.rfind(':');
  const std::string_view name = argument.substr(0, cut);
  // The colon of a folder's name belongs to the path.
  const bool cuts_path = LooksLikePath(argument) && !name.ends_with(".so");
  if (cut == std::string_view::npos || cuts_path) return {std::string(argument), "", LooksLikePath(argument)};
  return {std::string(name), std::string(argument.substr(cut + 1)), LooksLikePath(name)};
}

std::vector<std::string> MutantNames() {
  std::vector<std::string> names;
  for (const fuzz::WrongKernel& kernel : fuzz::WrongKernels()) names.push_back(kernel.name);
  return names;
}

candidates::ProcessLimits LimitsOf(const CandidateSettings& settings) {
  candidates::ProcessLimits limits;
  if (settings.time_limit_seconds > 0) {
    limits.time = std::chrono::milliseconds(static_cast<std::int64_t>(settings.time_limit_seconds * 1000));
  }
  if (settings.memory_limit_mib > 0) limits.memory_bytes = settings.memory_limit_mib << 20;
  return limits;
}

std::vector<OpenedCandidate> InProcess(std::string_view argument, const CandidateFactory& make) {
  return {{std::string(argument), make()->greeting(), make}};
}

// Our own plugin: built beside bin in lib/wgrad, installed in the library folder of the installation.
std::string OneDnnPath() {
  std::error_code ignored;
  const auto root = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path().parent_path();
  const auto built = root / "lib" / "wgrad" / "libwgrad_onednn.so";
  const auto installed = root / WGRAD_INSTALL_LIBDIR / "wgrad" / "libwgrad_onednn.so";
  return (std::filesystem::exists(installed, ignored) ? installed : built).string();
}

Result<std::vector<OpenedCandidate>> OpenPlugin(const CandidateWords& words, const std::string& path,
                                                const CandidateSettings& settings) {
  if (!std::filesystem::exists(path)) {
    return Error{ErrorCode::kNotFound, "candidate \"" + words.name + "\": there is no file " + path};
  }
  const Result<candidates::PluginInfo> plugin = candidates::OpenPlugin(path, LimitsOf(settings));
  if (!plugin.ok()) return plugin.error();
  std::vector<OpenedCandidate> opened;
  std::vector<std::string> names;
  for (const candidates::PluginVariant& variant : plugin->variants) {
    names.push_back(variant.name);
    if (!words.variant.empty() && words.variant != variant.name) continue;
    const std::string suffix = variant.name.empty() ? "" : ":" + variant.name;
    opened.push_back({words.name + suffix, plugin->greeting, variant.factory});
  }
  if (opened.empty()) return UnknownName("variant of " + words.name, words.variant, names);
  return opened;
}

Result<std::vector<OpenedCandidate>> OpenMutant(std::string_view argument) {
  const std::string name(argument.substr(kMutantPrefix.size()));
  const std::vector<std::string> names = MutantNames();
  if (std::find(names.begin(), names.end(), name) == names.end()) return UnknownName("wrong kernel", name, names);
  return InProcess(argument, [name] { return fuzz::MakeWrongKernel(name); });
}

}  // namespace

Result<std::vector<OpenedCandidate>> OpenCandidate(std::string_view argument, const CandidateSettings& settings) {
  if (argument.starts_with(kMutantPrefix)) return OpenMutant(argument);
  const CandidateWords words = Split(argument);
  if (words.is_path) return OpenPlugin(words, words.name, settings);
  if (words.name == "onednn") return OpenPlugin(words, OneDnnPath(), settings);
  const bool built_in = words.name == "openblas" || words.name == "reference";
  if (!built_in) {
    const std::vector<std::string> known = {"openblas", "reference", "onednn"};
    return UnknownName("candidate", argument, known);
  }
  if (!words.variant.empty()) {
    return Error{ErrorCode::kNotFound,
                 "candidate \"" + words.name + "\" has no variants, got \"" + std::string(argument) + "\""};
  }
  if (words.name == "reference") return InProcess(argument, reference::MakeReferenceCandidate);
  return InProcess(argument, [threads = settings.threads] { return optimized::MakeOpenBlasCandidate(threads); });
}

std::vector<CandidateListing> ListCandidates() {
  std::vector<CandidateListing> listings = {
      {"openblas", "the optimized path: unrolled images and OpenBLAS, in working precision"},
      {"reference", "the definition, exact and slow, correctly rounded"},
  };
  const Result<std::vector<OpenedCandidate>> onednn = OpenCandidate("onednn", CandidateSettings());
  const std::string state = onednn.ok() ? onednn->front().greeting.version : "not available: " + onednn.error().message;
  listings.push_back({"onednn", "oneDNN in a process of its own, all its variants (" + state + ")"});
  if (onednn.ok()) {
    for (const OpenedCandidate& variant : *onednn) listings.push_back({variant.argument, "one of its variants"});
  }
  listings.push_back({"PATH.so", "a plugin of your own (docs/plugin.md), with :VARIANT where it has several"});
  for (const fuzz::WrongKernel& kernel : fuzz::WrongKernels()) {
    const bool control = kernel.family == fuzz::FaultFamily::kControl;
    listings.push_back({std::string(kMutantPrefix) + kernel.name,
                        (control ? "right, for comparison: " : "wrong on purpose: ") + kernel.description});
  }
  return listings;
}

}  // namespace wgrad::cli
