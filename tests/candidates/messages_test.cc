#include "candidates/process/messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

// The frame as its receiver has it.
Frame Sent(const OutgoingFrame& outgoing) {
  std::string bytes;
  for (const auto piece : outgoing.pieces()) bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  FrameDecoder decoder{FrameLimits{}};
  std::size_t at = 0;
  while (!decoder.complete()) {
    const auto wanted = decoder.Wanted();
    std::memcpy(wanted.data(), bytes.data() + at, wanted.size());
    at += wanted.size();
    if (const Status status = decoder.Filled(wanted.size()); !status.ok()) ADD_FAILURE() << status.error().message;
  }
  return decoder.Take();
}

Result<ProcessGreeting> Capabilities(const std::string& text) {
  return ParseCapabilities(io::Parse(text).value(), "some_file");
}

std::string CapabilityError(const std::string& text) {
  const auto greeting = Capabilities(text);
  return greeting.ok() ? "no error" : greeting.error().message;
}

TEST(Capabilities, DefaultToEverythingUnderTheGivenName) {
  const auto greeting = Capabilities("{}");
  ASSERT_TRUE(greeting.ok());
  EXPECT_EQ(greeting->greeting.name, "some_file");
  EXPECT_EQ(greeting->greeting.capabilities, wgrad::Capabilities());
  EXPECT_EQ(greeting->greeting.declaration, Declaration());
  EXPECT_EQ(greeting->result_layout, ResultLayout::kHwio);
  EXPECT_TRUE(greeting->variants.empty());
}

TEST(Capabilities, OutOfRangeFieldsAreNamedWithTheirValue) {
  EXPECT_EQ(CapabilityError(R"({"dtypes": ["f33"]})"),
            "field \"dtypes\" must be a list out of bf16, bf16_f32, f16, f16_f32, f32, f64, got [\"f33\"]");
  EXPECT_EQ(CapabilityError(R"({"paddings": []})"),
            "field \"paddings\" must be a list out of EXPLICIT, SAME, VALID, got []");
  EXPECT_EQ(CapabilityError(R"({"groups": "yes"})"), "field \"groups\" must be true or false, got \"yes\"");
  EXPECT_EQ(CapabilityError(R"({"ftz": 1})"), "field \"ftz\" must be true or false, got 1");
  EXPECT_EQ(CapabilityError(R"({"pad": "crop"})"),
            "field \"pad\" must be \"skip\", \"multiply\" or \"either\", got \"crop\"");
  EXPECT_EQ(CapabilityError(R"({"result_layout": "hwoi"})"),
            "field \"result_layout\" must be \"hwio\", \"oihw\" or \"ohwi\", got \"hwoi\"");
  EXPECT_NE(CapabilityError(R"({"accuracy_class": {"f8": "order"}})").find("to a class's name"), std::string::npos);
  EXPECT_NE(CapabilityError(R"({"variants": ["a", "a"]})").find("different names"), std::string::npos);
  EXPECT_NE(CapabilityError(R"({"variants": ["a b"]})").find("different names"), std::string::npos);
  EXPECT_NE(CapabilityError(R"({"libraries": {"x": 1}})").find("libraries"), std::string::npos);
  EXPECT_EQ(CapabilityError(R"({"max_work": 0})"), "field \"max_work\" must be an integer from 1 on, got 0");
  EXPECT_EQ(CapabilityError(R"({"validates": 1})"), "field \"validates\" must be true or false, got 1");
  EXPECT_EQ(CapabilityError(R"({"version": 2})"), "field \"version\" must be a string, got 2");
  EXPECT_EQ(CapabilityError(R"({"dtype": "f32"})"), "there is no field \"dtype\" (its value is \"f32\")");
  EXPECT_EQ(CapabilityError("[]"), "capabilities must be a JSON object, got []");
}

TEST(Greeting, ComesBackAsItWas) {
  const auto sent = Capabilities(R"({"name": "n", "version": "1.2", "libraries": {"lib": "3"}, "variants": ["a", "b"],
      "dtypes": ["f32", "bf16_f32"], "data_formats": ["NCHW"], "paddings": ["SAME"], "asymmetric_padding": false,
      "per_axis_strides": false, "non_square": false, "dilation": false, "stride_with_dilation": false,
      "groups": false, "zero_sizes": false, "accuracy_class": {"f32": "depth:4"}, "pad": "multiply", "ftz": true,
      "daz": true, "saturate": true, "zero_skip": true, "deterministic": true, "result_layout": "ohwi", "max_elements": 77,
      "max_work": 1234, "validates": true, "restart_after_error": true, "shared_memory": true})");
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_FALSE(sent->greeting.capabilities.zero_sizes);
  EXPECT_TRUE(sent->greeting.declaration.zero_skip);
  const auto received = DecodeGreeting(Sent(EncodeGreeting(*sent)));
  ASSERT_TRUE(received.ok()) << received.error().message;
  EXPECT_EQ(received->greeting.name, "n");
  EXPECT_EQ(received->greeting.version, "1.2");
  EXPECT_EQ(received->greeting.libraries, sent->greeting.libraries);
  EXPECT_EQ(received->greeting.capabilities, sent->greeting.capabilities);
  EXPECT_EQ(received->greeting.declaration, sent->greeting.declaration);
  EXPECT_EQ(received->variants, sent->variants);
  EXPECT_EQ(received->result_layout, ResultLayout::kOhwi);
  EXPECT_EQ(received->greeting.capabilities.max_elements, 77);
  EXPECT_EQ(received->greeting.capabilities.max_work, 1234);
  EXPECT_TRUE(received->greeting.validates);
  EXPECT_TRUE(received->restart_after_error);
  EXPECT_TRUE(received->shared_memory);
}

TEST(Greeting, OtherFirstFramesAreRefused) {
  const auto start_error = DecodeGreeting(Sent(EncodeStartError("no library")));
  EXPECT_EQ(start_error.error(), (Error{ErrorCode::kUnavailable, "no library"}));
  const auto message = [](io::Json header) {
    return DecodeGreeting(Sent(EncodeFrame(std::move(header)))).error().message;
  };
  EXPECT_EQ(message(io::Json::MakeObject({{"kind", "greeting"}, {"protocol", 2}})),
            "the greeting's field \"protocol\" must be 1, got 2");
  EXPECT_NE(message(io::Json::MakeObject({{"kind", "result"}})).find("the first frame must be a greeting"),
            std::string::npos);
  EXPECT_NE(message(io::Json::MakeObject({{"kind", "greeting"}, {"protocol", 1}, {"colour", 3}})).find("colour"),
            std::string::npos);
}

TEST(Request, CarriesTheProblemAndItsTensors) {
  int compared = 0;
  for (const char* text : {"n2_i5x7_c6_k3x2_o4_g2_same_f32", "n1_i4x4_c1_k2x2_o1_s2x1_d1x2_pt1b2l0r3_nchw_bf16_f32",
                           "n0_i3x3_c2_k1x1_o2_valid_f64"}) {
    const Problem problem = TheProblem(text);
    const Data data = DataFor(problem);
    const auto request = DecodeRequest(Sent(EncodeRequest(5, problem, data.input, data.out_backprop, {}).value()));
    ASSERT_TRUE(request.ok()) << request.error().message;
    EXPECT_EQ(request->operation, "filter_gradient");
    EXPECT_EQ(request->id, 5);
    const auto again = Validate(request->arguments);
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*again, problem);
    EXPECT_EQ(Differences(request->input, data.input), 0);
    EXPECT_EQ(Differences(request->out_backprop, data.out_backprop), 0);
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

Result<Answer> Decoded(Frame frame, const Problem& problem, ResultLayout layout = ResultLayout::kHwio) {
  return DecodeAnswer(frame, 4, problem, layout);
}

class AnswerTest : public testing::Test {
 protected:
  // What the parent makes of a frame for request 4.
  std::string Broken(const OutgoingFrame& frame) {
    const auto answer = Decoded(Sent(frame), problem_);
    return answer.ok() ? "no error" : answer.error().message;
  }
  OutgoingFrame Result(std::int64_t id, const char* name, const Tensor& tensor) {
    return EncodeFrame(io::Json::MakeObject({{"kind", "result"}, {"id", id}}), {{name, &tensor}});
  }

  Problem problem_ = TheProblem("n1_i2x2_c2_k1x2_o3_same_f32");
  const Request request_ = [] {
    Request request;
    request.id = 4;
    return request;
  }();
};

TEST_F(AnswerTest, EveryKindComesBack) {
  const Tensor result = Integers(DType::kFloat32, {1, 2, 2, 3}, 3);
  const auto back = Decoded(Sent(EncodeAnswer(request_, Answer::Of(result), nullptr)), problem_);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(Differences(back->result, result), 0);
  for (const AnswerKind kind : {AnswerKind::kUnsupported, AnswerKind::kRejected, AnswerKind::kError}) {
    const auto said = Decoded(Sent(EncodeAnswer(request_, Answer::Of(kind, "why"), nullptr)), problem_);
    ASSERT_TRUE(said.ok()) << said.error().message;
    EXPECT_EQ(said->kind, kind);
    EXPECT_EQ(said->message, "why");
  }
}

TEST_F(AnswerTest, AnotherLayoutIsTurnedIntoHwio) {
  const Tensor oihw = Integers(DType::kFloat32, {3, 2, 1, 2}, 3);
  const auto back = Decoded(Sent(EncodeAnswer(request_, Answer::Of(oihw), nullptr)), problem_, ResultLayout::kOihw);
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->result.shape(), problem_.filter_sizes());
  EXPECT_EQ(back->result.value(1), oihw.value(4));  // (kh 0, kw 0, ic 0, oc 1)
}

TEST_F(AnswerTest, WhatDoesNotFitTheRequestIsNamed) {
  const Tensor right(DType::kFloat32, {1, 2, 2, 3});
  const Tensor turned(DType::kFloat32, {3, 2, 2, 1});
  const Tensor half(DType::kFloat16, {1, 2, 2, 3});
  EXPECT_EQ(Broken(Result(4, "filter_backprop", right)), "no error");
  EXPECT_EQ(Broken(Result(3, "filter_backprop", right)), "the answer's id is 3, the request's 4");
  EXPECT_EQ(Broken(Result(4, "result", right)), "a result must carry one tensor, filter_backprop");
  EXPECT_EQ(Broken(Result(4, "filter_backprop", turned)), "filter_backprop is f32[3,2,2,1], due is f32[1,2,2,3]");
  EXPECT_EQ(Broken(Result(4, "filter_backprop", half)), "filter_backprop is f16[1,2,2,3], due is f32[1,2,2,3]");
  EXPECT_EQ(Broken(EncodeFrame(io::Json::MakeObject({{"kind", "done"}, {"id", 4}}))),
            "the answer's kind must be result, unsupported, rejected or error, got \"done\"");
  EXPECT_NE(Broken(EncodeFrame(io::Json::MakeObject({{"kind", "error"}, {"id", 4}}))).find("message"),
            std::string::npos);
  EXPECT_NE(Broken(EncodeFrame(io::Json::MakeObject({{"id", 4}}))).find("kind"), std::string::npos);
}

}  // namespace
}  // namespace wgrad::candidates
