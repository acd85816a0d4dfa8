#include "io/base64.h"

#include <algorithm>
#include <cstdint>

namespace wgrad::io {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::size_t kBytes = 3;       // of a group
constexpr std::size_t kCharacters = 4;  // of a group
constexpr int kBits = 6;                // of a character

Error BadText(const std::string& why) { return {ErrorCode::kBadText, "base64: " + why}; }

}  // namespace

std::string EncodeBase64(std::span<const std::byte> bytes) {
  std::string text;
  text.reserve((bytes.size() + kBytes - 1) / kBytes * kCharacters);
  for (std::size_t at = 0; at < bytes.size(); at += kBytes) {
    const std::size_t count = std::min(kBytes, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < kBytes; ++i) {
      group = group << 8 | (i < count ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0);
    }
    for (std::size_t i = 0; i < kCharacters; ++i) {
      const std::uint32_t digit = group >> (kBits * static_cast<int>(kCharacters - 1 - i)) & 63;
      text += i <= count ? kAlphabet[digit] : '=';
    }
  }
  return text;
}

Result<std::vector<std::byte>> DecodeBase64(std::string_view text) {
  if (text.size() % kCharacters != 0) {
    return BadText("the length is a multiple of 4, got " + std::to_string(text.size()) + " characters");
  }
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / kCharacters * kBytes);
  std::uint32_t group = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_padding = at >= text.size() - padding;
    const std::size_t digit = is_padding ? 0 : kAlphabet.find(text[at]);
    if (digit == std::string_view::npos) {
      return BadText("character " + std::to_string(at + 1) + " is none of the alphabet's");
    }
    group = group << kBits | static_cast<std::uint32_t>(digit);
    if (at % kCharacters != kCharacters - 1) continue;
    for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<std::byte>(group >> shift & 255));
    group = 0;
  }
  for (; padding > 0; --padding) {
    if (bytes.back() != std::byte{0}) return BadText("bits are left over after the last byte");
    bytes.pop_back();
  }
  return bytes;
}

}  // namespace wgrad::io
