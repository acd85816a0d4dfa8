#include "cli/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace wgrad::cli {
namespace {

Error FromErrno(const std::string& action, const std::string& path) {
  const int number = errno;
  return {ErrorCode::kUnavailable, "cannot " + action + " \"" + path + "\": " + std::strerror(number)};
}

bool IsSpecial(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

// A new file beside `path`, open for writing. Its name is stored in `name`.
int OpenBeside(const std::string& path, std::string& name) {
  name = path + ".XXXXXX";
  return mkstemp(name.data());
}

bool WriteAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

Status WriteDirectly(const std::string& path, std::string_view content) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return FromErrno("write", path);
  const bool complete = WriteAll(descriptor, content);
  Status status = complete ? Ok() : Status(FromErrno("write", path));
  close(descriptor);
  return status;
}

mode_t UsualMode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

Status CheckWritable(const std::string& path) {
  if (path.empty()) return Error{ErrorCode::kBadText, "the path of a file to write must not be empty"};
  if (std::filesystem::is_directory(path)) {
    return Error{ErrorCode::kUnavailable, "cannot write \"" + path + "\": it is a folder"};
  }
  if (IsSpecial(path)) {
    return access(path.c_str(), W_OK) == 0 ? Ok() : Status(FromErrno("write", path));
  }
  std::string name;
  const int descriptor = OpenBeside(path, name);
  if (descriptor < 0) return FromErrno("write", path);
  close(descriptor);
  unlink(name.c_str());
  return Ok();
}

Status WriteWhole(const std::string& path, std::string_view content) {
  if (IsSpecial(path)) return WriteDirectly(path, content);
  std::string name;
  const int descriptor = OpenBeside(path, name);
  if (descriptor < 0) return FromErrno("write", path);
  const bool complete = WriteAll(descriptor, content) && fchmod(descriptor, UsualMode()) == 0;
  const bool closed = close(descriptor) == 0;
  if (complete && closed && std::rename(name.c_str(), path.c_str()) == 0) return Ok();
  Error error = FromErrno("write", path);
  unlink(name.c_str());
  return error;
}

Result<std::string> ReadWhole(const std::string& path, std::size_t limit) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    Error error = FromErrno("read", path);
    error.code = ErrorCode::kNotFound;
    return error;
  }
  std::string content;
  char buffer[65536];
  std::size_t count = 0;
  while (content.size() <= limit && (count = std::fread(buffer, 1, sizeof buffer, file)) > 0) {
    content.append(buffer, count);
  }
  const bool failed = std::ferror(file) != 0;
  Error error = FromErrno("read", path);
  std::fclose(file);
  if (failed) return error;
  if (content.size() > limit) {
    return Error{ErrorCode::kTooLarge,
                 "\"" + path + "\" is larger than " + std::to_string(limit) + " bytes, the limit of such a file"};
  }
  return content;
}

}  // namespace wgrad::cli
