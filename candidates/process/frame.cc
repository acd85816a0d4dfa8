#include "candidates/process/frame.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "core/dtype.h"

namespace wgrad::candidates {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are little-endian and copied as they stand");

Error NoFrame(const std::string& what) { return {ErrorCode::kBadText, what}; }

constexpr std::size_t kSeenBytes = 32;       // kept of the beginning of what came
constexpr std::size_t kLinePiece = 1 << 16;  // bytes asked for at once of a line

io::Json ElementOf(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

io::Json EntryOf(const TensorReference& reference, Wire wire) {
  const Tensor& tensor = *reference.tensor;
  io::Json shape = io::Json::MakeArray();
  for (const std::int64_t extent : tensor.shape()) shape.Append(extent);
  io::Json entry = io::Json::MakeObject({{"name", reference.name},
                                         {"dtype", reference.dtype_name.value_or(std::string(NameOf(tensor.dtype())))},
                                         {"shape", shape}});
  if (wire == Wire::kLines) {
    io::Json data = io::Json::MakeArray();
    for (const double value : ToDoubles(tensor)) data.Append(ElementOf(value));
    entry["data"] = data;
    return entry;
  }
  entry["bytes"] = tensor.byte_count();
  if (reference.shared_at) entry["shared_at"] = *reference.shared_at;
  return entry;
}

// What languages print for the values that are no JSON numbers, and -0, which JavaScript prints as 0.
std::optional<double> SpelledValue(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text == "infinity" || text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-infinity" || text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "-0") return -0.0;
  return std::nullopt;
}

// The bits of an element of a line's tensor, or nothing where it is none.
std::optional<std::uint64_t> ElementBits(const io::Json& element, DType dtype) {
  if (const auto number = element.GetDouble(); number.ok()) return EncodeNearest(dtype, *number);
  // JavaScript prints large values as integers with zeros at their end.
  if (const auto number = element.GetInt64(); number.ok()) return EncodeNearest(dtype, static_cast<double>(*number));
  if (const auto number = element.GetUint64(); number.ok()) return EncodeNearest(dtype, static_cast<double>(*number));
  const auto text = element.GetString();
  if (!text.ok()) return std::nullopt;
  if (const auto value = SpelledValue(*text)) return EncodeNearest(dtype, *value);
  if (text->size() != 2 + 2 * SizeOf(dtype) || !text->starts_with("0x")) return std::nullopt;
  std::uint64_t bits = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, status] = std::from_chars(text->data() + 2, end, bits, 16);
  if (status != std::errc() || stop != end) return std::nullopt;
  return bits;
}

Status FillFromData(const io::Json& entry, Tensor& tensor) {
  const auto data = entry.GetArray("/data");
  if (!data.ok()) return data.error();
  if (static_cast<std::int64_t>((*data)->size()) != tensor.element_count()) {
    return NoFrame("its shape has " + std::to_string(tensor.element_count()) + " elements, \"data\" has " +
                   std::to_string((*data)->size()));
  }
  for (std::size_t i = 0; i < (*data)->size(); ++i) {
    const auto bits = ElementBits((**data)[i], tensor.dtype());
    if (!bits) {
      return NoFrame("data[" + std::to_string(i) +
                     "] must be a number, \"NaN\", \"Infinity\", \"-Infinity\", \"-0\" or bits (\"0x..\", " +
                     std::to_string(2 * SizeOf(tensor.dtype())) + " digits), got " + (**data)[i].Dump());
    }
    tensor.set_bits(static_cast<std::int64_t>(i), *bits);
  }
  return Ok();
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

std::vector<iovec> OutgoingFrame::PiecesFrom(std::size_t sent) const {
  std::vector<iovec> rest;
  for (const std::span<const std::byte> piece : pieces()) {
    const std::size_t skipped = std::min(sent, piece.size());
    sent -= skipped;
    if (skipped == piece.size()) continue;
    // writev reads only, though its type does not say so.
    rest.push_back({const_cast<std::byte*>(piece.data()) + skipped, piece.size() - skipped});
  }
  return rest;
}

OutgoingFrame EncodeFrame(io::Json header, const std::vector<TensorReference>& tensors, Wire wire) {
  WGRAD_CHECK(header.IsObject() && header.Find("tensors") == nullptr, "a header is an object, its tensors come apart");
  OutgoingFrame frame;
  if (!tensors.empty()) {
    io::Json& entries = header["tensors"];
    for (const TensorReference& reference : tensors) {
      entries.Append(EntryOf(reference, wire));
      if (wire == Wire::kFrames && !reference.shared_at) frame.tensors.push_back(reference.tensor);
    }
  }
  const std::string text = header.Dump();
  if (wire == Wire::kLines) {
    frame.head = text + "\n";
    return frame;
  }
  const auto length = static_cast<std::uint32_t>(text.size());
  WGRAD_CHECK(length == text.size(), "a header's length must fit 4 bytes");
  frame.head.resize(sizeof length);
  std::memcpy(frame.head.data(), &length, sizeof length);
  frame.head += text;
  return frame;
}

FrameDecoder::FrameDecoder(const FrameLimits& limits, Wire wire, SharedFile* shared)
    : limits_(limits), shared_(shared), part_(wire == Wire::kLines ? Part::kLine : Part::kLength) {
  frame_.wire = wire;
}

std::span<std::byte> FrameDecoder::CurrentPart() {
  switch (part_) {
    case Part::kLength:
      return length_;
    case Part::kHeader:
      return std::as_writable_bytes(std::span(header_text_));
    case Part::kTensors:
      return frame_.tensors[tensor_index_].tensor.bytes();
    case Part::kLine:
      if (header_text_.size() == filled_) header_text_.resize(filled_ + kLinePiece);
      return std::as_writable_bytes(std::span(header_text_));
    case Part::kComplete:
      break;
  }
  return {};
}

std::span<std::byte> FrameDecoder::Wanted() { return CurrentPart().subspan(filled_); }

std::string FrameDecoder::Seen() const {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  std::string text;
  for (const char c : seen_) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte >> 4], kDigits[byte & 15], ' '};
    text += c < ' ' || c > '~' ? '.' : c;
  }
  return std::to_string(seen_count_) + " bytes: " + hex + (seen_count_ > seen_.size() ? ".. " : "") + "\"" + text +
         "\"";
}

void FrameDecoder::Remember(std::span<const std::byte> bytes) {
  seen_count_ += bytes.size();
  const std::size_t room = std::min(kSeenBytes - std::min(kSeenBytes, seen_.size()), bytes.size());
  seen_.append(reinterpret_cast<const char*>(bytes.data()), room);
}

Status FrameDecoder::Filled(std::size_t count) {
  const std::span<std::byte> part = CurrentPart();
  WGRAD_CHECK(count <= part.size() - filled_, "more bytes than the decoder wanted");
  Remember(part.subspan(filled_, count));
  const std::size_t before = filled_;
  filled_ += count;
  if (part_ == Part::kLine) {
    const std::size_t end = header_text_.find('\n', before);
    if (end < filled_) return FinishLine(end);
    if (filled_ <= limits_.header_bytes) return Ok();
    return NoFrame("a line must have at most " + std::to_string(limits_.header_bytes) + " bytes");
  }
  if (filled_ < part.size()) return Ok();
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
  const bool in_range = length != 0 && length <= limits_.header_bytes;
  // Of a length in range the last byte is 0, which no text holds.
  if (!in_range && accept_line_ && length_[0] == std::byte{'{'}) {
    frame_.wire = Wire::kLines;
    part_ = Part::kLine;
    header_text_.assign(reinterpret_cast<const char*>(length_.data()), length_.size());
    filled_ = length_.size();
    return Ok();
  }
  if (!in_range) {
    return NoFrame("the header's length must be 1 to " + std::to_string(limits_.header_bytes) + " bytes, got " +
                   std::to_string(length));
  }
  header_text_.resize(length);
  part_ = Part::kHeader;
  return Ok();
}

Status FrameDecoder::FinishHeader() {
  if (const Status status = ReadHeader(header_text_); !status.ok()) return status;
  part_ = Part::kTensors;
  SkipFullTensors();
  return Ok();
}

Status FrameDecoder::FinishLine(std::size_t end) {
  if (end + 1 != filled_) return NoFrame("more bytes after the line");
  header_text_.resize(end);
  if (const Status status = ReadHeader(header_text_); !status.ok()) return status;
  part_ = Part::kComplete;
  return Ok();
}

Status FrameDecoder::ReadHeader(const std::string& text) {
  Result<io::Json> header = io::Parse(text, {.large_integers = frame_.wire == Wire::kLines});
  if (!header.ok()) return NoFrame("the header is no JSON: " + header.error().message);
  frame_.header = std::move(header).value();
  if (!frame_.header.IsObject()) return NoFrame("the header must be a JSON object, got " + text.substr(0, 40));
  if (!frame_.header.Has("/tensors")) return Ok();
  const auto entries = frame_.header.GetArray("/tensors");
  if (!entries.ok()) return NoFrame("the header's field \"tensors\" must be a list: " + entries.error().message);
  if ((*entries)->size() > limits_.tensors) {
    return NoFrame("a frame of " + std::to_string((*entries)->size()) + " tensors, allowed are " +
                   std::to_string(limits_.tensors));
  }
  for (std::size_t i = 0; i < (*entries)->size(); ++i) {
    const Status status = AddTensor((**entries)[i], i);
    if (!status.ok()) return NoFrame("tensors[" + std::to_string(i) + "]: " + status.error().message);
  }
  return Ok();
}

Status FrameDecoder::AddTensor(const io::Json& entry, std::size_t index) {
  const auto name = entry.GetString("/name");
  const auto dtype_name = entry.GetString("/dtype");
  const auto shape = ShapeOf(entry);
  if (!name.ok()) return name.error();
  if (!dtype_name.ok()) return dtype_name.error();
  if (!shape.ok()) return shape.error();
  auto dtype = DTypeFromName(*dtype_name);
  if (limits_.allow_i32 && *dtype_name == "i32") dtype = DType::kFloat32;
  if (!dtype) return NoFrame("dtype must be f16, bf16, f32 or f64, got \"" + *dtype_name + "\"");
  const std::int64_t due = *CheckedElementCount(*shape) * static_cast<std::int64_t>(SizeOf(*dtype));
  if (due > limits_.tensor_bytes - tensor_bytes_) {
    return NoFrame(std::to_string(due) + " bytes, allowed are " + std::to_string(limits_.tensor_bytes - tensor_bytes_));
  }
  tensor_bytes_ += due;
  frame_.tensors.push_back({*name, Tensor(*dtype, *shape)});
  Tensor& tensor = frame_.tensors.back().tensor;
  is_full_.push_back(true);
  if (frame_.wire == Wire::kLines) return FillFromData(entry, tensor);
  const auto bytes = entry.GetInt64("/bytes");
  if (!bytes.ok()) return bytes.error();
  if (*bytes != due) {
    return NoFrame("its shape takes " + std::to_string(due) + " bytes, but \"bytes\" says " + std::to_string(*bytes));
  }
  if (entry.Has("/shared_at")) return FillShared(entry, tensor);
  is_full_[index] = due == 0;
  return Ok();
}

Status FrameDecoder::FillShared(const io::Json& entry, Tensor& tensor) {
  const auto offset = entry.GetInt64("/shared_at");
  if (!offset.ok()) return offset.error();
  if (shared_ == nullptr) return NoFrame("\"shared_at\", though no memory is shared");
  const auto bytes = shared_->At(*offset, static_cast<std::int64_t>(tensor.byte_count()));
  if (!bytes) return NoFrame("shared_at " + std::to_string(*offset) + " is beyond the end of the shared file");
  if (!bytes->empty()) std::memcpy(tensor.data(), bytes->data(), bytes->size());
  return Ok();
}

void FrameDecoder::SkipFullTensors() {
  while (tensor_index_ < frame_.tensors.size() && is_full_[tensor_index_]) ++tensor_index_;
  if (tensor_index_ == frame_.tensors.size()) part_ = Part::kComplete;
}

Frame FrameDecoder::Take() {
  WGRAD_CHECK(complete(), "a frame that is not complete");
  return std::move(frame_);
}

}  // namespace wgrad::candidates
