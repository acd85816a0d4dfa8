// `wgrad install`: puts what a ready adapter needs into wgrad's own cache folder.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>

#include "candidates/adapter/install.h"
#include "cli/commands.h"
#include "cli/registry.h"
#include "cli/terminal.h"

namespace wgrad::cli {
namespace {

void Say(const std::string& line) { Print("wgrad: " + line + "\n"); }

std::string Seconds(std::chrono::steady_clock::time_point since) {
  const auto elapsed = std::chrono::steady_clock::now() - since;
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(elapsed).count()) + " s";
}

ExitCode InstallOne(const candidates::Adapter& adapter) {
  const candidates::AdapterPlaces places = Places();
  const std::string next = "judge it: " + ProgramName() + " check " + adapter.name;
  if (candidates::WhyNotInstalled(adapter, places).empty()) {
    Say(adapter.name + " is installed; " + next);
    return ExitCode::kPass;
  }
  const auto start = std::chrono::steady_clock::now();
  const Status status = candidates::Install(adapter, places, Say);
  if (!status.ok()) {
    PrintError(status.error().message);
    return status.error().code == ErrorCode::kNotFound ? ExitCode::kUsage : ExitCode::kInternal;
  }
  if (const std::string why = candidates::WhyNotInstalled(adapter, places); !why.empty()) {
    PrintError(adapter.name + " is still " + why);
    return ExitCode::kInternal;
  }
  Say(adapter.name + " installed in " + Seconds(start) + "; " + next);
  return ExitCode::kPass;
}

ExitCode Install(const std::vector<std::string>& names) {
  std::vector<candidates::Adapter> adapters;
  for (const std::string& name : names) {
    const Result<candidates::Adapter> adapter = FindAdapter(name);
    if (!adapter.ok()) return Refuse(adapter.error());
    adapters.push_back(*adapter);
  }
  ExitCode code = ExitCode::kPass;
  for (const candidates::Adapter& adapter : adapters) {
    code = std::max(code, InstallOne(adapter));
  }
  return code;
}

}  // namespace

void AddInstallCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("install", "Install what a ready adapter needs");
  auto names = std::make_shared<std::vector<std::string>>();
  command->add_option("NAME", *names, "Adapters (`wgrad list candidates`)")->required();
  command->footer(
      "Python and npm packages go into wgrad's cache folder (WGRAD_CACHE, else ~/.cache/wgrad). Debian packages are\n"
      "installed where this is root; otherwise the line to type is said.\n\n"
      "Example:\n  wgrad install tensorflow");
  command->callback([names, &exit_code] { exit_code = Install(*names); });
}

}  // namespace wgrad::cli
