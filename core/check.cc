#include "core/check.h"

#include <cstdio>
#include <cstdlib>

namespace wgrad::internal {

void CheckFailed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "wgrad: internal failure at %s:%d: %s (%s)\n", file, line, message, condition);
  std::abort();
}

}  // namespace wgrad::internal
