#include "candidates/process/frame.h"

#include <bit>
#include <cstring>
#include <utility>

#include "core/check.h"
#include "core/dtype.h"

namespace wgrad::candidates {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian and copied as they stand");

Error NoFrame(const std::string& what) { return {ErrorCode::kBadText, what}; }

io::Json EntryOf(const TensorReference& reference) {
  io::Json shape = io::Json::MakeArray();
  for (const std::int64_t extent : reference.tensor->shape()) shape.Append(extent);
  return io::Json::MakeObject({{"name", reference.name},
                               {"dtype", NameOf(reference.tensor->dtype())},
                               {"shape", shape},
                               {"bytes", reference.tensor->byte_count()}});
}

// The bytes as text, should somebody have printed into the frames.
std::string Printable(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c < ' ' || c > '~') return "";
    text += c;
  }
  return " (the text \"" + text + "\"?)";
}

Result<std::vector<std::int64_t>> ShapeOf(const io::Json& entry) {
  const auto list = entry.GetArray("/shape");
  if (!list.ok()) return list.error();
  std::vector<std::int64_t> shape;
  for (const io::Json& extent : **list) {
    const auto value = extent.GetInt64();
    if (!value.ok()) return value.error();
    if (*value < 0) return NoFrame("an extent is negative, " + std::to_string(*value));
    shape.push_back(*value);
  }
  if (!CheckedElementCount(shape)) return NoFrame("a tensor of 2^60 elements or more");
  return shape;
}

}  // namespace

std::vector<std::span<const std::byte>> OutgoingFrame::pieces() const {
  std::vector<std::span<const std::byte>> pieces = {std::as_bytes(std::span(head))};
  for (const Tensor* tensor : tensors) pieces.push_back(tensor->bytes());
  return pieces;
}

OutgoingFrame EncodeFrame(io::Json header, const std::vector<TensorReference>& tensors) {
  WGRAD_CHECK(header.IsObject() && header.Find("tensors") == nullptr, "a header is an object, its tensors come apart");
  OutgoingFrame frame;
  if (!tensors.empty()) {
    io::Json& entries = header["tensors"];
    for (const TensorReference& reference : tensors) {
      entries.Append(EntryOf(reference));
      frame.tensors.push_back(reference.tensor);
    }
  }
  const std::string text = header.Dump();
  const auto length = static_cast<std::uint32_t>(text.size());
  WGRAD_CHECK(length == text.size(), "a header's length must fit 4 bytes");
  frame.head.resize(sizeof length);
  std::memcpy(frame.head.data(), &length, sizeof length);
  frame.head += text;
  return frame;
}

FrameDecoder::FrameDecoder(const FrameLimits& limits) : limits_(limits) {}

std::span<std::byte> FrameDecoder::CurrentPart() {
  switch (part_) {
    case Part::kLength:
      return length_;
    case Part::kHeader:
      return std::as_writable_bytes(std::span(header_text_));
    case Part::kTensors:
      return frame_.tensors[tensor_index_].tensor.bytes();
    case Part::kComplete:
      break;
  }
  return {};
}

std::span<std::byte> FrameDecoder::Wanted() { return CurrentPart().subspan(filled_); }

Status FrameDecoder::Filled(std::size_t count) {
  const std::size_t size = CurrentPart().size();
  WGRAD_CHECK(count <= size - filled_, "more bytes than the decoder wanted");
  filled_ += count;
  if (filled_ < size) return Ok();
  filled_ = 0;
  if (part_ == Part::kLength) return FinishLength();
  if (part_ == Part::kHeader) return FinishHeader();
  ++tensor_index_;
  SkipFullTensors();
  return Ok();
}

Status FrameDecoder::FinishLength() {
  std::uint32_t length = 0;
  std::memcpy(&length, length_.data(), sizeof length);
  if (length == 0 || length > limits_.header_bytes) {
    return NoFrame("the header's length must be 1 to " + std::to_string(limits_.header_bytes) + " bytes, got " +
                   std::to_string(length) + Printable(length_));
  }
  header_text_.resize(length);
  part_ = Part::kHeader;
  return Ok();
}

Status FrameDecoder::FinishHeader() {
  Result<io::Json> header = io::Parse(header_text_);
  if (!header.ok()) return NoFrame("the header is no JSON: " + header.error().message);
  frame_.header = std::move(header).value();
  if (!frame_.header.IsObject()) return NoFrame("the header must be a JSON object, got " + header_text_.substr(0, 40));
  if (frame_.header.Has("/tensors")) {
    const auto entries = frame_.header.GetArray("/tensors");
    if (!entries.ok()) return NoFrame("the header's field \"tensors\" must be a list: " + entries.error().message);
    if ((*entries)->size() > limits_.tensors) {
      return NoFrame("a frame of " + std::to_string((*entries)->size()) + " tensors, allowed are " +
                     std::to_string(limits_.tensors));
    }
    for (std::size_t i = 0; i < (*entries)->size(); ++i) {
      if (const Status status = AddTensor((**entries)[i], i); !status.ok()) return status;
    }
  }
  part_ = Part::kTensors;
  SkipFullTensors();
  return Ok();
}

Status FrameDecoder::AddTensor(const io::Json& entry, std::size_t index) {
  const std::string at = "tensors[" + std::to_string(index) + "]: ";
  const auto name = entry.GetString("/name");
  const auto dtype_name = entry.GetString("/dtype");
  const auto bytes = entry.GetInt64("/bytes");
  const auto shape = ShapeOf(entry);
  if (!name.ok()) return NoFrame(at + name.error().message);
  if (!dtype_name.ok()) return NoFrame(at + dtype_name.error().message);
  if (!bytes.ok()) return NoFrame(at + bytes.error().message);
  if (!shape.ok()) return NoFrame(at + shape.error().message);
  const auto dtype = DTypeFromName(*dtype_name);
  if (!dtype) return NoFrame(at + "dtype must be f16, bf16, f32 or f64, got \"" + *dtype_name + "\"");
  const std::int64_t due = *CheckedElementCount(*shape) * static_cast<std::int64_t>(SizeOf(*dtype));
  if (*bytes != due) {
    return NoFrame(at + "its shape takes " + std::to_string(due) + " bytes, but \"bytes\" says " +
                   std::to_string(*bytes));
  }
  if (due > limits_.tensor_bytes - tensor_bytes_) {
    return NoFrame(at + std::to_string(due) + " bytes, allowed are " +
                   std::to_string(limits_.tensor_bytes - tensor_bytes_));
  }
  tensor_bytes_ += due;
  frame_.tensors.push_back({*name, Tensor(*dtype, *shape)});
  return Ok();
}

void FrameDecoder::SkipFullTensors() {
  while (tensor_index_ < frame_.tensors.size() && frame_.tensors[tensor_index_].tensor.byte_count() == 0) {
    ++tensor_index_;
  }
  if (tensor_index_ == frame_.tensors.size()) part_ = Part::kComplete;
}

Frame FrameDecoder::Take() {
  WGRAD_CHECK(complete(), "a frame that is not complete");
  return std::move(frame_);
}

}  // namespace wgrad::candidates
