// The program: parses the command line, runs the subcommand, turns what happened into an exit code.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "report/report.h"

namespace wgrad::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 all passed, 1 something failed, 2 bad arguments or input, 3 nothing was compared,\n"
    "4 wgrad itself failed, 130 interrupted before anything failed.\n\n"
    "Example:\n  wgrad check openblas --suite smoke";

// CLI11 says only that a command is missing where the word is none.
ExitCode RefuseArguments(const CLI::App& program, const char* first, const CLI::ParseError& error) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  const std::string word = first == nullptr ? "" : first;
  const bool is_command = std::find(names.begin(), names.end(), word) != names.end();
  if (!is_command && !word.empty() && word.front() != '-') return Refuse(UnknownName("command", word, names));
  PrintError(std::string(error.what()) + " (see wgrad " + (is_command ? word + " " : "") + "--help)");
  return ExitCode::kUsage;
}

ExitCode Run(int argc, char** argv) {
  ExitCode exit_code = ExitCode::kPass;
  CLI::App program("Test oracle for the convolution weight gradient (TensorFlow's conv2d_backprop_filter)", "wgrad");
  program.set_version_flag("--version", "wgrad " + report::CurrentEnvironment().version);
  program.require_subcommand(1);
  program.footer(kFooter);
  AddCheckCommand(program, exit_code);
  AddFuzzCommand(program, exit_code);
  AddGradcheckCommand(program, exit_code);
  AddReplayCommand(program, exit_code);
  AddJudgeCommand(program, exit_code);
  AddRunCommand(program, exit_code);
  AddDescribeCommand(program, exit_code);
  AddListCommand(program, exit_code);
  AddMatrixCommand(program, exit_code);
  AddInstallCommand(program, exit_code);
  AddPythonCommand(program, exit_code);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --help, --version
    program.exit(answer);
  } catch (const CLI::ParseError& error) {
    return RefuseArguments(program, argv[1], error);
  }
  return exit_code;
}

ExitCode RunAndCatch(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const std::bad_alloc&) {
    PrintError("memory ran out");
  } catch (const std::exception& exception) {
    PrintError(std::string("internal failure: ") + exception.what());
  }
  return ExitCode::kInternal;
}

}  // namespace
}  // namespace wgrad::cli

int main(int argc, char** argv) {
  using wgrad::cli::ExitCode;
  wgrad::cli::TurnAbortIntoExitCode();
  wgrad::cli::SetCommandLine(argc, argv);
  const ExitCode exit_code = wgrad::cli::RunAndCatch(argc, argv);
  // A worker left behind may still be at work, and a library's own end may wait for ever where memory ran out: then no
  // destructor runs any more. All output is flushed where it is written.
  if (wgrad::cli::Interrupted() || exit_code == ExitCode::kInternal) std::_Exit(static_cast<int>(exit_code));
  return static_cast<int>(exit_code);
}
