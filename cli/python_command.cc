// `wgrad python`: the Python that an installed adapter runs in, with wgrad's Python client on its path.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "cli/commands.h"
#include "cli/registry.h"
#include "cli/terminal.h"

namespace wgrad::cli {
namespace {

struct PythonOptions {
  std::string adapter = "pytorch";
  std::vector<std::string> words;
};

ExitCode RunPython(const PythonOptions& options) {
  const Result<candidates::Adapter> adapter = FindAdapter(options.adapter);
  if (!adapter.ok()) return Refuse(adapter.error());
  const candidates::AdapterPlaces places = Places();
  if (const std::string why = candidates::WhyNotInstalled(*adapter, places); !why.empty()) {
    return Refuse({ErrorCode::kUnavailable,
                   adapter->name + " is " + why + "; to install it: " + ProgramName() + " install " + adapter->name});
  }
  const candidates::Command command = candidates::CommandFor(*adapter, {}, places);
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  std::vector<std::string> words = {candidates::PythonOf(*adapter, places).string()};
  words.insert(words.end(), options.words.begin(), options.words.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers[0], pointers.data());
  return Refuse({ErrorCode::kUnavailable, "cannot start " + words[0] + ": " + std::strerror(errno)});
}

}  // namespace

void AddPythonCommand(CLI::App& program, ExitCode& exit_code) {
  CLI::App* command = program.add_subcommand("python", "Run Python with an adapter's packages and wgrad's client");
  auto options = std::make_shared<PythonOptions>();
  command->add_option("--of", options->adapter, "The adapter whose Python it is; default pytorch")->type_name("NAME");
  command->prefix_command();  // the script and its arguments, whatever they look like
  command->footer("Example:\n  wgrad python --of tensorflow examples/training_step.py");
  command->callback([command, options, &exit_code] {
    options->words = command->remaining();
    exit_code = RunPython(*options);
  });
}

}  // namespace wgrad::cli
