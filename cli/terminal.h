// What the program writes where: answers on stdout, errors and progress on stderr, colour on terminals only.
#pragma once

#include <string>
#include <string_view>

#include "cli/exit_code.h"
#include "core/result.h"

namespace wgrad::cli {

bool IsTerminal(int descriptor);
/// Whether text for `descriptor` may be coloured: a terminal, and NO_COLOR unset or empty.
bool MayColor(int descriptor);

/// Writes `text` to stdout, as far as somebody reads it.
void Print(std::string_view text);
/// Writes "wgrad: error: MESSAGE" to stderr.
void PrintError(std::string_view message);
/// Writes "wgrad: NOTE" to stderr: what goes on.
void PrintNote(std::string_view note);
/// PrintError, and the exit code of a caller's mistake.
ExitCode Refuse(const Error& error);

/// The command line as typed, quoted for a shell; for reports.
void SetCommandLine(int argc, const char* const* argv);
const std::string& CommandLine();
/// How the user starts this program: WGRAD_PROGRAM, which a start script sets, or "wgrad".
std::string ProgramName();

}  // namespace wgrad::cli
