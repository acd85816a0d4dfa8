// Runs the built program as its users do: in a process of its own, looking at exit code, stdout and stderr.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace wgrad::test {

/// Whether the oneDNN plugin was built; its library is optional.
#ifdef WGRAD_HAS_ONEDNN
inline constexpr bool kHasOneDnn = true;
#else
inline constexpr bool kHasOneDnn = false;
#endif

/// What a run of the program left behind.
struct Finished {
  int exit_code = -1;  // -1 where a signal ended it
  int signal = 0;
  std::string out;
  std::string err;
  std::chrono::duration<double> duration{};
};

using Words = std::vector<std::string>;

/// The program, started and not yet waited for.
class Running {
 public:
  /// `environment` holds additional NAME=VALUE words.
  explicit Running(const Words& arguments, const Words& environment = {});
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void Signal(int number) const;
  bool done();  // without waiting
  Finished Wait();

 private:
  pid_t child_ = -1;
  int status_ = 0;
  bool reaped_ = false;
  std::filesystem::path out_;
  std::filesystem::path err_;
  std::chrono::steady_clock::time_point start_;
};

/// Starts the program and waits for it.
Finished Wgrad(const Words& arguments, const Words& environment = {});
/// The same on a pseudo-terminal; everything it shows is in `out`.
Finished WgradOnTerminal(const Words& arguments, const Words& environment = {});
/// The same with an address space of so many MiB.
Finished WgradInAddressSpace(std::uint64_t mebibytes, const Words& arguments);

/// A command line as a report prints it, without its first word, split at blanks; quotes of a shell are understood.
Words SplitCommand(const std::string& line);

/// A folder of the running test's own, empty, removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string Path(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string ReadFile(const std::filesystem::path& path);
void WriteFile(const std::filesystem::path& path, const std::string& content);

}  // namespace wgrad::test
