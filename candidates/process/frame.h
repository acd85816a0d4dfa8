// What travels between wgrad and a candidate's process: a JSON header with tensors. Usually as a frame (a 4-byte
// little-endian length, that many bytes of header, then the raw little-endian tensors which the header lists), or as
// one line of JSON text. Nothing here reads or writes a descriptor. docs/protocol.md is the exact description.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "candidates/process/shared_file.h"
#include "core/result.h"
#include "core/tensor.h"
#include "io/json.h"

namespace wgrad::candidates {

enum class Wire : std::uint8_t {
  kFrames,
  kLines,  // JSON lines: elements as numbers inside the header
};

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A frame as received: its header (a JSON object, "tensors" included) and the tensors in the header's order.
struct Frame {
  io::Json header;
  std::vector<NamedTensor> tensors;
  Wire wire = Wire::kFrames;
};

/// What a receiver accepts; everything above is an Error before memory is taken for it.
struct FrameLimits {
  std::uint32_t header_bytes = 1u << 20;  // also of a whole line
  std::size_t tensors = 8;
  std::int64_t tensor_bytes = std::int64_t{1} << 36;  // all tensors of the frame together
  bool allow_i32 = false;                             // tensors of int32 too; their bits stand in a float32 tensor
};

struct TensorReference {
  std::string name;
  const Tensor* tensor;                                  // outlives the frame
  std::optional<std::int64_t> shared_at = {};            // its bytes are in the shared file already, from here on
  std::optional<std::string> dtype_name = std::nullopt;  // in place of the tensor's own, of the same size
};

/// A frame to send: `head` (length and header, or the whole line), then the bytes of each tensor.
struct OutgoingFrame {
  std::string head;
  std::vector<const Tensor*> tensors;

  /// All pieces in order.
  std::vector<std::span<const std::byte>> pieces() const;
  /// What is left of them behind the first `sent` bytes, as writev takes it; empty at the end.
  std::vector<iovec> PiecesFrom(std::size_t sent) const;
};

/// Requires: `header` is an object without a field "tensors".
OutgoingFrame EncodeFrame(io::Json header, const std::vector<TensorReference>& tensors = {}, Wire wire = Wire::kFrames);

/// Takes a frame's bytes as they arrive: fill Wanted() from the front, say how much by Filled(), until complete(). Of
/// frames it never asks for a byte beyond the end.
class FrameDecoder {
 public:
  /// Tensors that lie in `shared` are refused where that is null.
  explicit FrameDecoder(const FrameLimits& limits, Wire wire = Wire::kFrames, SharedFile* shared = nullptr);

  /// From now on a line of JSON in place of a frame is taken too, as a first message may be.
  void AcceptLine() { accept_line_ = true; }
  bool complete() const { return part_ == Part::kComplete; }
  /// Whether a byte of the frame has come.
  bool started() const { return seen_count_ != 0; }
  /// How many bytes came and how they begin, for whoever has to find out what was sent: '17 bytes: 62 61 .. "ba.."'.
  std::string Seen() const;
  /// Where the next bytes go; not empty unless complete.
  std::span<std::byte> Wanted();
  /// Errors (kBadText): the bytes so far are no frame within the limits. Then the decoder is of no further use.
  Status Filled(std::size_t count);
  /// Requires complete().
  Frame Take();

 private:
  enum class Part { kLength, kHeader, kTensors, kLine, kComplete };
  std::span<std::byte> CurrentPart();
  void Remember(std::span<const std::byte> bytes);
  Status FinishLength();
  Status FinishHeader();
  Status FinishLine(std::size_t end);
  Status ReadHeader(const std::string& text);
  Status AddTensor(const io::Json& entry, std::size_t index);
  Status FillShared(const io::Json& entry, Tensor& tensor);
  void SkipFullTensors();

  FrameLimits limits_;
  SharedFile* shared_;
  bool accept_line_ = false;
  Part part_;
  std::size_t filled_ = 0;  // bytes of the current part
  std::array<std::byte, 4> length_{};
  std::string header_text_;
  Frame frame_;
  std::vector<bool> is_full_;  // tensors that need no byte more
  std::int64_t tensor_bytes_ = 0;
  std::size_t tensor_index_ = 0;
  std::string seen_;  // the first bytes
  std::size_t seen_count_ = 0;
};

}  // namespace wgrad::candidates
