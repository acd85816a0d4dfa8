#include "candidates/process/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <thread>
#include <utility>

#include "core/check.h"

extern char** environ;

namespace wgrad::candidates {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kTick{10};        // between two looks at the child's memory
constexpr std::chrono::milliseconds kExitGrace{500};  // from the end of its answers to its own end
constexpr std::size_t kOutputTail = 4096;             // bytes kept of what a child prints
constexpr std::size_t kQuotedOutput = 200;            // bytes of its end in a message
constexpr std::size_t kQuotedHead = 200;              // and of its beginning
constexpr int kPipeBytes = 1 << 20;
constexpr int kOutputPiece = 1 << 16;  // bytes read at once of what a child prints

Error SystemError(const std::string& what, int number) {
  return {ErrorCode::kUnavailable, what + ": " + std::strerror(number)};
}

struct Pipe {
  Descriptor read;
  Descriptor write;
};

// Both ends close on exec and lie above the child's own descriptors, so that none is overwritten on the way to 3 or 4.
Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return SystemError("no pipe for a child process", errno);
  const Descriptor low_read(ends[0]);
  const Descriptor low_write(ends[1]);
  Pipe pipe{Descriptor(fcntl(ends[0], F_DUPFD_CLOEXEC, 10)), Descriptor(fcntl(ends[1], F_DUPFD_CLOEXEC, 10))};
  if (pipe.read.number() < 0 || pipe.write.number() < 0) return SystemError("no pipe for a child process", errno);
  // Fewer changes between the processes on large tensors; where the system refuses, the default size serves too.
  fcntl(pipe.write.number(), F_SETPIPE_SZ, kPipeBytes);
  return pipe;
}

void MakeNonBlocking(const Descriptor& descriptor) { fcntl(descriptor.number(), F_SETFL, O_NONBLOCK); }

// The child's environment: this process's with some variables changed.
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& changes) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    const std::string name(variable.substr(0, variable.find('=')));
    // A variant is chosen by wgrad alone.
    if (name != "WGRAD_VARIANT" && !changes.contains(name)) variables.emplace_back(variable);
  }
  for (const auto& [name, value] : changes) variables.push_back(name + "=" + value);
  return variables;
}

// The null-terminated array that the system's functions take.
std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// posix_spawn's two objects, with the child's descriptors 0 to 5 and default signals.
class SpawnSetup {
 public:
  SpawnSetup(int requests, int answers, int output, int shared) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, requests, 3);
    posix_spawn_file_actions_adddup2(&actions_, answers, 4);
    if (shared >= 0) posix_spawn_file_actions_adddup2(&actions_, shared, 5);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    // A group of its own: Ctrl-C reaches only the parent, and the child's children die with it.
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// 0, or the system's error number.
  int Spawn(pid_t& pid, const Command& command) const {
    std::vector<std::string> words = command.words;
    std::vector<std::string> variables = EnvironmentWith(command.environment);
    return posix_spawnp(&pid, words[0].c_str(), &actions_, &attributes_, Pointers(words).data(),
                        Pointers(variables).data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

std::string Text(std::chrono::milliseconds time) {
  if (time.count() % 1000 == 0) return std::to_string(time.count() / 1000) + " s";
  return std::to_string(time.count()) + " ms";
}

std::optional<std::int64_t> ResidentBytes(pid_t pid) {
  std::ifstream statm("/proc/" + std::to_string(pid) + "/statm");
  std::int64_t total_pages = 0;
  std::int64_t resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return std::nullopt;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

std::string ExitText(int status) {
  if (WIFEXITED(status)) return "exit " + std::to_string(WEXITSTATUS(status));
  const char* name = sigabbrev_np(WTERMSIG(status));
  return name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(WTERMSIG(status));
}

// What there is of a frame that was never finished.
std::string PartText(const FrameDecoder& decoder) {
  return decoder.started() ? " in the middle of a frame of which came " + decoder.Seen() : "";
}

// What a child printed, as one line of plain characters: the beginning, where an abort says why, and the end, where a
// stack trace does. `head` is the beginning of what came since the request, `tail` the end of all.
std::string Quote(std::string head, std::string tail) {
  while (!tail.empty() && tail.back() == '\n') tail.pop_back();
  if (tail.empty()) return "";
  const bool long_since_request = head.size() == kQuotedHead;
  const bool cut = tail.size() > kQuotedOutput;
  if (cut) tail.erase(0, tail.size() - kQuotedOutput);
  std::string text = (cut && long_since_request ? head : "") + (cut ? ".." : "") + tail;
  for (char& c : text) {
    if (c == '\n') c = '|';
    if (c < ' ' || c > '~' || c == '"') c = '?';
  }
  return "; it last printed \"" + text + "\"";
}

}  // namespace

struct Process::Deadline {
  Clock::time_point at;
  std::chrono::milliseconds limit;
  std::int64_t memory_bytes;
  const char* awaited;  // "answer" or "greeting"
  Clock::time_point next_look = Clock::now() + kTick;
};

Command Command::With(const std::string& variable, const std::string& value) const {
  Command with = *this;
  with.environment[variable] = value;
  return with;
}

Result<std::unique_ptr<Process>> Process::Start(const Command& command, const SharedFile& shared) {
  WGRAD_CHECK(!command.words.empty(), "a command needs a program");
  Result<Pipe> requests = MakePipe();
  Result<Pipe> answers = MakePipe();
  Result<Pipe> output = MakePipe();
  for (const Result<Pipe>* pipe : {&requests, &answers, &output}) {
    if (!pipe->ok()) return pipe->error();
  }
  Pipe request_pipe = std::move(requests).value();
  Pipe answer_pipe = std::move(answers).value();
  Pipe output_pipe = std::move(output).value();
  const SpawnSetup setup(request_pipe.read.number(), answer_pipe.write.number(), output_pipe.write.number(),
                         shared.descriptor());
  std::unique_ptr<Process> process(new Process);
  if (const int error = setup.Spawn(process->pid_, command); error != 0) {
    process->pid_ = -1;
    return SystemError("cannot start " + command.words[0], error);
  }
  // A core file for each crash would cost more time than the crash.
  const rlimit no_core{0, 0};
  prlimit(process->pid_, RLIMIT_CORE, &no_core, nullptr);
  process->requests_ = std::move(request_pipe.write);
  process->requests_read_ = std::move(request_pipe.read);
  process->answers_ = std::move(answer_pipe.read);
  process->output_ = std::move(output_pipe.read);
  MakeNonBlocking(process->requests_);
  MakeNonBlocking(process->answers_);
  MakeNonBlocking(process->output_);
  return process;
}

Process::~Process() { Kill(); }

Result<Frame> Process::Greet(const ProcessLimits& limits) {
  const Deadline deadline{Clock::now() + limits.start_time, limits.start_time, limits.memory_bytes, "greeting"};
  FrameDecoder decoder(FrameLimits{.tensors = 0, .tensor_bytes = 0});
  decoder.AcceptLine();
  return Converse(OutgoingFrame(), decoder, deadline);
}

Result<Frame> Process::Ask(const OutgoingFrame& request, FrameDecoder answer, const ProcessLimits& limits) {
  const Deadline deadline{Clock::now() + limits.time, limits.time, limits.memory_bytes, "answer"};
  return Converse(request, answer, deadline);
}

Result<Frame> Process::Converse(const OutgoingFrame& request, FrameDecoder& decoder, const Deadline& first) {
  WGRAD_CHECK(pid_ > 0, "a conversation with a process that has ended");
  Deadline deadline = first;
  sent_ = 0;
  output_head_.clear();
  bool sending = !request.head.empty();
  while (!decoder.complete()) {
    if (const Status status = Wait(sending, deadline); !status.ok()) return status.error();
    if (sending) sending = !Send(request);
    if (const Status status = Receive(decoder); !status.ok()) return status.error();
    if (Clock::now() < deadline.next_look) continue;
    deadline.next_look = Clock::now() + kTick;
    if (const Status status = CheckLimits(deadline, decoder); !status.ok()) return status.error();
  }
  if (sending) return BreakOff("it answered before it had read the whole request");
  return decoder.Take();
}

// Until something can be read or written, or the next look is due. Reads what the child printed.
Status Process::Wait(bool sending, const Deadline& deadline) {
  std::array<pollfd, 3> waiting{
      {{answers_.number(), POLLIN, 0}, {output_.number(), POLLIN, 0}, {sending ? requests_.number() : -1, POLLOUT, 0}}};
  const auto until_look =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline.next_look - Clock::now()).count() + 1;
  const int timeout = static_cast<int>(std::clamp<std::int64_t>(until_look, 0, kTick.count()));
  if (poll(waiting.data(), waiting.size(), timeout) < 0 && errno != EINTR) {
    return SystemError("cannot wait for a child process", errno);
  }
  if (waiting[1].revents != 0) DrainOutput();
  return Ok();
}

Status Process::CheckLimits(const Deadline& deadline, const FrameDecoder& decoder) {
  if (Clock::now() >= deadline.at) {
    return Died("no " + std::string(deadline.awaited) + " within " + Text(deadline.limit) + PartText(decoder));
  }
  const auto resident = ResidentBytes(pid_);
  if (resident && *resident > deadline.memory_bytes) {
    return Died("resident memory above " + std::to_string(deadline.memory_bytes >> 20) + " MiB");
  }
  // Its own children may hold the answers open after its end.
  if (Reap()) return DiedByItself(decoder);
  return Ok();
}

// Writes as much of the request as the pipe takes, in one piece where it can: each wakes the child. True once all is
// written.
bool Process::Send(const OutgoingFrame& request) {
  while (true) {
    const std::vector<iovec> rest = request.PiecesFrom(sent_);
    if (rest.empty()) return true;
    const ssize_t written = writev(requests_.number(), rest.data(), static_cast<int>(rest.size()));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    sent_ += static_cast<std::size_t>(written);
  }
}

Status Process::Receive(FrameDecoder& decoder) {
  while (!decoder.complete()) {
    const std::span<std::byte> wanted = decoder.Wanted();
    const ssize_t count = read(answers_.number(), wanted.data(), wanted.size());
    if (count == 0) return DiedByItself(decoder);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Ok();
    if (const Status status = decoder.Filled(static_cast<std::size_t>(count)); !status.ok()) {
      return BreakOff(status.error().message + "; what came was " + decoder.Seen());
    }
  }
  return Ok();
}

void Process::DrainOutput() {
  std::array<char, kOutputPiece> buffer;
  const ssize_t count = read(output_.number(), buffer.data(), buffer.size());
  if (count == 0) output_ = Descriptor();  // poll ignores it from now on
  if (count <= 0) return;
  output_head_.append(buffer.data(), std::min(static_cast<std::size_t>(count), kQuotedHead - output_head_.size()));
  output_tail_.append(buffer.data(), static_cast<std::size_t>(count));
  if (output_tail_.size() > kOutputTail) output_tail_.erase(0, output_tail_.size() - kOutputTail);
}

// Whether the child has ended; leaves its status in exit_status_.
bool Process::Reap() {
  if (pid_ <= 0) return true;
  siginfo_t ended{};
  const auto id = static_cast<id_t>(pid_);
  if (waitid(P_PID, id, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != pid_) return false;
  Kill();  // nothing but what it may have started is left to kill
  return true;
}

Error Process::DiedByItself(const FrameDecoder& decoder) {
  const auto give_up = Clock::now() + kExitGrace;
  while (!Reap()) {
    if (Clock::now() > give_up) return Died("closed its answers" + PartText(decoder));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return Died(ExitText(exit_status_) + PartText(decoder));
}

Error Process::Died(const std::string& how) {
  Kill();
  // A pipe holds no more than this; a process that has left the group may print for ever.
  for (int pieces = 0; pieces < 2 * kPipeBytes / kOutputPiece && output_.number() >= 0; ++pieces) DrainOutput();
  return {ErrorCode::kUnavailable, "died: " + how + Quote(output_head_, output_tail_)};
}

Error Process::BreakOff(const std::string& what) { return Died("broken protocol: " + what); }

void Process::Kill() {
  if (pid_ <= 0) return;
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);  // should it have left its group
  while (waitpid(pid_, &exit_status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace wgrad::candidates
