#include "candidates/process/shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace wgrad::candidates {
namespace {

constexpr int kAboveTheChilds = 10;  // a child's own descriptors are 0 to 5

Error SystemError(const char* what) {
  return {ErrorCode::kUnavailable, std::string(what) + ": " + std::strerror(errno)};
}

}  // namespace

Result<SharedFile> SharedFile::Create() {
  const Descriptor low(memfd_create("wgrad", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  Descriptor file(fcntl(low.number(), F_DUPFD_CLOEXEC, kAboveTheChilds));
  if (file.number() < 0) return SystemError("no memory to share with a process");
  // A child that cuts the file off under our map would kill us with SIGBUS.
  if (fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK) != 0) return SystemError("cannot seal shared memory");
  return SharedFile(std::move(file));
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : descriptor_(std::move(other.descriptor_)),
      map_(std::exchange(other.map_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)) {}

SharedFile& SharedFile::operator=(SharedFile&& other) noexcept {
  descriptor_ = std::move(other.descriptor_);
  std::swap(map_, other.map_);
  std::swap(mapped_, other.mapped_);
  return *this;
}

SharedFile::~SharedFile() {
  if (map_ != nullptr) munmap(map_, static_cast<std::size_t>(mapped_));
}

Status SharedFile::Reserve(std::int64_t bytes) {
  struct stat file {};
  if (fstat(descriptor_.number(), &file) != 0) return SystemError("cannot look at shared memory");
  if (file.st_size < bytes && ftruncate(descriptor_.number(), bytes) != 0) {
    return SystemError("cannot enlarge shared memory");
  }
  return Ok();
}

std::optional<std::span<std::byte>> SharedFile::At(std::int64_t offset, std::int64_t bytes) {
  if (offset < 0 || bytes < 0) return std::nullopt;
  // Compared without a sum, which could overflow.
  if ((bytes > mapped_ || offset > mapped_ - bytes) && !MapAgain()) return std::nullopt;
  if (bytes > mapped_ || offset > mapped_ - bytes) return std::nullopt;
  return std::span(map_ + offset, static_cast<std::size_t>(bytes));
}

bool SharedFile::MapAgain() {
  struct stat file {};
  if (fstat(descriptor_.number(), &file) != 0 || file.st_size == 0) return false;
  void* const map = mmap(nullptr, static_cast<std::size_t>(file.st_size), PROT_READ | PROT_WRITE, MAP_SHARED,
                         descriptor_.number(), 0);
  if (map == MAP_FAILED) return false;
  if (map_ != nullptr) munmap(map_, static_cast<std::size_t>(mapped_));
  map_ = static_cast<std::byte*>(map);
  mapped_ = file.st_size;
  return true;
}

}  // namespace wgrad::candidates
