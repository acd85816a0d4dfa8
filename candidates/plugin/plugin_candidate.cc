#include "candidates/plugin/plugin_candidate.h"

#include <cstdlib>
#include <filesystem>

namespace wgrad::candidates {
namespace {

constexpr const char* kHostName = "wgrad-plugin-host";

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

Result<OpenedVariants> OpenPlugin(const std::string& path, const ProcessLimits& limits, const std::string& variant) {
  Result<std::string> host = FindPluginHost();
  if (!host.ok()) return host.error();
  Result<OpenedVariants> opened = OpenVariants({{*host, path}}, limits, variant);
  if (opened.ok() || !opened.error().message.starts_with("died: ")) return opened;
  return Error{opened.error().code, "loading " + path + " " + opened.error().message};
}

}  // namespace wgrad::candidates
