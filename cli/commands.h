// The subcommands. Each adds its options to the program, and when it is the one chosen, runs and leaves its exit code.
#pragma once

#include "cli/exit_code.h"

namespace CLI {
class App;
}  // namespace CLI

namespace wgrad::cli {

void AddCheckCommand(CLI::App& program, ExitCode& exit_code);
void AddFuzzCommand(CLI::App& program, ExitCode& exit_code);
void AddGradcheckCommand(CLI::App& program, ExitCode& exit_code);
void AddReplayCommand(CLI::App& program, ExitCode& exit_code);
void AddJudgeCommand(CLI::App& program, ExitCode& exit_code);
void AddRunCommand(CLI::App& program, ExitCode& exit_code);
void AddDescribeCommand(CLI::App& program, ExitCode& exit_code);
void AddListCommand(CLI::App& program, ExitCode& exit_code);
void AddInstallCommand(CLI::App& program, ExitCode& exit_code);
void AddPythonCommand(CLI::App& program, ExitCode& exit_code);
void AddMatrixCommand(CLI::App& program, ExitCode& exit_code);

}  // namespace wgrad::cli
