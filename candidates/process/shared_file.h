// The file in memory that wgrad and a candidate's process share, for tensors too large to go through a pipe quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "candidates/process/descriptor.h"
#include "core/result.h"

namespace wgrad::candidates {

/// Tensors begin at multiples of this many bytes.
inline constexpr std::int64_t kSharedAlignment = 64;
constexpr std::int64_t AlignShared(std::int64_t offset) {
  return (offset + kSharedAlignment - 1) / kSharedAlignment * kSharedAlignment;
}

/// The file and this process's map of it. It grows and never shrinks, so that memory once touched is used again.
class SharedFile {
 public:
  /// An empty file, closed on exec. Errors: kUnavailable.
  static Result<SharedFile> Create();
  /// The file that wgrad has handed to this process as `descriptor`.
  explicit SharedFile(Descriptor descriptor) : descriptor_(std::move(descriptor)) {}
  SharedFile(SharedFile&& other) noexcept;
  SharedFile& operator=(SharedFile&& other) noexcept;
  ~SharedFile();

  int descriptor() const { return descriptor_.number(); }
  /// Makes the file at least `bytes` long. Errors: kUnavailable, where the system refuses.
  Status Reserve(std::int64_t bytes);
  /// The file's bytes from `offset` on; nothing where they are not all within the file.
  std::optional<std::span<std::byte>> At(std::int64_t offset, std::int64_t bytes);

 private:
  bool MapAgain();

  Descriptor descriptor_;
  std::byte* map_ = nullptr;
  std::int64_t mapped_ = 0;
};

}  // namespace wgrad::candidates
