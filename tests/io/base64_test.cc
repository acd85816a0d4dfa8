#include "io/base64.h"

#include <gtest/gtest.h>

#include <string>

#include "core/random.h"

namespace wgrad::io {
namespace {

std::vector<std::byte> Bytes(const std::string& text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

// The examples of RFC 4648, section 10.
TEST(Base64, FollowsTheStandard) {
  const std::pair<std::string, std::string> examples[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
  };
  for (const auto& [plain, encoded] : examples) {
    EXPECT_EQ(EncodeBase64(Bytes(plain)), encoded);
    const auto decoded = DecodeBase64(encoded);
    ASSERT_TRUE(decoded.ok()) << encoded;
    EXPECT_EQ(*decoded, Bytes(plain));
  }
}

TEST(Base64, ReadsBackWhatItWrote) {
  int compared = 0;
  for (std::uint64_t size = 0; size < 200; ++size, ++compared) {
    std::vector<std::byte> bytes;
    for (std::uint64_t at = 0; at < size; ++at) bytes.push_back(static_cast<std::byte>(SplitMix64(size, at) & 255));
    EXPECT_EQ(*DecodeBase64(EncodeBase64(bytes)), bytes);
  }
  EXPECT_EQ(compared, 200);
}

TEST(Base64, RefusesWhatIsNone) {
  const std::pair<std::string, std::string> wrong[] = {
      {"Zg=", "base64: the length is a multiple of 4, got 3 characters"},
      {"Zm9*", "base64: character 4 is none of the alphabet's"},
      {"Z===", "base64: character 2 is none of the alphabet's"},
      {"=m9v", "base64: character 1 is none of the alphabet's"},
      {"Zh==", "base64: bits are left over after the last byte"},
      {"Zm9=", "base64: bits are left over after the last byte"},
  };
  for (const auto& [text, message] : wrong) {
    const auto decoded = DecodeBase64(text);
    ASSERT_FALSE(decoded.ok()) << text;
    EXPECT_EQ(decoded.error().code, ErrorCode::kBadText);
    EXPECT_EQ(decoded.error().message, message);
  }
}

}  // namespace
}  // namespace wgrad::io
