#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace wgrad::cli {
namespace {

std::string& StoredCommandLine() {
  static std::string line;
  return line;
}

bool PlainInShell(std::string_view word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%";
  return !word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos;
}

std::string QuoteForShell(std::string_view word) {
  if (PlainInShell(word)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

}  // namespace

bool IsTerminal(int descriptor) { return isatty(descriptor) == 1; }

bool MayColor(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  return IsTerminal(descriptor) && (no_color == nullptr || *no_color == '\0');
}

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void PrintError(std::string_view message) {
  std::fflush(stdout);
  std::fprintf(stderr, "wgrad: error: %.*s\n", static_cast<int>(message.size()), message.data());
}

void PrintNote(std::string_view note) {
  std::fflush(stdout);
  std::fprintf(stderr, "wgrad: %.*s\n", static_cast<int>(note.size()), note.data());
}

ExitCode Refuse(const Error& error) {
  PrintError(error.message);
  return ExitCode::kUsage;
}

void SetCommandLine(int argc, const char* const* argv) {
  std::string& line = StoredCommandLine();
  line = "wgrad";
  for (int argument = 1; argument < argc; ++argument) line += " " + QuoteForShell(argv[argument]);
}

const std::string& CommandLine() { return StoredCommandLine(); }

std::string ProgramName() {
  const char* const program = std::getenv("WGRAD_PROGRAM");
  return program == nullptr ? "wgrad" : program;
}

}  // namespace wgrad::cli
