#include "vectors/tensor_json.h"

#include <charconv>
#include <cstring>
#include <utility>

#include "io/base64.h"

namespace wgrad::vectors {
namespace {

constexpr int kHexBase = 16;

std::string ToHex(std::uint64_t bits, std::size_t digits) {
  char text[16];
  char* const end = std::to_chars(text, text + sizeof text, bits, kHexBase).ptr;
  const std::string shortest(text, end);
  return std::string(digits - shortest.size(), '0') + shortest;
}

Error BadTensor(const std::string& pointer, const std::string& why) {
  return {ErrorCode::kBadText, "at " + pointer + ": " + why};
}

Result<std::uint64_t> FromHex(const std::string& text, std::size_t digits, const std::string& pointer) {
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, kHexBase);
  const bool canonical = text.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (text.size() != digits || error != std::errc() || end != text.data() + text.size() || !canonical) {
    return BadTensor(pointer,
                     "expected " + std::to_string(digits) + " lower-case hexadecimal digits, found \"" + text + "\"");
  }
  return bits;
}

Result<Tensor> FromBits(const io::Json& root, const std::string& pointer, Tensor tensor) {
  const Result<const io::Json::Array*> list = root.GetArray(pointer);
  if (!list.ok()) return list.error();
  if (static_cast<std::int64_t>((*list)->size()) != tensor.element_count()) {
    return BadTensor(pointer, "expected " + std::to_string(tensor.element_count()) + " elements, found " +
                                  std::to_string((*list)->size()));
  }
  for (std::size_t at = 0; at < (*list)->size(); ++at) {
    const std::string place = pointer + io::PointerStep(at);
    const Result<std::string> text = root.GetString(place);
    if (!text.ok()) return text.error();
    const Result<std::uint64_t> bits = FromHex(*text, 2 * SizeOf(tensor.dtype()), place);
    if (!bits.ok()) return bits.error();
    tensor.set_bits(static_cast<std::int64_t>(at), *bits);
  }
  return tensor;
}

Result<Tensor> FromBytes(const io::Json& root, const std::string& pointer, Tensor tensor) {
  const Result<std::string> text = root.GetString(pointer);
  if (!text.ok()) return text.error();
  const Result<std::vector<std::byte>> bytes = io::DecodeBase64(*text);
  if (!bytes.ok()) return BadTensor(pointer, bytes.error().message);
  if (bytes->size() != tensor.byte_count()) {
    return BadTensor(
        pointer, "expected " + std::to_string(tensor.byte_count()) + " bytes, found " + std::to_string(bytes->size()));
  }
  if (!bytes->empty()) std::memcpy(tensor.data(), bytes->data(), bytes->size());
  return tensor;
}

}  // namespace

io::Json TensorToJson(const Tensor& tensor) {
  if (tensor.element_count() > kMaxHexElements) {
    return io::Json::MakeObject({{"base64", io::EncodeBase64(tensor.bytes())}});
  }
  io::Json bits = io::Json::MakeArray();
  for (std::int64_t at = 0; at < tensor.element_count(); ++at) {
    bits.Append(ToHex(tensor.bits(at), 2 * SizeOf(tensor.dtype())));
  }
  return io::Json::MakeObject({{"bits", std::move(bits)}});
}

Result<Tensor> TensorFromJson(const io::Json& root, const std::string& pointer, DType dtype,
                              const std::vector<std::int64_t>& shape) {
  Tensor tensor(dtype, shape);
  const Result<const io::Json::Object*> members = root.GetObject(pointer);
  if (!members.ok()) return members.error();
  const std::string form = tensor.element_count() > kMaxHexElements ? "base64" : "bits";
  if ((*members)->size() != 1 || (*members)->front().key != form) {
    return BadTensor(pointer, "a tensor of " + std::to_string(tensor.element_count()) + " elements has the one key \"" +
                                  form + "\"");
  }
  const std::string place = pointer + "/" + form;
  return form == "bits" ? FromBits(root, place, std::move(tensor)) : FromBytes(root, place, std::move(tensor));
}

}  // namespace wgrad::vectors
