// `wgrad fuzz` and `wgrad replay`: what they find, keep, say and refuse.
#include <gtest/gtest.h>
#include <signal.h>

#include <fstream>
#include <thread>

#include "tests/cli/program.h"

namespace wgrad::test {
namespace {

constexpr const char* kMutant = "mutant:" WGRAD_DILATION_MUTANT;

// The words behind "again" in a finding, without the program's name.
Words ReplayWords(const std::string& out) {
  const std::string mark = "  again      ";
  const std::size_t at = out.find(mark);
  EXPECT_NE(at, std::string::npos) << out;
  const std::size_t begin = at + mark.size();
  return SplitCommand(out.substr(begin, out.find('\n', begin) - begin));
}

std::vector<std::filesystem::path> FilesIn(const Folder& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files.push_back(entry.path());
  return files;
}

TEST(Fuzz, RightKernelPassesAndSaysWhatWasCovered) {
  const Folder folder;
  const Finished finished = Wgrad({"fuzz", "openblas", "--cases", "300", "--max-size", "8", "--save", folder.Path("")});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  for (const char* words : {"300 cases in ", "argument pairs", "triples", "block tails", "regions", "same_odd_total",
                            "the loss of any one of them was certain to be seen", "PASS: openblas failed no case"}) {
    EXPECT_NE(finished.out.find(words), std::string::npos) << words << "\n" << finished.out;
  }
  EXPECT_TRUE(FilesIn(folder).empty());
}

TEST(Fuzz, WrongKernelShrinksIsKeptAndReplays) {
  const Folder folder;
  const Finished finished = Wgrad({"fuzz", kMutant, "--cases", "500", "--save", folder.Path("")});
  EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
  EXPECT_NE(finished.out.find("must land on filter_backprop"), std::string::npos) << finished.out;
  const Words replay = ReplayWords(finished.out);
  ASSERT_GE(replay.size(), 3u);
  EXPECT_EQ(replay[0], "replay");
  const Finished again = Wgrad(replay);
  EXPECT_EQ(again.exit_code, 1) << again.out << again.err;
  const auto files = FilesIn(folder);
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(Wgrad({"replay", files[0].string(), kMutant}).exit_code, 1);
  const Finished right = Wgrad({"replay", files[0].string(), "openblas"});
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  EXPECT_NE(right.out.find("3 cases: 3 passed"), std::string::npos) << right.out;
}

TEST(Fuzz, SameSeedSameFindingForAnyNumberOfJobs) {
  std::string first;
  for (const char* jobs : {"1", "3"}) {
    const Folder folder;
    const Finished finished =
        Wgrad({"fuzz", "mutant:empty_batch_untouched", "--cases", "2000", "--jobs", jobs, "--save", folder.Path("")});
    EXPECT_EQ(finished.exit_code, 1);
    const std::size_t at = finished.out.find("  found in ");
    ASSERT_NE(at, std::string::npos) << finished.out;
    const std::string line = finished.out.substr(at, finished.out.find('\n', at) - at);
    if (first.empty()) first = line;
    EXPECT_EQ(line, first);
  }
}

TEST(Fuzz, EarlierFailuresRunFirst) {
  const Folder folder;
  ASSERT_EQ(Wgrad({"fuzz", kMutant, "--cases", "500", "--save", folder.Path("")}).exit_code, 1);
  WriteFile(folder.path() / "foreign.json", "{\"schema\": \"other\"}");
  WriteFile(folder.path() / "cut.json", "{\"schema\": \"wgrad_vec");
  const Finished still = Wgrad({"fuzz", kMutant, "--cases", "500", "--save", folder.Path("")});
  EXPECT_EQ(still.exit_code, 1);
  EXPECT_NE(still.out.find("1 files, 1 still failing, 2 skipped"), std::string::npos) << still.out;
  EXPECT_NE(still.out.find("skipped " + folder.Path("cut.json")), std::string::npos) << still.out;
  EXPECT_NE(still.out.find("foreign.json: at /"), std::string::npos) << still.out;
  const Finished mended = Wgrad({"fuzz", "openblas", "--cases", "50", "--max-size", "6", "--save", folder.Path("")});
  EXPECT_EQ(mended.exit_code, 0) << mended.out;
  EXPECT_NE(mended.out.find("1 files, 0 still failing, 2 skipped"), std::string::npos) << mended.out;
}

TEST(Fuzz, GoesOnToFurtherKindsOfFailures) {
  const Folder folder;
  const Finished finished =
      Wgrad({"fuzz", kMutant, "--cases", "400", "--findings", "3", "--jobs", "1", "--save", folder.Path("")});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(finished.out.find("is wrong in 3 findings"), std::string::npos) << finished.out;
  EXPECT_EQ(FilesIn(folder).size(), 3u);
}

TEST(Fuzz, KnownFailuresAreNoFindings) {
  const Folder folder;
  WriteFile(folder.path() / "known.txt", "*\n");
  const Finished finished = Wgrad({"fuzz", kMutant, "--cases", "50", "--max-size", "6", "--known",
                                   folder.Path("known.txt"), "--save", folder.Path("corpus")});
  EXPECT_EQ(finished.exit_code, 0) << finished.out;
  EXPECT_NE(finished.out.find("expected by --known"), std::string::npos) << finished.out;
}

TEST(Fuzz, InterruptKeepsWhatWasFound) {
  const Folder folder;
  Running running({"fuzz", "openblas", "--time", "600", "--save", folder.Path("")});
  std::this_thread::sleep_for(std::chrono::seconds(2));
  running.Signal(SIGINT);
  const Finished finished = running.Wait();
  EXPECT_EQ(finished.exit_code, 130) << finished.out << finished.err;
  EXPECT_NE(finished.out.find(" judged against exact sums"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("; interrupted"), std::string::npos) << finished.out;
}

TEST(Fuzz, BadInputGetsASentence) {
  const std::pair<Words, std::string> calls[] = {
      {{"fuzz", "openblas", "--time", "0"}, "--time is a number of seconds above 0, got 0"},
      {{"fuzz", "openblas", "--time", "-3"}, "--time is a number of seconds above 0, got -3"},
      {{"fuzz", "openblas", "--cases", "0"}, "--cases is a number of cases from 1, got 0"},
      {{"fuzz", "openblas", "--dtype", "f33"}, "unknown dtype \"f33\""},
      {{"fuzz", "openblas", "--seed", "x"}, "\"x\""},
      {{"fuzz", "openblas", "--max-size", "0"}, "openblas: no case satisfies --max-size 0: the least is 1"},
      {{"fuzz", "openblas", "--max-work", "0"}, "openblas: no case satisfies --max-work 0: the least is 1"},
      {{"fuzz", "mutant:dilation_ignore"},
       "unknown wrong kernel \"dilation_ignore\"; did you mean \"dilation_ignored\"?"},
      {{"fuzz", "openblas", "--cases", "5", "--save", "/proc/nowhere"}, "PASS"},
      {{"fuzz", kMutant, "--cases", "500", "--save", "/proc/nowhere"}, "cannot make the folder /proc/nowhere"},
      {{"replay", "no/such.json", "openblas"}, "no/such.json"},
      {{"replay", "n1_i1x1/int_a/1", "openblas"}, "\"n1_i1x1/int_a/1\" is neither a file nor a case"},
      {{"replay", "n1_i1x1_c1_k1x1_o1_same_f32/int_a/1", "openbla"}, "unknown candidate \"openbla\""},
  };
  for (const auto& [words, message] : calls) {
    const Finished finished = Wgrad(words);
    EXPECT_NE((finished.out + finished.err).find(message), std::string::npos) << finished.out << finished.err;
    EXPECT_EQ(finished.exit_code, message == "PASS" ? 0 : 2) << message << finished.out << finished.err;
  }
}

}  // namespace
}  // namespace wgrad::test
