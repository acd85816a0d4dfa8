// A frame: a 4-byte little-endian length, that many bytes of JSON header, then the raw little-endian tensors which the
// header lists. Nothing here reads or writes a descriptor. docs/protocol.md is the exact description.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"
#include "io/json.h"

namespace wgrad::candidates {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

/// A frame as received: its header (a JSON object, "tensors" included) and the tensors in the header's order.
struct Frame {
  io::Json header;
  std::vector<NamedTensor> tensors;
};

/// What a receiver accepts; everything above is an Error before memory is taken for it.
struct FrameLimits {
  std::uint32_t header_bytes = 1u << 20;
  std::size_t tensors = 8;
  std::int64_t tensor_bytes = std::int64_t{1} << 36;  // all tensors of the frame together
};

struct TensorReference {
  std::string name;
  const Tensor* tensor;  // outlives the frame
};

/// A frame to send: `head` (length and header), then the bytes of each tensor.
struct OutgoingFrame {
  std::string head;
  std::vector<const Tensor*> tensors;

  /// All pieces in order.
  std::vector<std::span<const std::byte>> pieces() const;
};

/// Requires: `header` is an object without a field "tensors".
OutgoingFrame EncodeFrame(io::Json header, const std::vector<TensorReference>& tensors = {});

/// Takes a frame's bytes as they arrive and never asks for a byte beyond its end:
/// fill Wanted() from the front, say how much by Filled(), until complete().
class FrameDecoder {
 public:
  explicit FrameDecoder(const FrameLimits& limits);

  bool complete() const { return part_ == Part::kComplete; }
  /// Whether a byte of the frame has come.
  bool started() const { return part_ != Part::kLength || filled_ != 0; }
  /// Where the next bytes go; not empty unless complete.
  std::span<std::byte> Wanted();
  /// Errors (kBadText): the bytes so far are no frame within the limits. Then the decoder is of no further use.
  Status Filled(std::size_t count);
  /// Requires complete().
  Frame Take();

 private:
  enum class Part { kLength, kHeader, kTensors, kComplete };
  std::span<std::byte> CurrentPart();
  Status FinishLength();
  Status FinishHeader();
  Status AddTensor(const io::Json& entry, std::size_t index);
  void SkipFullTensors();

  FrameLimits limits_;
  Part part_ = Part::kLength;
  std::size_t filled_ = 0;  // bytes of the current part
  std::array<std::byte, 4> length_{};
  std::string header_text_;
  Frame frame_;
  std::int64_t tensor_bytes_ = 0;
  std::size_t tensor_index_ = 0;
};

}  // namespace wgrad::candidates
