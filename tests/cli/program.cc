#include "tests/cli/program.h"

#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "core/check.h"

namespace wgrad::test {
namespace {

std::filesystem::path NewPath() {
  std::string name = (std::filesystem::temp_directory_path() / "wgrad_cli_test.XXXXXX").string();
  WGRAD_CHECK(mkdtemp(name.data()) != nullptr, "no temporary folder");
  return name;
}

std::vector<char*> Pointers(Words& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

Words WithProgram(const Words& arguments) {
  Words words = {WGRAD_PROGRAM};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Words Environment(const Words& more) {
  Words words = more;
  for (char** entry = environ; *entry != nullptr; ++entry) words.emplace_back(*entry);
  return words;
}

void Decode(int status, Finished& finished) {
  if (WIFEXITED(status)) finished.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
}

}  // namespace

Running::Running(const Words& arguments, const Words& environment) : start_(std::chrono::steady_clock::now()) {
  const std::filesystem::path folder = NewPath();
  out_ = folder / "out";
  err_ = folder / "err";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&actions, 2, err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  Words words = WithProgram(arguments);
  Words variables = Environment(environment);
  const int failure =
      posix_spawn(&child_, WGRAD_PROGRAM, &actions, nullptr, Pointers(words).data(), Pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  WGRAD_CHECK(failure == 0, "the program does not start");
}

Running::~Running() {
  if (!reaped_) {
    kill(child_, SIGKILL);
    waitpid(child_, &status_, 0);
  }
  std::filesystem::remove_all(out_.parent_path());
}

void Running::Signal(int number) const { kill(child_, number); }

bool Running::done() {
  if (!reaped_) reaped_ = waitpid(child_, &status_, WNOHANG) == child_;
  return reaped_;
}

Finished Running::Wait() {
  if (!reaped_) waitpid(child_, &status_, 0);
  reaped_ = true;
  Finished finished;
  finished.duration = std::chrono::steady_clock::now() - start_;
  Decode(status_, finished);
  finished.out = ReadFile(out_);
  finished.err = ReadFile(err_);
  return finished;
}

Finished Wgrad(const Words& arguments, const Words& environment) { return Running(arguments, environment).Wait(); }

Finished WgradOnTerminal(const Words& arguments, const Words& environment) {
  Words words = WithProgram(arguments);
  const std::vector<char*> pointers = Pointers(words);
  Words variables = Environment(environment);
  const std::vector<char*> variable_pointers = Pointers(variables);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, nullptr);
  if (child == 0) {
    execve(WGRAD_PROGRAM, pointers.data(), variable_pointers.data());
    _exit(127);
  }
  Finished finished;
  char buffer[4096];
  // Reading fails with EIO as soon as the other side has no one left.
  for (ssize_t count = 0; (count = read(terminal, buffer, sizeof buffer)) > 0;) {
    finished.out.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  waitpid(child, &status, 0);
  close(terminal);
  Decode(status, finished);
  return finished;
}

Finished WgradInAddressSpace(std::uint64_t mebibytes, const Words& arguments) {
  // Set here, the limit is the child's from its first instruction; the soft limit can be put back afterwards.
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  rlimit small = before;
  small.rlim_cur = mebibytes << 20;
  setrlimit(RLIMIT_AS, &small);
  Running run(arguments, {"OPENBLAS_NUM_THREADS=1"});
  setrlimit(RLIMIT_AS, &before);
  return run.Wait();
}

Words SplitCommand(const std::string& line) {
  Words words;
  std::string word;
  bool quoted = false;
  bool started = false;
  for (const char c : line + " ") {
    if (c == '\'') {
      quoted = !quoted;
      started = true;
    } else if (c == ' ' && !quoted) {
      if (started) words.push_back(word);
      word.clear();
      started = false;
    } else {
      word += c;
      started = true;
    }
  }
  if (!words.empty()) words.erase(words.begin());
  return words;
}

Folder::Folder() : path_(NewPath()) {}

Folder::~Folder() { std::filesystem::remove_all(path_); }

std::string ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void WriteFile(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace wgrad::test
