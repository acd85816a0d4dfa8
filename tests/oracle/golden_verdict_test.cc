// The verdict on what a real TensorFlow answered (tests/data/tensorflow/README.md): each route under the class that its
// accumulator deserves.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "oracle/examine.h"
#include "tests/support/golden.h"

namespace wgrad::oracle {
namespace {

std::vector<GoldenCall> Calls(const std::string& file) {
  return ReadGoldenCalls(std::string(WGRAD_TEST_DATA) + "/tensorflow/" + file).value();
}

bool IsNarrow(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

// The default CPU kernel sums in the working type; XLA in float32 for narrow types, and so does oneDNN for bfloat16,
// but it hands half and every explicit padding to the default kernel.
std::string DeservedClass(const std::string& route, const Problem& problem) {
  if (!IsNarrow(problem.dtype())) return "order";
  const bool onednn_takes_it = problem.dtype() == DType::kBFloat16 && problem.padding() != Padding::kExplicit;
  if (route == "xla" || (route == "onednn" && onednn_takes_it)) return "wide";
  return "order:" + std::string(NameOf(problem.dtype()));
}

CaseVerdict Judge(const GoldenCall& call, const Tensor& actual, const std::string& class_text, const Policy& policy) {
  const Problem problem = Validate(call.arguments).value();
  Judging judging;
  judging.accuracy_class = ParseClass(class_text).value();
  judging.policy = policy;
  return JudgeResult(problem, call.input, call.out_backprop, actual, judging);
}

TEST(GoldenNumeric, EveryRouteIsInsideItsClassAndNoCloserThanRecorded) {
  std::map<std::string, double> largest;
  int judged = 0;
  for (const GoldenCall& call : Calls("numeric.jsonl")) {
    for (const auto& [route, answer] : call.results) {
      if (answer.kind != AnswerKind::kResult) continue;
      const Problem problem = Validate(call.arguments).value();
      const std::string class_text = DeservedClass(route, problem);
      const CaseVerdict verdict = Judge(call, answer.result, class_text, Policy{});
      EXPECT_EQ(verdict.wrong_elements, 0) << call.id << " " << route << " " << class_text << ": " << verdict.reason;
      double& ratio = largest[route + " " + DTypeTag(problem) + " " + class_text];
      ratio = std::max(ratio, verdict.statistics.max_bound_ratio);
      ++judged;
    }
  }
  EXPECT_GT(judged, 250);
  const std::map<std::string, int> expected_in_thousandths = {
      {"cpu f32 order", 439},        {"cpu f64 order", 129},    {"cpu f16 order:f16", 764},
      {"cpu bf16 order:bf16", 813},  {"onednn f32 order", 439}, {"onednn f64 order", 129},
      {"onednn f16 order:f16", 764}, {"onednn bf16 wide", 0},   {"onednn bf16 order:bf16", 813},
      {"xla f32 order", 439},        {"xla f64 order", 329},    {"xla f16 wide", 0},
      {"xla bf16 wide", 0}};
  for (const auto& [name, thousandths] : expected_in_thousandths) {
    ASSERT_TRUE(largest.contains(name)) << name;
    if (name == "onednn bf16 order:bf16") {
      EXPECT_LE(std::lround(largest[name] * 1000), thousandths) << name;
    } else {
      EXPECT_EQ(std::lround(largest[name] * 1000), thousandths) << name << " " << largest[name];
    }
  }
  EXPECT_EQ(largest.size(), expected_in_thousandths.size());
}

TEST(GoldenNumeric, NarrowAccumulatorsAreRejectedUnderWide) {
  std::map<std::string, std::pair<int, int>> rejected;  // of how many
  for (const GoldenCall& call : Calls("numeric.jsonl")) {
    const Problem problem = Validate(call.arguments).value();
    if (!IsNarrow(problem.dtype())) continue;
    for (const char* const route : {"cpu", "onednn"}) {
      const auto found = call.results.find(route);
      if (found == call.results.end() || found->second.kind != AnswerKind::kResult) continue;
      const bool wrong = Judge(call, found->second.result, "wide", Policy{}).wrong_elements > 0;
      auto& [count, total] = rejected[std::string(route) + " " + DTypeTag(problem)];
      count += wrong ? 1 : 0;
      ++total;
    }
  }
  EXPECT_EQ(rejected["cpu f16"], std::pair(17, 18));
  EXPECT_EQ(rejected["cpu bf16"], std::pair(16, 16));
  EXPECT_EQ(rejected["onednn bf16"].first, 2);
}

TEST(GoldenSpecial, OnlyOneResultIsRejected) {
  Policy policy;
  policy.ftz = policy.daz = true;
  std::map<std::string, int> accepted;
  std::vector<std::string> wrong;
  int wrong_without_flushing = 0;
  for (const GoldenCall& call : Calls("special.jsonl")) {
    const Problem problem = Validate(call.arguments).value();
    for (const auto& [route, answer] : call.results) {
      if (answer.kind != AnswerKind::kResult) continue;
      const std::string class_text = DeservedClass(route, problem);
      const CaseVerdict verdict = Judge(call, answer.result, class_text, policy);
      if (verdict.wrong_elements == 0) {
        ++accepted[route];
      } else {
        wrong.push_back(route + " " + call.id + " " + std::to_string(verdict.wrong_elements));
        if (wrong.size() == 1) {
          ASSERT_EQ(verdict.worst.size(), 2u);
          for (const ElementFinding& finding : verdict.worst) {
            EXPECT_EQ(finding.actual_decimal, "nan");
            EXPECT_EQ(finding.exact_decimal, "1");
          }
        }
      }
      const bool flushes_matter =
          !IsNarrow(problem.dtype()) && Judge(call, answer.result, class_text, Policy{}).wrong_elements > 0;
      wrong_without_flushing += flushes_matter ? 1 : 0;
    }
  }
  EXPECT_EQ(wrong, std::vector<std::string>{"onednn special-nan-in-unread-column-bf16 2"});
  EXPECT_EQ(accepted["cpu"], 88);
  EXPECT_EQ(accepted["xla"], 88);
  EXPECT_EQ(accepted["onednn"], 87);
  EXPECT_EQ(wrong_without_flushing, 18);
}

}  // namespace
}  // namespace wgrad::oracle
