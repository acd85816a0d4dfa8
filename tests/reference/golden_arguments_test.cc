// Validate against TensorFlow's answers to 96 wrong, degenerate and unusual sets of arguments.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/problem.h"
#include "reference/filter_gradient.h"
#include "tests/support/golden.h"

namespace wgrad {
namespace {

std::vector<GoldenCall> Calls() {
  auto calls = ReadGoldenCalls(WGRAD_TEST_DATA "/tensorflow/arguments.jsonl");
  EXPECT_TRUE(calls.ok()) << calls.error().message;
  return calls.ok() ? std::move(calls).value() : std::vector<GoldenCall>();
}

bool AnyRoute(const GoldenCall& call, AnswerKind kind) {
  return std::ranges::any_of(call.results, [&](const auto& entry) { return entry.second.kind == kind; });
}

bool AllRoutes(const GoldenCall& call, AnswerKind kind) {
  return std::ranges::all_of(call.results, [&](const auto& entry) { return entry.second.kind == kind; });
}

using Ids = std::set<std::string>;

TEST(GoldenArguments, ValidateSortsThemAsRecorded) {
  Ids valid, refused_by_all, accepted_by_some, deadly, beyond;
  for (const GoldenCall& call : Calls()) {
    if (!call.beyond_arguments.empty()) {
      beyond.insert(call.id);
      EXPECT_TRUE(AllRoutes(call, AnswerKind::kRejected)) << call.id;
    } else if (Validate(call.arguments).ok()) {
      valid.insert(call.id);
    } else if (AnyRoute(call, AnswerKind::kDied)) {
      deadly.insert(call.id);
    } else if (AnyRoute(call, AnswerKind::kResult)) {
      accepted_by_some.insert(call.id);
    } else {
      refused_by_all.insert(call.id);
    }
  }
  EXPECT_EQ(valid.size(), 18u);
  EXPECT_EQ(accepted_by_some.size(), 13u);
  EXPECT_EQ(deadly.size(), 8u);
  // TensorFlow refused 56 of its op's calls on every route; 7 of them have types that only Python lets through.
  EXPECT_EQ(refused_by_all.size(), 49u);
  EXPECT_EQ(beyond,
            (Ids{"arguments-raw-v2", "arguments-filter_sizes-int64-tensor", "arguments-filter_sizes-float-tensor",
                 "arguments-filter_sizes-int16-tensor", "arguments-wrapper-flat-list", "arguments-wrapper-strides-int",
                 "arguments-wrapper-dilations-int", "arguments-wrapper-padding-none"}));
}

TEST(GoldenArguments, NothingThatAllRoutesComputeIsRefused) {
  int computed_by_all = 0;
  for (const GoldenCall& call : Calls()) {
    if (!AllRoutes(call, AnswerKind::kResult)) continue;
    const auto problem = Validate(call.arguments);
    EXPECT_TRUE(problem.ok()) << call.id << ": " << problem.error().message;
    ++computed_by_all;
  }
  EXPECT_EQ(computed_by_all, 9);
}

// The default kernel leaves memory as it was where an output size is 0, so that only the other routes count there.
TEST(GoldenArguments, ValidCallsHaveTheRecordedResults) {
  int compared = 0;
  for (const GoldenCall& call : Calls()) {
    if (!call.beyond_arguments.empty()) continue;
    const auto problem = Validate(call.arguments);
    if (!problem.ok()) continue;
    const Tensor exact = reference::RoundedFilterGradient(*problem, call.input, call.out_backprop);
    const bool cpu_writes = problem->batch() == 0 || problem->positions() > 0;
    for (const auto& [route, answer] : call.results) {
      if (answer.kind != AnswerKind::kResult || (!cpu_writes && route.starts_with("cpu"))) continue;
      EXPECT_EQ(answer.result.shape(), exact.shape()) << call.id << " " << route;
      EXPECT_TRUE(std::ranges::equal(answer.result.bytes(), exact.bytes())) << call.id << " " << route;
      ++compared;
    }
  }
  // 9 calls on 5 routes; dilation, NCHW and groups on 3; output size 0 on onednn and onednn-graph, 6 times.
  EXPECT_EQ(compared, 9 * 5 + 3 * 3 + 6 * 2);
}

TEST(GoldenArguments, EveryFileReads) {
  const struct {
    const char* name;
    std::size_t calls;
  } kFiles[] = {{"exact", 1500}, {"numeric", 125}, {"special", 88}, {"arguments", 96}};
  for (const auto& file : kFiles) {
    const auto calls = ReadGoldenCalls(std::string(WGRAD_TEST_DATA "/tensorflow/") + file.name + ".jsonl");
    ASSERT_TRUE(calls.ok()) << calls.error().message;
    EXPECT_EQ(calls->size(), file.calls);
  }
  EXPECT_EQ(ReadGoldenCalls(WGRAD_TEST_DATA "/tensorflow/absent.jsonl").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(ReadGoldenCalls(WGRAD_TEST_DATA "/tensorflow/README.md").error().code, ErrorCode::kBadFile);
}

}  // namespace
}  // namespace wgrad
