// The JSON report reads back, holds every documented field, and every field it holds is documented.
#include "io/json.h"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>
#include <sstream>

#include "core/case.h"
#include "tests/report/examples.h"

namespace wgrad::report {
namespace {

using io::Json;
using oracle::Outcome;

Json Read(const CheckReport& report) {
  const Result<Json> json = io::Parse(ToJson(report));
  EXPECT_TRUE(json.ok()) << (json.ok() ? "" : json.error().message);
  return json.ok() ? *json : Json();
}

CheckReport MixedReport() {
  return ReportOf("mine", {PassingCase("n2_i5x7_c6_k3x2_o4_same_f32/int_a/1"),
                           FailingCase("n2_i5x7_c6_k3x2_o4_same_f32/normal/18446744073709551615"),
                           OtherCase("n2_i5x7_c6_k3x2_o4_same_f16/wide/1", Outcome::kDied, "killed by signal 11\xff")});
}

TEST(JsonReport, LeadsWithVerdictCountsAndGrade) {
  const Json json = Read(MixedReport());
  EXPECT_EQ(*json.GetInt64("/version"), 1);
  EXPECT_EQ(*json.GetString("/wgrad"), "0.1.0");
  EXPECT_EQ(*json.GetString("/candidate"), "mine");
  EXPECT_EQ(*json.GetString("/verdict"), "fail");
  EXPECT_EQ(*json.GetInt64("/counts/cases"), 3);
  EXPECT_EQ(*json.GetInt64("/counts/passed"), 1);
  EXPECT_EQ(*json.GetInt64("/counts/failed"), 1);
  EXPECT_EQ(*json.GetInt64("/counts/died"), 1);
  EXPECT_EQ(*json.GetInt64("/counts/elements"), 288);
  EXPECT_EQ(*json.GetString("/grade/f32/class"), "fail");
  EXPECT_EQ(*json.GetDouble("/grade/f32/bound_ratio"), 227272.7);
  EXPECT_EQ(*json.GetString("/class/f32/source"), "default");
  EXPECT_EQ(*json.GetString("/policy"), "pad either");
  EXPECT_EQ(*json.GetString("/environment/instruction_sets/1"), "fma");
  EXPECT_EQ(*json.GetString("/environment/libraries/OpenBLAS"), "0.3.21");
  EXPECT_EQ(*json.GetString("/environment/variables/OMP_NUM_THREADS"), "2");
  EXPECT_EQ(*json.GetBool("/interrupted"), false);
  EXPECT_FALSE(json.Has("/variants"));
}

TEST(JsonReport, DescribesAFailureByItsWorstElement) {
  const Json json = Read(MixedReport());
  EXPECT_EQ((*json.GetArray("/failures"))->size(), 2u);
  EXPECT_EQ(*json.GetString("/failures/0/case"), "n2_i5x7_c6_k3x2_o4_same_f32/normal/18446744073709551615");
  EXPECT_EQ(*json.GetUint64("/failures/0/seed"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json.At("/failures/0/element")->Dump(), "[2,0,3,2]");
  EXPECT_EQ(json.At("/failures/0/actual")->Dump(), R"({"bits":"0x3fc00000","decimal":"1.5"})");
  EXPECT_EQ(json.At("/failures/0/exact")->Dump(), R"({"bits":"0x3fa00000","decimal":"1.2500000000000000119"})");
  EXPECT_EQ(*json.GetString("/failures/0/bound"), "1.1e-06");
  EXPECT_EQ(*json.GetInt64("/failures/0/elements_wrong"), 12);
  EXPECT_EQ((*json.GetArray("/failures/0/worst"))->size(), 2u);
  EXPECT_TRUE(json.At("/failures/0/worst/1/bound_ratio")->IsNull());
  EXPECT_NE(json.GetString("/failures/0/replay")->find("--seed 18446744073709551615"), std::string::npos);
}

TEST(JsonReport, HasNoElementForADeath) {
  const Json json = Read(MixedReport());
  EXPECT_EQ(*json.GetString("/failures/1/outcome"), "died");
  EXPECT_EQ(*json.GetString("/failures/1/reason"), "killed by signal 11\xEF\xBF\xBD");
  for (const char* field : {"element", "actual", "exact", "bound", "error", "bound_ratio", "rule"}) {
    EXPECT_TRUE(json.At(std::string("/failures/1/") + field)->IsNull()) << field;
  }
  EXPECT_TRUE(json.At("/cases/2/statistics")->IsNull());
}

TEST(JsonReport, KeepsKnownFailuresOutOfFailures) {
  CheckReport report = MixedReport();
  report.candidates[0].known_cases = {1};
  report.candidates[0].known_passing = {"n1_*"};
  const Json json = Read(report);
  EXPECT_EQ((*json.GetArray("/failures"))->size(), 1u);
  EXPECT_EQ(*json.GetBool("/cases/1/known"), true);
  EXPECT_EQ(*json.GetBool("/cases/2/known"), false);
  EXPECT_EQ(*json.GetString("/known_passing/0"), "n1_*");
}

TEST(JsonReport, TellsVariantsApart) {
  CheckReport report = MixedReport();
  report.candidates.push_back(ReportOf("mine:b", {PassingCase("n2_i5x7_c6_k3x2_o4_same_f64/int_a/1")}).candidates[0]);
  const Json json = Read(report);
  EXPECT_EQ(*json.GetString("/variants/0/verdict"), "fail");
  EXPECT_EQ(*json.GetString("/variants/1/name"), "mine:b");
  EXPECT_EQ(*json.GetString("/variants/1/verdict"), "pass");
  EXPECT_EQ(*json.GetString("/variants/1/grade/f64/class"), "order");
  EXPECT_EQ((*json.GetArray("/variants/0/failures"))->size(), 2u);
  EXPECT_EQ((*json.GetArray("/failures"))->size(), 2u);
  EXPECT_EQ(*json.GetInt64("/counts/cases"), 4);
  EXPECT_EQ((*json.GetArray("/cases"))->size(), 4u);
}

TEST(JsonReport, NeverHoldsAnInfinity) {
  CheckReport report = MixedReport();
  report.candidates[0].grades["f32"].bound_ratio = std::numeric_limits<double>::infinity();
  report.candidates[0].verdicts[1].statistics.bias_z = std::numeric_limits<double>::quiet_NaN();
  const Json json = Read(report);
  EXPECT_TRUE(json.At("/grade/f32/bound_ratio")->IsNull());
  EXPECT_TRUE(json.At("/cases/1/statistics/bias_z")->IsNull());
}

// The names of all fields but those that are data: dtypes, variables, libraries.
void CollectFields(const Json& value, std::set<std::string>& fields) {
  if (value.IsArray()) {
    for (const Json& item : **value.GetArray()) CollectFields(item, fields);
  }
  if (!value.IsObject()) return;
  for (const io::JsonMember& member : **value.GetObject()) {
    if (member.key == "variables" || member.key == "libraries") {
      fields.insert(member.key);
      continue;
    }
    if (!DTypePairFromTag(member.key)) fields.insert(member.key);
    CollectFields(member.value, fields);
  }
}

TEST(JsonReport, IsDocumentedFieldByField) {
  std::ifstream file(WGRAD_TEST_DATA "/../../docs/json-report.md");
  std::ostringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  CheckReport report = MixedReport();
  report.candidates.push_back(report.candidates[0]);
  std::set<std::string> fields;
  CollectFields(Read(report), fields);
  for (const std::string& field : fields) {
    EXPECT_NE(text.str().find("`" + field + "`"), std::string::npos) << field << " is not in docs/json-report.md";
  }
  EXPECT_GT(fields.size(), 80u);
}

}  // namespace
}  // namespace wgrad::report
