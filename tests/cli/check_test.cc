// `wgrad check`: what is run, in which order, and what is said about it.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <regex>
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
  auto cases = [](const char* jobs) {
    const io::Json report = CheckToJson({kMutant, "--suite", "smoke", "--filling", "int_a,normal", "--jobs", jobs}, 1);
    std::string text;
    const Result<const io::Json::Array*> entries = report.GetArray("/cases");
    EXPECT_TRUE(entries.ok());
    if (!entries.ok()) return text;
    for (io::Json entry : **entries) {
      entry["seconds"] = nullptr;
      text += entry.Dump() + "\n";
    }
    return text;
  };
  const std::string alone = cases("1");
  EXPECT_EQ(alone, cases("4"));
  EXPECT_GT(Lines(alone).size(), 50u);
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
  const Finished right = Wgrad({"check", WGRAD_EXAMPLES "/libexample_plugin.so", "--problem", kDilated});
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  const Finished wrong = Wgrad({"check", WGRAD_EXAMPLES "/libwrong_plugin.so", "--suite", "smoke"});
  EXPECT_EQ(wrong.exit_code, 1) << wrong.out << wrong.err;
}

#ifdef WGRAD_HAS_ONEDNN
TEST(CheckPlugin, RunsOneDnnInAllItsVariants) {
  const io::Json report = CheckToJson({"onednn", "--problem", kProblem, "--filling", "int_a"}, 0);
  const Result<const io::Json::Array*> variants = report.GetArray("/variants");
  ASSERT_TRUE(variants.ok());
  EXPECT_GE((*variants)->size(), 2u);
  EXPECT_EQ(Count(report, "passed"), static_cast<std::int64_t>((*variants)->size()));
}
#endif

// An example plugin's plain loops on a problem that takes them minutes, under a path that no other process has.
class SlowPlugin {
 public:
  SlowPlugin() { std::filesystem::copy_file(WGRAD_EXAMPLES "/libexample_plugin.so", path()); }
  std::string path() const { return folder_.Path("slow.so"); }
  bool HasProcess() const {
    std::error_code ignored;
    for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
      const std::string command = ReadFile(process.path() / "cmdline");
      if (command.find("wgrad-plugin-host") < command.find(path()) && command.find(path()) != std::string::npos)
        return true;
    }
    return false;
  }

 private:
  Folder folder_;
};

constexpr const char* kSlow = "n8_i64x64_c64_k3x3_o64_same_f32";

TEST(CheckPlugin, DiesAtItsTimeLimit) {
  const SlowPlugin plugin;
  const io::Json report =
      CheckToJson({plugin.path(), "--problem", kSlow, "--filling", "int_a,normal", "--time-limit", "0.2"}, 1);
  EXPECT_EQ(Count(report, "died"), 2);
  EXPECT_FALSE(plugin.HasProcess());
}

TEST(CheckPlugin, DiesAtItsMemoryLimit) {
  const SlowPlugin plugin;
  const io::Json report =
      CheckToJson({plugin.path(), "--problem", kSlow, "--filling", "int_a", "--memory-limit", "24"}, 1);
  EXPECT_EQ(Count(report, "died"), 1);
}

TEST(CheckPlugin, LeavesNoProcessBehindAfterAnInterrupt) {
  const SlowPlugin plugin;
  Running run(
      {"check", plugin.path(), "--problem", kProblem, "--problem", kSlow, "--time-limit", "600", "--jobs", "1"});
  while (!plugin.HasProcess() && !run.done()) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  std::this_thread::sleep_for(std::chrono::seconds(2));
  ASSERT_FALSE(run.done());
  run.Signal(SIGTERM);
  const Finished finished = run.Wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.out << finished.err;
  EXPECT_EQ(finished.out.find("SIGKILL"), std::string::npos) << finished.out;
  EXPECT_FALSE(plugin.HasProcess());
}

TEST(CheckReference, IsItselfACandidate) {
  EXPECT_EQ(Wgrad({"check", "reference", "--problem", kProblem}).exit_code, 0);
}

TEST(CheckInterrupt, ReportsWhatWasFoundAndExitsWith130) {
  const Folder folder;
  Running run({"check", "reference", "--problem", kProblem, "--problem", kSlow, "--filling", "int_a", "--jobs", "1",
               "--json", folder.Path("report.json")});
  std::this_thread::sleep_for(std::chrono::seconds(2));
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
  Running run({"check", kMutant, "--problem", kDilated, "--problem", "n64_i64x64_c64_k7x7_o64_same_f32", "--filling",
               "int_a", "--jobs", "1"});
  std::this_thread::sleep_for(std::chrono::seconds(2));
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

bool HasColour(const std::string& text) { return std::regex_search(text, std::regex("\x1b\\[[0-9;]*m")); }

TEST(CheckTerminal, GetsColourAndAProgressLineAndAPipeGetsNeither) {
  const Words arguments = {"check", kMutant, "--suite", "smoke", "--dtype", "f32", "--filling", "int_a,normal,one_hot"};
  const Finished piped = Wgrad(arguments);
  for (const std::string& text : {piped.out, piped.err}) {
    EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) { return c != '\n' && c >= 0 && c < 32; }));
  }
  const Finished shown = WgradOnTerminal(arguments);
  EXPECT_EQ(shown.exit_code, 1);
  EXPECT_TRUE(HasColour(shown.out));
  EXPECT_NE(shown.out.find("\r\x1b[2K"), std::string::npos);
  EXPECT_NE(shown.out.find(" cases/s, "), std::string::npos);
  EXPECT_FALSE(HasColour(WgradOnTerminal(arguments, {"NO_COLOR=1"}).out));
}

}  // namespace
}  // namespace wgrad::test
