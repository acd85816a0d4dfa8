// `wgrad check`: what is run, in which order, and what is said about it.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "io/json.h"
#include "tests/cli/program.h"

namespace wgrad::test {
namespace {

constexpr const char* kProblem = "n2_i5x4_c3_k3x2_o4_same_f32";
constexpr const char* kDilated = "n2_i9x8_c3_k3x4_o5_d2x1_same_f32";
constexpr const char* kMutant = "mutant:" WGRAD_DILATION_MUTANT;

Words Lines(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

io::Json CheckToJson(Words arguments, int exit_code) {
  const Folder folder;
  arguments.insert(arguments.begin(), "check");
  arguments.insert(arguments.end(), {"--json", folder.Path("report.json")});
  const Finished finished = Wgrad(arguments);
  EXPECT_EQ(finished.exit_code, exit_code) << finished.out << finished.err;
  Result<io::Json> json = io::Parse(ReadFile(folder.path() / "report.json"));
  EXPECT_TRUE(json.ok()) << (json.ok() ? "" : json.error().message);
  // The report and nothing else: no file under another name is left.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  return json.ok() ? *json : io::Json();
}

std::int64_t Count(const io::Json& report, const std::string& name) {
  const Result<std::int64_t> count = report.GetInt64("/counts/" + name);
  EXPECT_TRUE(count.ok()) << name;
  return count.ok() ? *count : -1;
}

TEST(CheckList, PrintsTheCasesAndRunsNothing) {
  const Finished finished =
      Wgrad({"check", "openblas", "--problem", kProblem, "--filling", "normal,int_a", "--seed", "7", "--list"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out, std::string(kProblem) + "/normal/7\n" + kProblem + "/int_a/7\n");
}

TEST(CheckList, DropsDuplicatesInOneDType) {
  const Finished finished =
      Wgrad({"check", "openblas", "--problem", kProblem, "--problem", kDilated, "--problem",
             "n2_i5x4_c3_k3x2_o4_same_f64", "--dtype", "bf16", "--batch", "3", "--filling", "int_a", "--list"});
  EXPECT_EQ(finished.out, "n6_i5x4_c3_k3x2_o4_same_bf16/int_a/1\nn6_i9x8_c3_k3x4_o5_d2x1_same_bf16/int_a/1\n");
}

TEST(CheckList, RunsSmokeByDefaultAndSuitesByName) {
  const Finished smoke = Wgrad({"check", "openblas", "--list"});
  EXPECT_EQ(smoke.out, Wgrad({"check", "openblas", "--suite", "smoke", "--list"}).out);
  const Finished both = Wgrad({"check", "openblas", "--suite", "smoke,traps", "--list"});
  EXPECT_GT(Lines(smoke.out).size(), 10u);
  EXPECT_GT(Lines(both.out).size(), Lines(smoke.out).size());
  EXPECT_EQ(both.out.compare(0, smoke.out.size(), smoke.out), 0);
}

TEST(Check, WritesAJsonReportWithTheRequiredFields) {
  const io::Json report = CheckToJson({"openblas", "--problem", kProblem, "--seed", "3"}, 0);
  EXPECT_EQ(report.GetString("/verdict").ok() ? *report.GetString("/verdict") : "", "pass");
  EXPECT_GT(Count(report, "passed"), 5);
  EXPECT_EQ(Count(report, "passed"), Count(report, "cases"));
  EXPECT_EQ(Count(report, "failed"), 0);
  EXPECT_TRUE(report.Has("/grade/f32/class"));
  EXPECT_TRUE(report.Has("/seed"));
}

TEST(Check, GivesTheSameReportForAnyNumberOfJobs) {
  auto verdict_lines = [](const char* jobs) {
    const Folder folder;
    const Finished finished =
        Wgrad({"check", kMutant, "--suite", "smoke", "--jobs", jobs, "--junit", folder.Path("report.xml")});
    EXPECT_EQ(finished.exit_code, 1) << finished.err;
    Words names;
    for (const std::string& line : Lines(ReadFile(folder.path() / "report.xml"))) {
      const std::size_t at = line.find("name=\"n");
      if (at != std::string::npos) names.push_back(line.substr(at, line.find('"', at + 6) - at));
    }
    return names;
  };
  const Words alone = verdict_lines("1");
  EXPECT_EQ(alone, verdict_lines("4"));
  EXPECT_GT(alone.size(), 10u);
}

TEST(Check, ReplaysAFailureFromItsOwnLine) {
  const Finished first = Wgrad({"check", kMutant, "--problem", kDilated, "--seed", "5"});
  ASSERT_EQ(first.exit_code, 1) << first.out;
  const std::size_t at = first.out.find("wgrad check mutant:");
  ASSERT_NE(at, std::string::npos) << first.out;
  const Finished again = Wgrad(SplitCommand(first.out.substr(at, first.out.find('\n', at) - at)));
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
  EXPECT_NE(again.out.find(kDilated), std::string::npos) << again.out;
}

TEST(Check, NamesTheElementReadByACodedRunAfterAFailure) {
  const io::Json report = CheckToJson({kMutant, "--problem", kDilated, "--filling", "normal"}, 1);
  EXPECT_EQ(Count(report, "cases"), 2);  // normal, and coded
}

TEST(CheckFailFast, EndsAtTheFirstFailureInTheOrderOfTheSuite) {
  // The first problem has no dilation to ignore; the second and third have.
  const Words arguments = {kMutant,
                           "--problem",
                           kProblem,
                           "--problem",
                           kDilated,
                           "--problem",
                           "n1_i9x9_c2_k3x3_o2_d2x2_valid_f32",
                           "--filling",
                           "int_a,normal",
                           "--fail-fast"};
  for (const char* jobs : {"1", "3"}) {
    Words with_jobs = arguments;
    with_jobs.insert(with_jobs.end(), {"--jobs", jobs});
    const io::Json report = CheckToJson(with_jobs, 1);
    EXPECT_EQ(Count(report, "failed"), 1);
    EXPECT_EQ(Count(report, "passed"), 2);
  }
}

TEST(CheckKnown, TurnsExpectedFailuresIntoKnownOnes) {
  const Folder folder;
  WriteFile(folder.path() / "known", "# dilation is not done yet\n*_d2x1_*/*/1  # all fillings\n\n");
  const io::Json report =
      CheckToJson({kMutant, "--problem", kDilated, "--filling", "int_a,normal", "--known", folder.Path("known")}, 0);
  EXPECT_EQ(Count(report, "failed"), 0);
  EXPECT_EQ(Count(report, "known"), 3);  // int_a, normal, and coded
}

TEST(CheckKnown, StillFailsOnWhatNoPatternCovers) {
  const Folder folder;
  WriteFile(folder.path() / "known", "*/normal/*\n");
  EXPECT_EQ(
      Wgrad({"check", kMutant, "--problem", kDilated, "--filling", "int_a,normal", "--known", folder.Path("known")})
          .exit_code,
      1);
}

TEST(CheckKnown, SaysWhatPassesNow) {
  const Folder folder;
  WriteFile(folder.path() / "known", std::string(kProblem) + "/*/1\n");
  const Finished finished =
      Wgrad({"check", "openblas", "--problem", kProblem, "--filling", "int_a", "--known", folder.Path("known")});
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_NE(finished.out.find(std::string(kProblem) + "/*/1"), std::string::npos) << finished.out;
}

TEST(CheckClass, DecidesByTheClassOfTheCommandLine) {
  // Float32 sums in float32 are rarely the nearest ones.
  const Words common = {"check", "openblas", "--problem", "n4_i9x9_c5_k3x3_o6_same_f32", "--filling", "normal"};
  auto with = [&common](const char* accuracy_class) {
    Words arguments = common;
    arguments.insert(arguments.end(), {"--class", accuracy_class});
    return Wgrad(arguments);
  };
  EXPECT_EQ(with("order").exit_code, 0);
  EXPECT_EQ(with("cr").exit_code, 1);
  EXPECT_EQ(with("f64=cr").exit_code, 0);
  EXPECT_EQ(with("f32=cr").exit_code, 1);
}

TEST(CheckPlugin, PassesTheExampleAndFailsTheWrongOne) {
  const Words problem = {"--problem", kDilated};
  const Finished right = Wgrad({"check", WGRAD_EXAMPLES "/libexample_plugin.so", "--problem", kDilated});
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Finished wrong = Wgrad({"check", WGRAD_EXAMPLES "/libwrong_plugin.so", "--suite", "smoke"});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out << wrong.err;
}

TEST(CheckPlugin, RunsOneDnnInAllItsVariants) {
  const io::Json report = CheckToJson({"onednn", "--problem", kProblem, "--filling", "int_a"}, 0);
  const Result<const io::Json::Array*> variants = report.GetArray("/variants");
  ASSERT_TRUE(variants.ok());
  EXPECT_GE((*variants)->size(), 2u);
  EXPECT_EQ(Count(report, "passed"), static_cast<std::int64_t>((*variants)->size()));
}

TEST(CheckReference, IsItselfACandidate) {
  EXPECT_EQ(Wgrad({"check", "reference", "--problem", kProblem}).exit_code, 0);
}

constexpr const char* kSlow = "n8_i64x64_c64_k3x3_o64_same_f32";  // minutes for the reference

TEST(CheckInterrupt, ReportsWhatWasFoundAndExitsWith130) {
  const Folder folder;
  Running run({"check", "reference", "--problem", kProblem, "--problem", kSlow, "--jobs", "1", "--json",
               folder.Path("report.json")});
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ASSERT_FALSE(run.done());
  run.Signal(SIGINT);
  const Finished finished = run.Wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.out << finished.err;
  EXPECT_NE(finished.out.find("interrupted"), std::string::npos) << finished.out;
  EXPECT_LT(finished.duration.count(), 20.0);
  const Result<io::Json> report = io::Parse(ReadFile(folder.path() / "report.json"));
  ASSERT_TRUE(report.ok());
  EXPECT_GT(Count(*report, "passed"), 0);
}

TEST(CheckInterrupt, ExitsWithOneWhereSomethingHadFailed) {
  Running run(
      {"check", kMutant, "--problem", kDilated, "--problem", "n64_i64x64_c64_k7x7_o64_same_f32", "--jobs", "1"});
  std::this_thread::sleep_for(std::chrono::seconds(3));
  ASSERT_FALSE(run.done());
  run.Signal(SIGTERM);
  const Finished finished = run.Wait();
  EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
}

TEST(CheckInterrupt, EndsAtOnceOnTheSecondSignal) {
  Running run({"check", "reference", "--problem", kSlow});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  run.Signal(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  run.Signal(SIGINT);
  const Finished finished = run.Wait();
  EXPECT_EQ(finished.exit_code, 130);
  EXPECT_EQ(finished.out, "");
}

TEST(CheckTerminal, GetsColourAndAProgressLineAndAPipeGetsNeither) {
  const Words arguments = {"check", kMutant, "--suite", "smoke", "--dtype", "f32"};
  const Finished piped = Wgrad(arguments);
  for (const std::string& text : {piped.out, piped.err}) {
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) { return c != '\n' && (c >= 0 && c < 32); }));
  }
  const Finished shown = WgradOnTerminal(arguments);
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_NE(shown.out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace wgrad::test
