// Guarded calls: each way of misusing memory shows, and honest kernels pass.
#include "core/guarded_call.h"

#include <gtest/gtest.h>

#include <cstring>

namespace wgrad {
namespace {

constexpr std::size_t kZoneBytes = 4096;

class Guarded : public testing::TestWithParam<const char*> {
 protected:
  Problem problem_ = ParseProblem(std::string("n1_i4x3_c2_k3x2_o5_valid_") + GetParam()).value();
  Tensor input_{problem_.dtype(), problem_.input_shape()};
  Tensor out_backprop_{problem_.dtype(), problem_.out_backprop_shape()};
  std::size_t size_ = SizeOf(problem_.result_dtype());
  std::size_t result_bytes_ = static_cast<std::size_t>(problem_.filter_count()) * size_;

  void SetUp() override {
    for (std::int64_t index = 0; index < input_.element_count(); ++index)
      input_.set_value(index, static_cast<double>(index));
    for (std::int64_t index = 0; index < out_backprop_.element_count(); ++index) {
      out_backprop_.set_value(index, static_cast<double>(-index));
    }
  }

  Answer Run(const RawKernel& kernel, ResultLayout layout = ResultLayout::kHwio) {
    return RunGuarded(problem_, input_, out_backprop_, layout, kernel);
  }
};

std::byte* Bytes(const void* buffer) { return static_cast<std::byte*>(const_cast<void*>(buffer)); }

// Flips a bit, so that the byte is certain to change.
void Spoil(std::byte* byte) { *byte ^= std::byte{0x40}; }

TEST_P(Guarded, HandsOverInputsAndTakesTheResult) {
  const Answer answer = Run([&](const Problem& problem, const void* input, const void* out_backprop, void* result) {
    EXPECT_EQ(problem, problem_);
    EXPECT_EQ(std::memcmp(input, input_.data(), input_.byte_count()), 0);
    EXPECT_EQ(std::memcmp(out_backprop, out_backprop_.data(), out_backprop_.byte_count()), 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(input) % 64, 0u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(result) % 64, 0u);
    for (std::size_t byte = 0; byte < result_bytes_; ++byte) Bytes(result)[byte] = static_cast<std::byte>(byte);
    return KernelStatus{};
  });
  ASSERT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
  ASSERT_EQ(answer.result.shape(), problem_.filter_sizes());
  EXPECT_EQ(answer.result.dtype(), problem_.result_dtype());
  for (std::size_t byte = 0; byte < result_bytes_; ++byte) {
    ASSERT_EQ(answer.result.bytes()[byte], static_cast<std::byte>(byte));
  }
}

TEST_P(Guarded, LeavesPoisonInElementsThatWereNotWritten) {
  const std::int64_t written = 7;
  const Answer answer = Run([&](const Problem&, const void*, const void*, void* result) {
    std::memset(Bytes(result) + 7 * size_, 0, size_);
    return KernelStatus{};
  });
  ASSERT_EQ(answer.kind, AnswerKind::kResult);
  for (std::int64_t index = 0; index < problem_.filter_count(); ++index) {
    EXPECT_EQ(answer.result.bits(index), index == written ? 0 : PoisonBits(problem_.result_dtype()));
  }
}

TEST_P(Guarded, SurroundsInputsWithNaN) {
  int seen = 0;
  Run([&](const Problem&, const void* input, const void* out_backprop, void*) {
    for (const auto& [buffer, tensor] : {std::pair(input, &input_), std::pair(out_backprop, &out_backprop_)}) {
      const std::size_t size = SizeOf(tensor->dtype());
      for (const std::byte* element :
           {Bytes(buffer) - kZoneBytes, Bytes(buffer) - size, Bytes(buffer) + tensor->byte_count(),
            Bytes(buffer) + tensor->byte_count() + kZoneBytes - size}) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, element, size);
        EXPECT_EQ(bits, PoisonBits(tensor->dtype()));
        ++seen;
      }
    }
    return KernelStatus{};
  });
  EXPECT_EQ(seen, 8);
}

struct Misuse {
  enum class Buffer { kInput, kOutBackprop, kResult } buffer;
  bool past_end;
  std::size_t distance;  // bytes before the start (from 1), or past the end (from 0)
  const char* message;
};

TEST_P(Guarded, CatchesEveryWriteOutsideTheBuffers) {
  using Buffer = Misuse::Buffer;
  const Misuse table[] = {
      {Buffer::kResult, true, 0, "wrote past the end of filter_backprop"},
      {Buffer::kResult, true, kZoneBytes - 1, "wrote past the end of filter_backprop"},
      {Buffer::kResult, false, 1, "wrote before the start of filter_backprop"},
      {Buffer::kResult, false, kZoneBytes, "wrote before the start of filter_backprop"},
      {Buffer::kInput, true, 0, "wrote past the end of input"},
      {Buffer::kInput, false, 1, "wrote before the start of input"},
      {Buffer::kOutBackprop, true, kZoneBytes - 1, "wrote past the end of out_backprop"},
      {Buffer::kOutBackprop, false, kZoneBytes, "wrote before the start of out_backprop"},
  };
  for (const Misuse& misuse : table) {
    const Answer answer = Run([&](const Problem&, const void* input, const void* out_backprop, void* result) {
      std::byte* const begins[] = {Bytes(input), Bytes(out_backprop), Bytes(result)};
      const std::size_t sizes[] = {input_.byte_count(), out_backprop_.byte_count(), result_bytes_};
      const auto at = static_cast<std::size_t>(misuse.buffer);
      Spoil(misuse.past_end ? begins[at] + sizes[at] + misuse.distance : begins[at] - misuse.distance);
      return KernelStatus{};
    });
    EXPECT_EQ(answer.kind, AnswerKind::kError);
    EXPECT_EQ(answer.message, misuse.message);
  }
}

TEST_P(Guarded, CatchesAnyChangedInputByte) {
  for (std::size_t byte = 0; byte < input_.byte_count(); ++byte) {
    const Answer answer = Run([&](const Problem&, const void* input, const void*, void*) {
      Spoil(Bytes(input) + byte);
      return KernelStatus{};
    });
    ASSERT_EQ(answer.message, "changed its input input");
  }
  for (std::size_t byte = 0; byte < out_backprop_.byte_count(); ++byte) {
    const Answer answer = Run([&](const Problem&, const void*, const void* out_backprop, void*) {
      Spoil(Bytes(out_backprop) + byte);
      return KernelStatus{};
    });
    ASSERT_EQ(answer.message, "changed its input out_backprop");
  }
}

TEST_P(Guarded, PassesOtherAnswersOnUnlessMemoryWasMisused) {
  for (const AnswerKind kind : {AnswerKind::kUnsupported, AnswerKind::kRejected, AnswerKind::kError}) {
    const Answer answer = Run([&](const Problem&, const void*, const void*, void*) {
      return KernelStatus{kind, "its own words"};
    });
    EXPECT_EQ(answer.kind, kind);
    EXPECT_EQ(answer.message, "its own words");
  }
  const Answer answer = Run([&](const Problem&, const void*, const void*, void* result) {
    Spoil(Bytes(result) + result_bytes_);
    return KernelStatus{AnswerKind::kUnsupported, "its own words"};
  });
  EXPECT_EQ(answer.kind, AnswerKind::kError);
}

TEST_P(Guarded, BringsOtherLayoutsIntoHwio) {
  const auto candidate = MakeInProcessCandidate(
      {.name = "layout"},
      [&](const Problem&, const void*, const void*, void* result) {
        std::memset(result, 0, result_bytes_);
        std::memset(Bytes(result) + size_, 0x40, size_);  // OIHW element 1: oc 0, ic 0, kh 0, kw 1
        return KernelStatus{};
      },
      ResultLayout::kOihw);
  const Answer answer = candidate->FilterGradient(problem_, input_, out_backprop_);
  EXPECT_EQ(candidate->greeting().name, "layout");
  for (std::int64_t index = 0; index < problem_.filter_count(); ++index) {
    EXPECT_EQ(answer.result.bits(index) != 0, index == problem_.FilterOffset(0, 1, 0, 0)) << index;
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, Guarded, testing::Values("f16", "bf16", "f32", "f64", "bf16_f32"),
                         [](const auto& param) { return std::string(param.param); });

TEST(RunGuarded, GivesAnEmptyResultForAnEmptyFilterAndStillGuards) {
  const Problem problem = ParseProblem("n0_i4x4_c1_k2x2_o0_same_f32").value();
  const Tensor input(problem.dtype(), problem.input_shape());
  const Tensor out_backprop(problem.dtype(), problem.out_backprop_shape());
  const auto run = [&](const RawKernel& kernel) {
    return RunGuarded(problem, input, out_backprop, ResultLayout::kOihw, kernel);
  };
  const Answer answer = run([](const Problem&, const void*, const void*, void*) { return KernelStatus{}; });
  EXPECT_EQ(answer.kind, AnswerKind::kResult);
  EXPECT_EQ(answer.result.shape(), problem.filter_sizes());
  const Answer overrun = run([](const Problem&, const void*, const void*, void* result) {
    std::memset(result, 0, 1);
    return KernelStatus{};
  });
  EXPECT_EQ(overrun.message, "wrote past the end of filter_backprop");
}

}  // namespace
}  // namespace wgrad
