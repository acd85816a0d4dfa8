// The program's exit codes, and how several reasons combine into one. docs/commands.md lists them.
#pragma once

namespace wgrad::cli {

enum class ExitCode : int {
  kPass = 0,
  kFailed = 1,           // a case failed, was rejected or died
  kUsage = 2,            // bad arguments or bad input
  kNothingCompared = 3,  // no case passed, failed, was rejected or died
  kInternal = 4,         // wgrad itself failed
  kInterrupted = 130,    // stopped by a signal before anything failed
};

}  // namespace wgrad::cli
