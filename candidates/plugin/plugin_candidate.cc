#include "candidates/plugin/plugin_candidate.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>

#include "candidates/process/process_candidate.h"

namespace wgrad::candidates {
namespace {

constexpr const char* kHostName = "wgrad-plugin-host";

CandidateFactory FactoryFor(std::vector<std::string> command, const ProcessLimits& limits, ProcessGreeting greeting) {
  return [command = std::move(command), limits, greeting = std::move(greeting)] {
    return std::make_unique<ProcessCandidate>(command, limits, greeting);
  };
}

}  // namespace

Result<std::string> FindPluginHost() {
  namespace fs = std::filesystem;
  std::error_code error;
  if (const char* named = std::getenv("WGRAD_PLUGIN_HOST"); named != nullptr && *named != '\0') {
    if (fs::is_regular_file(named, error)) return std::string(named);
    return Error{ErrorCode::kNotFound,
                 "WGRAD_PLUGIN_HOST names " + std::string(named) + ", where there is no plugin host"};
  }
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  const fs::path beside = folder / kHostName;
  const fs::path installed = folder.parent_path() / "libexec" / "wgrad" / kHostName;
  for (const fs::path& path : {beside, installed}) {
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return Error{ErrorCode::kNotFound, "no plugin host at " + beside.string() + " or " + installed.string() +
                                         "; WGRAD_PLUGIN_HOST can name it"};
}

Result<PluginInfo> OpenPlugin(const std::string& path, const ProcessLimits& limits) {
  Result<std::string> host = FindPluginHost();
  if (!host.ok()) return host.error();
  const std::vector<std::string> command = {*host, path};
  Result<ProcessGreeting> opened = OpenProcess(command, limits);
  if (!opened.ok()) {
    Error error = opened.error();
    if (error.message.starts_with("died: ")) error.message = "loading " + path + " " + error.message;
    return error;
  }
  PluginInfo info{opened->greeting, {}};
  for (const std::string& variant : opened->variants) {
    std::vector<std::string> with_variant = command;
    with_variant.insert(with_variant.end(), {"--variant", variant});
    info.variants.push_back({variant, FactoryFor(std::move(with_variant), limits, *opened)});
  }
  if (info.variants.empty()) info.variants.push_back({"", FactoryFor(command, limits, *opened)});
  return info;
}

}  // namespace wgrad::candidates
