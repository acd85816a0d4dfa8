/* Does what conformance.py calls behaviours, by the number of images. Also compiled as C++. */
#include "clients/c/wgrad_candidate.h"
#ifdef __cplusplus
#include <stdexcept>
#endif

static int answer(const struct wgrad_call* call, int code, const char* message) {
  snprintf(call->message, call->message_size, "%s", message);
  return code;
}

static int filter_gradient(const struct wgrad_call* call) {
  switch (call->batch) {
    case 2:
      return answer(call, WGRAD_UNSUPPORTED, "not done here: \x80 \xce\xb1 \"\\\n\x01");
    case 3:
      return answer(call, WGRAD_REJECTED, "refused");
    case 7:
#ifdef __cplusplus
      throw std::runtime_error("it broke");
#else
      return 77;
#endif
    default:
      return answer(call, WGRAD_ERROR, "");
  }
}

int main(int count, char** arguments) {
  if (count > 1) return wgrad_start_error("libfoo.so is not installed");
  (void)arguments;
  return wgrad_serve("{}", filter_gradient);
}
