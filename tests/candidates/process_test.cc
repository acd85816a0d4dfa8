#include "candidates/process/process.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "candidates/process/process_candidate.h"
#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

Command Shell(const std::string& script) { return {{"/bin/sh", "-c", script}}; }

std::string OpenError(const std::string& script, std::chrono::milliseconds start_time = std::chrono::seconds(30)) {
  ProcessLimits limits;
  limits.start_time = start_time;
  const auto greeting = OpenProcess(Shell(script), limits);
  return greeting.ok() ? "no error" : greeting.error().message;
}

TEST(Process, ThatDoesNotExistIsSaid) {
  const auto greeting = OpenProcess({{"/nowhere/at/all"}}, {});
  ASSERT_FALSE(greeting.ok());
  EXPECT_EQ(greeting.error().message, "cannot start /nowhere/at/all: No such file or directory");
}

TEST(Process, SaysHowItEndedBeforeItsGreeting) {
  EXPECT_EQ(OpenError("exit 5"), "died: exit 5");
  EXPECT_EQ(OpenError("echo no luck; echo at all >&2; exit 1"), "died: exit 1; it last printed \"no luck|at all\"");
  EXPECT_EQ(OpenError("kill -9 $$"), "died: SIGKILL");
  EXPECT_EQ(OpenError("kill -BUS $$"), "died: SIGBUS");
  EXPECT_EQ(OpenError("printf '\\100\\0\\0\\0{' >&4"),
            "died: exit 0 in the middle of a frame of which came 5 bytes: 40 00 00 00 7b \"@...{\"");
  EXPECT_EQ(OpenError("exec sleep 60", std::chrono::milliseconds(50)), "died: no greeting within 50 ms");
  EXPECT_EQ(OpenError("echo banner >&4; exec sleep 60"),
            "died: broken protocol: the header's length must be 1 to 1048576 bytes, got 1852727650; what came "
            "was 4 bytes: 62 61 6e 6e \"bann\"");
  EXPECT_EQ(OpenError("printf '\\2\\0\\0\\0{}' >&4; exec sleep 60"),
            "died: broken protocol: the first frame must be a greeting, got {}");
}

TEST(Process, IsSeenToEndThoughAChildOfItsHoldsTheAnswersOpen) {
  EXPECT_EQ(OpenError("sleep 60 & exit 4"), "died: exit 4");
}

TEST(Process, IsNotStartedForEver) {
  ProcessCandidate candidate(Shell("exit 6"), {}, ProcessGreeting(), SharedFile::Create().value());
  const Problem problem = TheProblem("n1_i1x1_c1_k1x1_o1_valid_f32");
  for (int call = 0; call < kMaxFailedStarts; ++call) {
    const Answer answer = Answered(candidate, problem);
    EXPECT_EQ(answer.kind, AnswerKind::kDied);
    EXPECT_EQ(answer.message, "died: exit 6");
  }
  const Answer answer = Answered(candidate, problem);
  EXPECT_EQ(answer.kind, AnswerKind::kDied);
  EXPECT_EQ(answer.message, "died: not started again after 3 deaths in a row at its start, the last one: died: exit 6");
}

// The greeting and the answers of a script that reads nothing.
TEST(Process, MayNotAnswerBeforeItHasReadTheRequest) {
  ProcessCandidate candidate(
      Shell("printf '\\40\\0\\0\\0{\"kind\":\"greeting\",\"protocol\":1}' >&4; printf '\\2\\0\\0\\0{}' >&4; sleep 60"),
      {}, ProcessGreeting(), SharedFile::Create().value());
  const Answer answer = Answered(candidate, TheProblem("n8_i256x256_c1_k1x1_o1_valid_f32"));
  EXPECT_EQ(answer.kind, AnswerKind::kDied);
  EXPECT_EQ(answer.message, "died: broken protocol: it answered before it had read the whole request");
}

}  // namespace
}  // namespace wgrad::candidates
