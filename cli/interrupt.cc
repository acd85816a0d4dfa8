#include "cli/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/exit_code.h"

namespace wgrad::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void OnInterrupt(int) {
  if (interrupted.exchange(true)) _exit(static_cast<int>(ExitCode::kInterrupted));
}

void OnAbort(int) {
  constexpr char kMessage[] = "wgrad: error: internal failure, see the line above; please report it\n";
  // Nothing can be done about a stderr that is gone.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage, sizeof kMessage - 1);
  _exit(static_cast<int>(ExitCode::kInternal));
}

void Handle(int signal_number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(signal_number, &action, nullptr);
}

}  // namespace

void CatchInterrupts() {
  Handle(SIGINT, OnInterrupt);
  Handle(SIGTERM, OnInterrupt);
}

bool Interrupted() { return interrupted.load(); }

void KillChildren() {
  // The kernel lists children by the thread that started them.
  std::error_code ignored;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) {
      kill(-child, SIGKILL);  // with its group, where it leads one
      kill(child, SIGKILL);
    }
  }
}

void TurnAbortIntoExitCode() { Handle(SIGABRT, OnAbort); }

}  // namespace wgrad::cli
