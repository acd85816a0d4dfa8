// The embedded suites: every line a canonical problem, none twice, and as many as the project says.
#include "suites/suites.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "core/case.h"

namespace wgrad::suites {
namespace {

std::vector<std::string> LinesOf(const Suite& suite) {
  std::vector<std::string> lines;
  const std::string text(suite.text);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    if (!line.empty() && line.front() != '#') lines.push_back(line);
    at = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

TEST(Suites, AreFiveInTheirOrder) {
  std::vector<std::string> names;
  for (const Suite& suite : Suites()) {
    names.emplace_back(suite.name);
    EXPECT_FALSE(suite.description.empty());
    EXPECT_EQ(suite.text.substr(2, suite.description.size()), suite.description);
    EXPECT_EQ(suite.text.back(), '\n');
  }
  EXPECT_EQ(names, (std::vector<std::string>{"smoke", "tf", "resnet50", "traps", "arguments"}));
}

TEST(Suites, HoldCanonicalProblemsEachOnce) {
  const std::size_t counts[] = {29, 61, 23, 133};
  for (std::size_t i = 0; i < std::size(counts); ++i) {
    const Suite& suite = Suites()[i];
    const Result<std::vector<Problem>> problems = SuiteProblems(suite);
    ASSERT_TRUE(problems.ok()) << problems.error().message;
    const std::vector<std::string> lines = LinesOf(suite);
    ASSERT_EQ(problems->size(), lines.size());
    EXPECT_EQ(problems->size(), counts[i]) << suite.name;
    for (std::size_t line = 0; line < lines.size(); ++line) EXPECT_EQ(Format((*problems)[line]), lines[line]);
    EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), lines.size()) << suite.name;
  }
}

TEST(Suites, SmokeHasEveryDTypeLayoutAndPadding) {
  std::set<std::string> tags;
  std::set<Padding> paddings;
  std::set<DataFormat> formats;
  bool groups = false, dilation = false, stride = false, no_batch = false, no_output = false, no_filter = false;
  const std::vector<Problem> problems = SuiteProblems("smoke").value();
  for (const Problem& problem : problems) {
    tags.insert(DTypeTag(problem));
    paddings.insert(problem.padding());
    formats.insert(problem.data_format());
    groups = groups || problem.groups() > 1;
    dilation = dilation || problem.rows().dilation > 1;
    stride = stride || problem.rows().stride != problem.columns().stride;
    no_batch = no_batch || problem.batch() == 0;
    no_output = no_output || problem.rows().output == 0;
    no_filter = no_filter || problem.filter_count() == 0;
  }
  EXPECT_EQ(tags.size(), 6u);
  EXPECT_EQ(paddings.size(), 3u);
  EXPECT_EQ(formats.size(), 2u);
  EXPECT_TRUE(groups && dilation && stride && no_batch && no_output && no_filter);
}

TEST(Suites, Resnet50AddsUpToTheNetwork) {
  // How often each layer of the suite occurs in the network, in the suite's order.
  const std::int64_t repeats[] = {1, 1, 3, 4, 2, 1, 1, 4, 1, 3, 3, 1, 1, 6, 1, 5, 5, 1, 1, 3, 1, 2, 2};
  const std::vector<Problem> layers = SuiteProblems("resnet50").value();
  ASSERT_EQ(layers.size(), std::size(repeats));
  std::int64_t convolutions = 0, weights = 0, multiply_adds = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    convolutions += repeats[i];
    weights += repeats[i] * layers[i].filter_count();
    multiply_adds += repeats[i] * layers[i].multiply_adds();
  }
  EXPECT_EQ(convolutions, 53);
  EXPECT_EQ(weights, 23'454'912);
  EXPECT_EQ(multiply_adds / 10'000'000, 408);  // 4.09 GMAC with the final matrix product
}

TEST(SuiteProblems, NamesTheLineOfABadProblem) {
  const Suite bad{"mine", "", "# mine\n\nn2_i6x5_c3_k3x3_o4_same_f32\nn2_i6x5_c3_k3x3_o4_some_f32\n"};
  const Result<std::vector<Problem>> problems = SuiteProblems(bad);
  ASSERT_FALSE(problems.ok());
  EXPECT_EQ(problems.error().code, ErrorCode::kBadText);
  EXPECT_EQ(problems.error().message.rfind("suite mine, line 4: ", 0), 0u) << problems.error().message;
}

TEST(SuiteProblems, ReadsALastLineWithoutItsEnd) {
  EXPECT_EQ(SuiteProblems(Suite{"mine", "", "n2_i6x5_c3_k3x3_o4_same_f32"})->size(), 1u);
}

TEST(SuiteProblems, KnowsNoSuiteOfAnotherName) {
  ASSERT_FALSE(SuiteProblems("smokes").ok());
  EXPECT_EQ(SuiteProblems("smokes").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace wgrad::suites
