// Candidates in processes of their own, as the command line names them; adapters; the matrix.
#include <gtest/gtest.h>

#include "io/json.h"
#include "tests/cli/program.h"

namespace wgrad::test {
namespace {

constexpr const char* kProblem = "n2_i5x4_c3_k3x2_o4_same_f32";

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Finished Check(const std::string& candidate, Words more = {}) {
  more.insert(more.begin(), {"check", candidate});
  return Wgrad(more);
}

TEST(CheckCommand, SaysInASentenceWhyAProgramIsNoCandidate) {
  const Folder folder;
  WriteFile(folder.path() / "text", "no program\n");
  const std::string text = folder.Path("text");
  struct Row {
    std::string candidate, message;
  };
  const Row rows[] = {
      {"cmd:", "cmd: needs a program"},
      {"cmd:/nowhere/at/all x", "cannot start /nowhere/at/all: No such file or directory"},
      {"cmd:" + text, "cannot start " + text + ": Permission denied"},
      {"cmd:a | b", "\"a | b\" is no program with its arguments"},
      {"cmd:/bin/sh -c 'echo no luck; exit 3'", "/bin/sh died: exit 3; it last printed \"no luck\""},
      {"cmd:/bin/sh -c 'exit 0'", "/bin/sh died: exit 0"},
      {"cmd:/bin/sh -c 'printf \"\\040\\0\\0\\0{\\\"kind\\\":\\\"greeting\\\",\\\"protocol\\\":9}\" >&4; sleep 9'",
       "the greeting's field \"protocol\" must be 1, got 9"},
  };
  int compared = 0;
  for (const Row& row : rows) {
    const Finished finished = Check(row.candidate);
    EXPECT_EQ(finished.exit_code, 2) << row.candidate << finished.out;
    EXPECT_TRUE(finished.err.starts_with("wgrad: error: ")) << finished.err;
    EXPECT_TRUE(Contains(finished.err, row.message)) << row.candidate << "\n" << finished.err;
    ++compared;
  }
  EXPECT_EQ(compared, 7);
}

TEST(CheckAdapter, ThatIsNotInstalledIsUnsupportedWithTheLineToType) {
  const Folder cache;
  const Finished finished =
      Wgrad({"check", "tfjs:cpu", "--problem", kProblem}, {"WGRAD_CACHE=" + cache.Path(""), "WGRAD_PROGRAM=./run"});
  EXPECT_EQ(finished.exit_code, 3) << finished.err;
  EXPECT_TRUE(Contains(finished.out, "not installed; to install it: ./run install tfjs")) << finished.out;
  EXPECT_TRUE(Contains(finished.out, "NOTHING COMPARED")) << finished.out;
}

TEST(Install, KnowsItsNames) {
  const Finished finished = Wgrad({"install", "tensorflov"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(Contains(finished.err, "unknown adapter \"tensorflov\"")) << finished.err;
  EXPECT_TRUE(Contains(finished.err, "tensorflow")) << finished.err;
  const Folder cache;
  const Finished python = Wgrad({"python", "--of", "jax", "x.py"}, {"WGRAD_CACHE=" + cache.Path("")});
  EXPECT_EQ(python.exit_code, 2);
  EXPECT_TRUE(Contains(python.err, "jax is not installed; to install it: ")) << python.err;
}

TEST(CheckArguments, FailsWhoAcceptsThemAndReplays) {
  EXPECT_EQ(Check("openblas", {"--suite", "arguments"}).exit_code, 0);
  const Finished finished = Check("mutant:unchecked_V5", {"--suite", "arguments"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_TRUE(Contains(finished.out, "FAIL  arguments/stride_rows_0  a stride of 0 in rows")) << finished.out;
  const std::string mark = "see it again:  ";
  const std::size_t at = finished.out.find(mark);
  ASSERT_NE(at, std::string::npos);
  const std::string line = finished.out.substr(at + mark.size(), finished.out.find('\n', at) - at - mark.size());
  const Finished again = Wgrad(SplitCommand(line));
  EXPECT_EQ(again.exit_code, 1) << line << again.err;
  EXPECT_TRUE(Contains(again.out, "1 case: 0 passed, 1 failed")) << again.out;
}

TEST(CheckOnly, PicksCasesByTheirText) {
  const Finished listed = Check("openblas", {"--only", "*_f64/normal/1", "--list"});
  EXPECT_EQ(listed.exit_code, 0);
  EXPECT_TRUE(Contains(listed.out, "_f64/normal/1\n"));
  EXPECT_FALSE(Contains(listed.out, "f32"));
  const Finished none = Check("openblas", {"--only", "nothing"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(Contains(none.err, "no case matches --only")) << none.err;
}

TEST(CheckCommand, TakesOneVariantByName) {
  const std::string command = std::string(WGRAD_PYTHON) + " " + WGRAD_TEST_CHILD + " variants";
  const Finished one = Check("cmd[two]:" + command, {"--problem", "n1_i1x1_c1_k1x1_o1_valid_f32"});
  EXPECT_EQ(one.exit_code, 1) << one.err;  // it answers 1 to everything
  EXPECT_TRUE(Contains(one.out, "check 'cmd[two]:" + command + "' --problem")) << one.out;
  EXPECT_FALSE(Contains(one.out, "cmd[one]"));
  EXPECT_TRUE(Contains(Check("cmd:" + command, {"--problem", "n1_i1x1_c1_k1x1_o1_valid_f32"}).out, "cmd[one]:"));
  const Finished none = Check("cmd[three]:" + command);
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_TRUE(Contains(none.err, "\"three\"")) << none.err;
}

TEST(Matrix, RefusesUnknownNamesBeforeItRuns) {
  const Finished finished = Wgrad({"matrix", "openblas", "tensorfow"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(Contains(finished.err, "\"tensorfow\"")) << finished.err;
}

TEST(Matrix, ShowsEachCandidateAndLinksItsFindings) {
  const Folder folder;
  const std::string html = folder.Path("matrix.html");
  const Finished finished = Wgrad(
      {"matrix", "openblas", "mutant:dilation_ignored", "jax", "--html", html, "--json", folder.Path("matrix.json")},
      {"WGRAD_CACHE=" + folder.Path("cache")});
  EXPECT_EQ(finished.exit_code, 1) << finished.err;
  for (const char* part : {"openblas", "mutant:dilation_ignored", "pass", "fail", "same bits", "not installed"}) {
    EXPECT_TRUE(Contains(finished.out, part)) << part << "\n" << finished.out;
  }
  const std::string page = ReadFile(html);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_TRUE(Contains(page, "href=\"#c-mutant-dilation-ignored\""));
  EXPECT_TRUE(Contains(page, "id=\"c-mutant-dilation-ignored\""));
  EXPECT_TRUE(Contains(page, "see it again:"));
  EXPECT_FALSE(Contains(page, "http"));  // nothing is fetched
  const auto json = io::Parse(ReadFile(folder.path() / "matrix.json"), {.max_bytes = std::size_t{1} << 28});
  ASSERT_TRUE(json.ok()) << json.error().message;
  EXPECT_EQ((*json->GetArray("/variants"))->size(), 3u);
}

}  // namespace
}  // namespace wgrad::test
