// WGRAD_CHECK: a condition that only a bug of wgrad's own can break.
#pragma once

namespace wgrad::internal {
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition, const char* message);
}  // namespace wgrad::internal

/// Prints place, condition and message and aborts, in every build type.
#define WGRAD_CHECK(condition, message)                                        \
  do {                                                                         \
    if (!(condition)) {                                                        \
      ::wgrad::internal::CheckFailed(__FILE__, __LINE__, #condition, message); \
    }                                                                          \
  } while (false)
