#include "candidates/process/frame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "core/random.h"

namespace wgrad::candidates {
namespace {

std::string Bytes(const OutgoingFrame& frame) {
  std::string bytes;
  for (const auto piece : frame.pieces()) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  return bytes;
}

std::string WithLength(const std::string& header) {
  const auto length = static_cast<std::uint32_t>(header.size());
  std::string bytes(sizeof length, '\0');
  std::memcpy(bytes.data(), &length, sizeof length);
  return bytes + header;
}

// Feeds at most `step` bytes at a time, until the frame is complete, wrong, or the bytes are used up.
Status Feed(FrameDecoder& decoder, const std::string& bytes, std::size_t step, std::size_t* used = nullptr) {
  std::size_t at = 0;
  while (!decoder.complete() && at < bytes.size()) {
    const auto wanted = decoder.Wanted();
    const std::size_t count = std::min({step, wanted.size(), bytes.size() - at});
    std::memcpy(wanted.data(), bytes.data() + at, count);
    at += count;
    if (const Status status = decoder.Filled(count); !status.ok()) return status;
  }
  if (used != nullptr) *used = at;
  return Ok();
}

std::string MessageFor(const std::string& bytes, const FrameLimits& limits = {}) {
  FrameDecoder decoder(limits);
  const Status status = Feed(decoder, bytes, 1000);
  return status.ok() ? "no error" : status.error().message;
}

Tensor Counting(DType dtype, std::vector<std::int64_t> shape) {
  Tensor tensor(dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.element_count(); ++i) tensor.set_value(i, static_cast<double>(i));
  return tensor;
}

TEST(Frame, ComesBackAsItWasInPiecesOfAnySize) {
  const Tensor half = Counting(DType::kFloat16, {2, 3});
  const Tensor empty(DType::kFloat64, {0, 5});
  const Tensor floats = Counting(DType::kFloat32, {1, 2, 2, 1});
  const std::string bytes = Bytes(EncodeFrame(io::Json::MakeObject({{"id", 9}, {"kind", "test"}}),
                                              {{"half", &half}, {"empty", &empty}, {"floats", &floats}}));
  for (std::size_t step = 1; step <= 20; ++step) {
    FrameDecoder decoder{FrameLimits{}};
    std::size_t used = 0;
    ASSERT_TRUE(Feed(decoder, bytes + "the next frame", step, &used).ok());
    ASSERT_TRUE(decoder.complete());
    EXPECT_EQ(used, bytes.size());  // not a byte of the next frame
    const Frame frame = decoder.Take();
    EXPECT_EQ(frame.header.GetInt64("/id").value(), 9);
    ASSERT_EQ(frame.tensors.size(), 3u);
    EXPECT_EQ(frame.tensors[0].name, "half");
    EXPECT_EQ(frame.tensors[0].tensor.shape(), half.shape());
    EXPECT_EQ(ToDoubles(frame.tensors[0].tensor), ToDoubles(half));
    EXPECT_EQ(frame.tensors[1].tensor.element_count(), 0);
    EXPECT_EQ(frame.tensors[2].tensor.dtype(), DType::kFloat32);
    EXPECT_EQ(ToDoubles(frame.tensors[2].tensor), ToDoubles(floats));
  }
}

TEST(Frame, KeepsEveryBitOfATensor) {
  Tensor tensor(DType::kBFloat16, {65536});
  for (std::int64_t i = 0; i < 65536; ++i) tensor.set_bits(i, static_cast<std::uint64_t>(i));
  FrameDecoder decoder{FrameLimits{}};
  ASSERT_TRUE(Feed(decoder, Bytes(EncodeFrame(io::Json::MakeObject(), {{"all", &tensor}})), 4096).ok());
  const Frame frame = decoder.Take();
  EXPECT_EQ(std::memcmp(frame.tensors[0].tensor.data(), tensor.data(), tensor.byte_count()), 0);
}

TEST(Frame, IsNotCompleteWhileAByteIsMissing) {
  const Tensor tensor = Counting(DType::kFloat32, {3});
  const std::string bytes = Bytes(EncodeFrame(io::Json::MakeObject({{"id", 1}}), {{"t", &tensor}}));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    FrameDecoder decoder{FrameLimits{}};
    ASSERT_TRUE(Feed(decoder, bytes.substr(0, length), 7).ok());
    EXPECT_FALSE(decoder.complete()) << length;
    EXPECT_EQ(decoder.started(), length != 0);
  }
}

TEST(FrameDecoder, RefusesLengthsOutsideTheLimits) {
  EXPECT_EQ(MessageFor(std::string(4, '\0')), "the header's length must be 1 to 1048576 bytes, got 0");
  EXPECT_EQ(MessageFor("hello\n"), "the header's length must be 1 to 1048576 bytes, got 1819043176");
}

TEST(FrameDecoder, RefusesWhatIsNoHeader) {
  EXPECT_NE(MessageFor(WithLength("{\"id\": ")).find("the header is no JSON"), std::string::npos);
  EXPECT_EQ(MessageFor(WithLength("[1, 2]")), "the header must be a JSON object, got [1, 2]");
  EXPECT_NE(MessageFor(WithLength("{\"tensors\": 5}")).find("field \"tensors\" must be a list"), std::string::npos);
}

TEST(FrameDecoder, RefusesTensorsThatDoNotFit) {
  const auto with = [](const std::string& tensor) { return WithLength("{\"tensors\": [" + tensor + "]}"); };
  EXPECT_EQ(MessageFor(with(R"({"name": "t", "dtype": "i32", "shape": [1], "bytes": 4})")),
            "tensors[0]: dtype must be f16, bf16, f32 or f64, got \"i32\"");
  EXPECT_EQ(MessageFor(with(R"({"name": "t", "dtype": "f32", "shape": [2, 2], "bytes": 12})")),
            "tensors[0]: its shape takes 16 bytes, but \"bytes\" says 12");
  EXPECT_EQ(MessageFor(with(R"({"name": "t", "dtype": "f32", "shape": [-1], "bytes": 4})")),
            "tensors[0]: an extent is negative, -1");
  EXPECT_EQ(MessageFor(with(R"({"name": "t", "dtype": "f32", "shape": [4294967296, 4294967296], "bytes": 4})")),
            "tensors[0]: a tensor of 2^60 elements or more");
  EXPECT_NE(MessageFor(with(R"({"dtype": "f32", "shape": [1], "bytes": 4})")).find("tensors[0]: "), std::string::npos);
  FrameLimits small;
  small.tensor_bytes = 20;
  const std::string eight = R"({"name": "t", "dtype": "f32", "shape": [3], "bytes": 12})";
  EXPECT_EQ(MessageFor(with(eight + ", " + eight), small), "tensors[1]: 12 bytes, allowed are 8");
  small.tensors = 1;
  EXPECT_EQ(MessageFor(with(eight + ", " + eight), small), "a frame of 2 tensors, allowed are 1");
}

TEST(FrameDecoder, TakesAnyBytesWithoutHarm) {
  const Tensor tensor = Counting(DType::kFloat32, {3});
  const std::string good = Bytes(EncodeFrame(io::Json::MakeObject({{"id", 1}}), {{"t", &tensor}}));
  FrameLimits limits;
  limits.tensor_bytes = 4096;
  int refused = 0;
  constexpr int kRounds = 2000;
  for (int round = 0; round < kRounds; ++round) {
    std::string bytes = good;
    for (std::uint64_t change = 0; change < 3; ++change) {
      const std::uint64_t drawn = SplitMix64(static_cast<std::uint64_t>(round), change);
      bytes[drawn % bytes.size()] = static_cast<char>(drawn >> 32);
    }
    refused += MessageFor(bytes, limits) != "no error";
  }
  EXPECT_GT(refused, kRounds / 2);
  EXPECT_LT(refused, kRounds);  // changes inside the tensor are data
}

}  // namespace
}  // namespace wgrad::candidates
