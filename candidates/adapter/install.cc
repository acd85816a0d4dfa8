#include "candidates/adapter/install.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <sstream>

#include "candidates/process/descriptor.h"

extern char** environ;

namespace wgrad::candidates {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kShownLines = 8;

std::string Joined(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

Words Concatenated(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string ContentOf(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

// Everything that an installation depends on: another text means that it is out of date.
std::string Recipe(const Adapter& adapter, const AdapterPlaces& places) {
  std::string text = "packages of Debian: " + Joined(adapter.apt) + "\n";
  for (const InstallStep& step : InstallSteps(adapter, places)) text += Joined(step.words) + "\n";
  if (adapter.plugin.source.empty()) return text;
  const fs::path shared = places.include / "candidates" / "plugin";
  return text + ContentOf(adapter.folder / adapter.plugin.source) + ContentOf(shared / "wgrad_plugin.h") +
         ContentOf(shared / "images.h");
}

fs::path StampOf(const Adapter& adapter, const AdapterPlaces& places) {
  return places.CacheOf(adapter) / "installed.txt";
}

fs::path LogOf(const Adapter& adapter, const AdapterPlaces& places) { return places.CacheOf(adapter) / "install.log"; }

bool NeedsCache(const Adapter& adapter) {
  return !adapter.pip.empty() || !adapter.npm.empty() || !adapter.plugin.source.empty();
}

// Runs a program whose output is appended to `log`. Its exit status; 127 where it cannot be started.
int RunToLog(Words words, const fs::path& log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t child = -1;
  const int error = posix_spawnp(&child, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    std::ofstream(log, std::ios::app) << "cannot start " << words[0] << ": " << std::strerror(error) << "\n";
    return 127;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string LastLines(const fs::path& path) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > kShownLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

Status RunStep(const InstallStep& step, const fs::path& log) {
  std::ofstream(log, std::ios::app) << "$ " << Joined(step.words) << std::endl;
  const int status = RunToLog(step.words, log);
  if (status == 0) return Ok();
  return Error{ErrorCode::kUnavailable, step.what + " failed with status " + std::to_string(status) +
                                            " (all of it: " + log.string() + "):" + LastLines(log)};
}

std::vector<InstallStep> DebianSteps(const Words& packages) {
  return {{"apt-get update", {"apt-get", "update"}},
          {"Debian: " + Joined(packages), Concatenated({"env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install",
                                                        "--yes", "--no-install-recommends"},
                                                       packages)}};
}

Status InstallDebianPackages(const Adapter& adapter, const fs::path& log,
                             const std::function<void(const std::string&)>& say) {
  const Words missing = MissingDebianPackages(adapter);
  if (missing.empty()) return Ok();
  if (geteuid() != 0) {
    return Error{ErrorCode::kNotFound, adapter.name + " needs Debian packages; as root: apt-get install " +
                                           Joined(missing) + "; then again: wgrad install " + adapter.name};
  }
  for (const InstallStep& step : DebianSteps(missing)) {
    say(step.what);
    if (const Status status = RunStep(step, log); !status.ok()) return status;
  }
  return Ok();
}

}  // namespace

Words MissingDebianPackages(const Adapter& adapter) {
  Words wanted = adapter.apt;
  if (!adapter.pip.empty()) wanted.emplace_back("python3-venv");
  Words missing;
  for (const std::string& package : wanted) {
    const Words query = {"sh", "-c", "dpkg-query -W -f '${db:Status-Status}' \"$0\" | grep -qx installed", package};
    if (RunToLog(query, "/dev/null") != 0) missing.push_back(package);
  }
  return missing;
}

std::vector<InstallStep> InstallSteps(const Adapter& adapter, const AdapterPlaces& places) {
  const fs::path cache = places.CacheOf(adapter);
  std::vector<InstallStep> steps;
  if (!adapter.pip.empty()) {
    steps.push_back({"a Python environment in " + (cache / "venv").string(),
                     {"/usr/bin/python3", "-m", "venv", "--system-site-packages", (cache / "venv").string()}});
    steps.push_back({"pip: " + Joined(adapter.pip),
                     Concatenated({PythonOf(adapter, places).string(), "-m", "pip", "install"}, adapter.pip)});
  }
  if (!adapter.npm.empty()) {
    steps.push_back(
        {"npm: " + Joined(adapter.npm),
         Concatenated({"npm", "install", "--no-audit", "--no-fund", "--prefix", cache.string()}, adapter.npm)});
  }
  if (!adapter.plugin.source.empty()) {
    Words words = {"c++"};
    words = Concatenated(words, adapter.plugin.flags);
    words =
        Concatenated(words, {"-shared", "-fPIC", "-I" + places.include.string(), "-o",
                             PluginPath(adapter, places).string(), (adapter.folder / adapter.plugin.source).string()});
    steps.push_back({"compiling " + adapter.plugin.source, Concatenated(words, adapter.plugin.libraries)});
  }
  return steps;
}

bool InstallationIsCurrent(const Adapter& adapter, const AdapterPlaces& places) {
  if (!NeedsCache(adapter)) return true;
  return ContentOf(StampOf(adapter, places)) == Recipe(adapter, places);
}

Status Install(const Adapter& adapter, const AdapterPlaces& places,
               const std::function<void(const std::string&)>& say) {
  std::error_code error;
  fs::create_directories(places.CacheOf(adapter), error);
  if (error) {
    return Error{ErrorCode::kUnavailable,
                 "cannot make the folder " + places.CacheOf(adapter).string() + ": " + error.message()};
  }
  // Two at once would install over each other.
  const Descriptor lock(open((places.CacheOf(adapter) / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  flock(lock.number(), LOCK_EX);
  if (WhyNotInstalled(adapter, places).empty()) return Ok();  // meanwhile
  const fs::path log = LogOf(adapter, places);
  fs::remove(log, error);
  fs::remove(StampOf(adapter, places), error);
  if (const Status status = InstallDebianPackages(adapter, log, say); !status.ok()) return status;
  for (const InstallStep& step : InstallSteps(adapter, places)) {
    say(step.what);
    if (const Status status = RunStep(step, log); !status.ok()) return status;
  }
  std::ofstream(StampOf(adapter, places)) << Recipe(adapter, places);
  return Ok();
}

}  // namespace wgrad::candidates
