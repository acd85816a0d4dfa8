// A whole child: transports, variants, refusals, restarts, and every way of breaking the protocol.
#include "candidates/process/process_candidate.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <string>

#include "core/dtype.h"
#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

Command Child(const std::string& mode) { return {{WGRAD_PYTHON, WGRAD_TEST_CHILD, mode}}; }

OpenedProcess Opened(const std::string& mode, const ProcessLimits& limits = {}) {
  Result<OpenedProcess> opened = OpenProcess(Child(mode), limits);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return std::move(opened).value();
}

// What one call of a fresh candidate gives.
Answer AnswerOf(const std::string& mode, const ProcessLimits& limits = {}) {
  const auto candidate = Opened(mode, limits).make();
  return Answered(*candidate, TheProblem("n1_i1x3_c1_k1x1_o1_valid_f32"));
}

double ValueOf(Candidate& candidate) {
  const Answer answer = Answered(candidate, TheProblem("n1_i1x3_c1_k1x1_o1_valid_f32"));
  EXPECT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
  return answer.kind == AnswerKind::kResult ? answer.result.value(0) : -1;
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(JsonLines, CarryNumbersBothWays) {
  const OpenedProcess opened = Opened("lines");
  EXPECT_EQ(opened.greeting.wire, Wire::kLines);
  EXPECT_EQ(opened.greeting.greeting.capabilities.max_elements, kMaxLineElements);
  const auto candidate = opened.make();
  std::int64_t compared = 0;
  for (const char* text : {"n1_i1x3_c1_k1x1_o1_valid_f32", "n2_i40x50_c1_k1x1_o1_valid_f32"}) {
    compared += ExpectExact(*candidate, TheProblem(text));
  }
  EXPECT_EQ(compared, 2);
}

TEST(JsonLines, KeepEveryBit) {
  const Problem problem = TheProblem("n1_i1x1_c1_k1x1_o1_valid_f32");
  Tensor one(DType::kFloat32, {1, 1, 1, 1});
  one.set_value(0, 1);
  for (const char* mode : {"lines", "lines_bits"}) {
    const auto candidate = Opened(mode).make();
    int compared = 0;
    for (const std::uint32_t bits : {0x00000000u, 0x80000000u, 0x00000001u, 0x007fffffu, 0x3dcccccdu, 0x3effffffu,
                                     0x7f7fffffu, 0x7f800000u, 0xff800000u}) {
      Tensor input(DType::kFloat32, {1, 1, 1, 1});
      input.set_bits(0, bits);
      const Answer answer = candidate->FilterGradient(problem, input, one);
      ASSERT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
      // The child sums from +0, which turns -0 into +0.
      EXPECT_EQ(answer.result.bits(0), bits == 0x80000000u ? 0u : bits) << mode;
      ++compared;
    }
    EXPECT_EQ(compared, 9);
  }
  EXPECT_EQ(AnswerOf("lines_text").result.bits(0), 0x80000000u);
  EXPECT_TRUE(Contains(AnswerOf("lines_null").message, "data[0] must be a number")) << AnswerOf("lines_null").message;
}

TEST(JsonLines, TakeTheIntegersThatJavaScriptPrints) {
  const Problem problem = TheProblem("n1_i1x1_c1_k1x1_o1_valid_f32");
  const auto candidate = Opened("lines_large").make();
  Tensor one(DType::kFloat32, {1, 1, 1, 1});
  const Answer of_zero = candidate->FilterGradient(problem, one, one);
  ASSERT_EQ(of_zero.kind, AnswerKind::kResult) << of_zero.message;
  EXPECT_EQ(of_zero.result.value(0), 0x1p60);
  one.set_value(0, 1);
  const Answer of_one = candidate->FilterGradient(problem, one, one);
  ASSERT_EQ(of_one.kind, AnswerKind::kResult) << of_one.message;
  EXPECT_EQ(of_one.result.value(0), static_cast<double>(1.5e20f));
}

TEST(SharedMemory, CarriesLargeTensorsBothWaysAndGrows) {
  const auto candidate = Opened("shared").make();
  std::int64_t compared = 0;
  for (const char* text : {"n1_i1000x1000_c1_k1x1_o1_valid_f32", "n1_i1200x1000_c1_k1x1_o1_valid_f32"}) {
    compared += ExpectExact(*candidate, TheProblem(text));
  }
  EXPECT_EQ(compared, 2);
}

TEST(SharedMemory, ShowsElementsThatWereNeverWritten) {
  const auto candidate = Opened("shared_forgets").make();
  const Answer answer = Answered(*candidate, TheProblem("n1_i1000x1000_c1_k1x1_o1_valid_f32"));
  ASSERT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
  EXPECT_EQ(answer.result.bits(0), PoisonBits(DType::kFloat32));
}

TEST(SharedMemory, ResultBeyondItsEndIsRefused) {
  const auto candidate = Opened("shared_beyond").make();
  const Answer answer = Answered(*candidate, TheProblem("n1_i1000x1000_c1_k1x1_o1_valid_f32"));
  EXPECT_EQ(answer.kind, AnswerKind::kDied);
  EXPECT_TRUE(Contains(answer.message, "shared_at 1099511627776 is beyond the end")) << answer.message;
}

TEST(Variants, EachIsStartedUnderItsName) {
  setenv("WGRAD_VARIANT", "the user's own", 1);  // means nothing to a child
  const Result<OpenedVariants> all = OpenVariants(Child("variants"), {}, "");
  ASSERT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(all->known, (std::vector<std::string>{"one", "two"}));
  ASSERT_EQ(all->opened.size(), 2u);
  EXPECT_EQ(all->opened[0].greeting.greeting.version, "one");
  EXPECT_EQ(all->opened[1].greeting.greeting.version, "two");
  EXPECT_EQ(OpenVariants(Child("variants"), {}, "two")->opened.size(), 1u);
  EXPECT_TRUE(OpenVariants(Child("variants"), {}, "three")->opened.empty());
  EXPECT_EQ(Opened("variants").greeting.greeting.version, "");
  unsetenv("WGRAD_VARIANT");
}

TEST(OpenedProcess, TheFirstCandidateUsesTheChildThatGreeted) {
  const OpenedProcess opened = Opened("counts_calls");
  const auto first = opened.make();
  const auto second = opened.make();
  EXPECT_EQ(ValueOf(*first), 1);
  EXPECT_EQ(ValueOf(*first), 2);
  EXPECT_EQ(ValueOf(*second), 1);  // a child of its own
  const OpenedProcess numbered = Opened("process_number");
  std::set<double> processes;
  for (const auto& candidate : {numbered.make(), numbered.make(), numbered.make_perturbed(0)}) {
    processes.insert(ValueOf(*candidate));
  }
  EXPECT_EQ(processes.size(), 3u);
}

TEST(OpenedProcess, PerturbsTheMemoryOfAChild) {
  const OpenedProcess opened = Opened("malloc_perturb");
  EXPECT_EQ(ValueOf(*opened.make()), 0);
  EXPECT_EQ(ValueOf(*opened.make_perturbed(128)), 128);
  EXPECT_EQ(ValueOf(*opened.make_perturbed(64)), 64);
}

TEST(ProcessCandidate, RestartsAfterAnErrorWhereItIsAsked) {
  const auto candidate = Opened("restart").make();
  for (int call = 0; call < 3; ++call) {
    const Answer answer = Answered(*candidate, TheProblem("n1_i1x3_c1_k1x1_o1_valid_f32"));
    EXPECT_EQ(answer.kind, AnswerKind::kError);
    EXPECT_EQ(answer.message, "ValueError: call 1");  // each time the first of a fresh child
    EXPECT_EQ(answer.detail, "line 1\nline 2");
  }
}

TEST(ProcessCandidate, GivesUpAfterManyDeathsInARow) {
  const auto candidate = Opened("dies").make();
  const Problem problem = TheProblem("n1_i1x3_c1_k1x1_o1_valid_f32");
  for (int call = 0; call < kMaxDeaths; ++call) {
    ASSERT_EQ(Answered(*candidate, problem).message, "died: SIGSEGV");
  }
  const Answer answer = Answered(*candidate, problem);
  EXPECT_EQ(answer.kind, AnswerKind::kDied);
  EXPECT_EQ(answer.message,
            "died: not started again after 50 deaths in a row without an answer between, the last one: died: SIGSEGV");
}

TEST(ProcessCandidate, SendsWrongArgumentsAsTheyAre) {
  OpArguments arguments;
  arguments.dtype = "i32";
  arguments.out_backprop_dtype = "f64";
  arguments.input_shape = {2, 3};
  arguments.out_backprop_shape = {};
  arguments.filter_sizes = {3, 3};
  arguments.filter_sizes_rank = 2;
  arguments.strides = {1, 0};
  arguments.padding = PaddingPairs{{0, 0}, {1}};
  const Tensor input(DType::kFloat32, {2, 3});
  const Tensor out_backprop(DType::kFloat64, {});
  const auto candidate = Opened("validates").make();
  const Answer answer = candidate->TryArguments(arguments, input, out_backprop);
  EXPECT_EQ(answer.kind, AnswerKind::kRejected) << answer.message;
  EXPECT_EQ(answer.message,
            "InvalidArgument: [{\"filter_sizes\": [[3, 3]], \"strides\": [1, 0], \"padding\": [[0, 0], [1]], "
            "\"explicit_paddings\": [], \"use_cudnn_on_gpu\": true, \"data_format\": \"NHWC\", \"dilations\": "
            "[1, 1, 1, 1]}, [\"i32\", \"f64\"], false]");
  const Answer accepted = Opened("accepts").make()->TryArguments(arguments, input, out_backprop);
  EXPECT_EQ(accepted.kind, AnswerKind::kResult) << accepted.message;
  const auto unable = Opened("correct").make();
  EXPECT_EQ(unable->TryArguments(arguments, input, out_backprop).kind, AnswerKind::kUnsupported);
}

struct Broken {
  const char* mode;
  std::vector<std::string> parts;  // of the message
};

TEST(ProcessCandidate, NamesWhatBrokeTheProtocolWithItsBytes) {
  const Broken rows[] = {
      {"half_frame", {"died: closed its answers in the middle of a frame of which came ", " bytes: ", "\"kind\": "}},
      {"wrong_id", {"died: broken protocol: the answer's id is 8, the request's 1; the header was {\"kind\""}},
      {"wrong_dtype", {"died: broken protocol: filter_backprop is f64[1,1,1,1], due is f32[1,1,1,1]; the header was"}},
      {"flood_answers",
       {"died: broken protocol: the header's length must be 1 to 1048576 bytes, got 1835102323; what came was 4 bytes: "
        "73 70 61 6d \"spam\""}},
  };
  int compared = 0;
  for (const Broken& row : rows) {
    const Answer answer = AnswerOf(row.mode);
    EXPECT_EQ(answer.kind, AnswerKind::kDied) << row.mode;
    for (const std::string& part : row.parts) EXPECT_TRUE(Contains(answer.message, part)) << answer.message;
    ++compared;
  }
  EXPECT_EQ(compared, 4);
}

TEST(ProcessCandidate, EndsSilenceAndFloodsByTime) {
  ProcessLimits limits;
  limits.time = std::chrono::milliseconds(300);
  const Answer half = AnswerOf("half_frame_and_silence", limits);
  EXPECT_TRUE(half.message.starts_with("died: no answer within 300 ms in the middle of a frame of which came 10 bytes"))
      << half.message;
  const Answer flood = AnswerOf("flood_output", limits);
  EXPECT_TRUE(flood.message.starts_with("died: no answer within 300 ms; it last printed \"spamspam")) << flood.message;
  EXPECT_LT(flood.message.size(), 500u);
}

}  // namespace
}  // namespace wgrad::candidates
