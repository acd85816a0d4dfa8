// Ctrl-C and SIGTERM: remembered by a flag, so that a run can stop, report what it found, and leave no child behind.
#pragma once

namespace wgrad::cli {

/// From now on the first SIGINT or SIGTERM sets the flag; the second one ends the program at once.
void CatchInterrupts();
bool Interrupted();
/// Ends all children of this process with SIGKILL.
void KillChildren();

/// An abort (a broken invariant of our own) ends the program with the exit code of an internal failure.
void TurnAbortIntoExitCode();

}  // namespace wgrad::cli
