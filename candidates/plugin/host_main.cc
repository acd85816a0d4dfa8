// wgrad-plugin-host PATH.so: loads a plugin and serves it by the process protocol on descriptors 3 to 5, as the variant
// that WGRAD_VARIANT names. Each call is guarded, so what the plugin does to memory is known before its result goes
// back.
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "candidates/plugin/plugin_library.h"
#include "candidates/process/frame.h"
#include "candidates/process/messages.h"
#include "core/guarded_call.h"
#include "core/problem.h"

namespace wgrad::candidates {
namespace {

constexpr int kRequests = 3;
constexpr int kAnswers = 4;
constexpr int kShared = 5;
constexpr int kUsageExit = 2;
constexpr int kProtocolExit = 3;

// A crash has to be the signal that it is, also where a sanitizer's runtime has put itself in between.
void RestoreSignals() {
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) signal(number, SIG_DFL);
}

// Large buffers come and go with each call: kept, they cost no page fault the next time.
void KeepMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
}

// Ends this process when wgrad is gone, also in the middle of an endless call.
void WatchParent() {
  std::thread([] {
    pollfd requests{kRequests, 0, 0};
    while (poll(&requests, 1, -1) <= 0 || (requests.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) {
    }
    _exit(0);
  }).detach();
}

bool SendFrame(const OutgoingFrame& frame) {
  std::size_t sent = 0;
  while (true) {
    const std::vector<iovec> rest = frame.PiecesFrom(sent);
    if (rest.empty()) return true;
    const ssize_t written = writev(kAnswers, rest.data(), static_cast<int>(rest.size()));
    if (written < 0 && errno != EINTR) return false;
    if (written > 0) sent += static_cast<std::size_t>(written);
  }
}

// Nothing where wgrad has closed its end between two frames. Errors: no frame, or half of one.
Result<std::optional<Frame>> ReceiveFrame(SharedFile& shared) {
  FrameDecoder decoder(FrameLimits{}, Wire::kFrames, &shared);
  while (!decoder.complete()) {
    const std::span<std::byte> wanted = decoder.Wanted();
    const ssize_t count = read(kRequests, wanted.data(), wanted.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 && !decoder.started()) return std::optional<Frame>();
    if (count <= 0) return Error{ErrorCode::kBadText, "the request ends in its middle"};
    if (const Status status = decoder.Filled(static_cast<std::size_t>(count)); !status.ok()) return status.error();
  }
  return std::optional<Frame>(decoder.Take());
}

int32_t CodeOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return WGRAD_F16;
    case DType::kBFloat16:
      return WGRAD_BF16;
    case DType::kFloat32:
      return WGRAD_F32;
    case DType::kFloat64:
      return WGRAD_F64;
  }
  return -1;
}

int32_t CodeOf(Padding padding) {
  return padding == Padding::kSame ? WGRAD_SAME : padding == Padding::kValid ? WGRAD_VALID : WGRAD_EXPLICIT;
}

wgrad_call CallFor(const Problem& problem) {
  const Axis& rows = problem.rows();
  const Axis& columns = problem.columns();
  wgrad_call call{};
  call.version = WGRAD_PLUGIN_VERSION;
  call.struct_size = sizeof(wgrad_call);
  call.batch = problem.batch();
  call.input_height = rows.input;
  call.input_width = columns.input;
  call.input_depth = problem.input_depth();
  call.filter_height = rows.filter;
  call.filter_width = columns.filter;
  call.filter_depth = problem.filter_depth();
  call.out_depth = problem.out_depth();
  call.output_height = rows.output;
  call.output_width = columns.output;
  call.groups = problem.groups();
  call.stride_height = rows.stride;
  call.stride_width = columns.stride;
  call.dilation_height = rows.dilation;
  call.dilation_width = columns.dilation;
  call.pad_top = rows.pad_before;
  call.pad_bottom = rows.pad_after;
  call.pad_left = columns.pad_before;
  call.pad_right = columns.pad_after;
  call.padding = CodeOf(problem.padding());
  call.data_format = problem.data_format() == DataFormat::kNhwc ? WGRAD_NHWC : WGRAD_NCHW;
  call.dtype = CodeOf(problem.dtype());
  call.result_dtype = CodeOf(problem.result_dtype());
  return call;
}

KernelStatus StatusOf(int code, const std::string& message) {
  const auto with_default = [&message](const char* text) { return message.empty() ? std::string(text) : message; };
  switch (code) {
    case WGRAD_OK:
      return {};
    case WGRAD_UNSUPPORTED:
      return {AnswerKind::kUnsupported, with_default("the plugin does not do this")};
    case WGRAD_REJECTED:
      return {AnswerKind::kRejected, with_default("the plugin refused the arguments")};
    case WGRAD_ERROR:
      return {AnswerKind::kError, with_default("the plugin gave up")};
    default:
      return {AnswerKind::kError, "returned " + std::to_string(code) + ", which is none of enum wgrad_code"};
  }
}

class Host {
 public:
  Host(PluginLibrary plugin, std::string variant) : plugin_(std::move(plugin)), variant_(std::move(variant)) {}

  Answer Serve(const Request& request) {
    if (request.operation != "filter_gradient") {
      return Answer::Of(AnswerKind::kUnsupported, "operation " + request.operation);
    }
    const Result<Problem> problem = Validate(request.arguments);
    // The interface's struct holds valid problems only, so a plugin has no way to refuse these.
    if (!problem.ok()) return Answer::Of(AnswerKind::kUnsupported, problem.error().message);
    return RunGuarded(*problem, request.input, request.out_backprop, plugin_.greeting.result_layout,
                      [this](const Problem& p, const void* input, const void* out_backprop, void* result) {
                        return Call(p, input, out_backprop, result);
                      });
  }

 private:
  KernelStatus Call(const Problem& problem, const void* input, const void* out_backprop, void* result) {
    std::array<char, 1024> message{};
    wgrad_call call = CallFor(problem);
    call.input = input;
    call.out_backprop = out_backprop;
    call.filter_backprop = result;
    call.message = message.data();
    call.message_size = message.size();
    call.variant = variant_.c_str();
    try {
      const int code = plugin_.filter_gradient(&call);
      message.back() = '\0';
      return StatusOf(code, message.data());
    } catch (const std::exception& exception) {
      return {AnswerKind::kError, std::string("threw a C++ exception: ") + exception.what()};
    }
  }

  PluginLibrary plugin_;
  std::string variant_;
};

int Fail(int exit_code, const std::string& message) {
  std::fprintf(stderr, "wgrad-plugin-host: %s\n", message.c_str());
  return exit_code;
}

int Run(const std::string& path, const std::string& variant) {
  RestoreSignals();
  KeepMemory();
  WatchParent();
  for (const int descriptor : {kRequests, kAnswers, kShared}) fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  Result<PluginLibrary> plugin = LoadPlugin(path);
  if (!plugin.ok()) {
    SendFrame(EncodeStartError(plugin.error().message));
    return kProtocolExit;
  }
  // Results leave this process in HWIO, whatever the plugin's own layout.
  ProcessGreeting greeting = plugin->greeting;
  greeting.result_layout = ResultLayout::kHwio;
  greeting.greeting.validates = false;  // the interface holds right arguments only
  greeting.shared_memory = fcntl(kShared, F_GETFD) >= 0;
  if (!SendFrame(EncodeGreeting(greeting))) return kProtocolExit;

  SharedFile shared{Descriptor(kShared)};
  Host host(std::move(plugin).value(), variant);
  while (true) {
    Result<std::optional<Frame>> frame = ReceiveFrame(shared);
    if (!frame.ok()) return Fail(kProtocolExit, frame.error().message);
    if (!frame->has_value()) return 0;
    const Result<Request> request = DecodeRequest(*std::move(frame).value());
    if (!request.ok()) return Fail(kProtocolExit, request.error().message);
    const Answer answer = host.Serve(*request);
    if (!SendFrame(EncodeAnswer(*request, answer, &shared))) return kProtocolExit;
  }
}

}  // namespace
}  // namespace wgrad::candidates

int main(int argc, char** argv) {
  using namespace wgrad::candidates;
  const std::span<char*> words(argv, static_cast<std::size_t>(argc));
  const bool open = fcntl(kRequests, F_GETFD) >= 0 && fcntl(kAnswers, F_GETFD) >= 0;
  if (!open || argc != 2) {
    return Fail(kUsageExit, "started by wgrad as wgrad-plugin-host PATH.so, with its protocol on descriptors 3 and 4");
  }
  const char* variant = std::getenv("WGRAD_VARIANT");
  return Run(words[1], variant == nullptr ? "" : variant);
}
