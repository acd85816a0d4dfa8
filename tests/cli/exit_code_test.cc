// Each situation has its own exit code, and every mistake its own sentence on stderr.
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/cli/program.h"

namespace wgrad::test {
namespace {

constexpr const char* kProblem = "n2_i5x4_c3_k3x2_o4_same_f32";
constexpr const char* kDilated = "n2_i9x8_c3_k3x4_o5_d2x1_same_f32";

struct Mistake {
  Words arguments;
  Words pieces;  // of the message
};

void ExpectRefused(const Mistake& mistake) {
  const Finished finished = Wgrad(mistake.arguments);
  std::string line = "wgrad";
  for (const std::string& word : mistake.arguments) line += " " + word;
  EXPECT_EQ(finished.exit_code, 2) << line << "\n" << finished.out << finished.err;
  EXPECT_EQ(finished.err.find("wgrad: error: "), 0u) << line << "\n" << finished.err;
  EXPECT_EQ(finished.out, "") << line;
  for (const std::string& piece : mistake.pieces) {
    EXPECT_NE(finished.err.find(piece), std::string::npos) << line << "\nlacks " << piece << " in\n" << finished.err;
  }
}

TEST(ExitCode, IsZeroWhereAllPassed) {
  const Finished finished = Wgrad({"check", "openblas", "--problem", kProblem});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_EQ(finished.err, "");
}

TEST(ExitCode, IsOneWhereACaseFailed) {
  const Finished finished = Wgrad({"check", "mutant:" WGRAD_DILATION_MUTANT, "--problem", kDilated});
  EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
}

TEST(ExitCode, IsThreeWhereNothingWasCompared) {
  // A filter without elements: there is a result, and nothing in it.
  const Finished empty = Wgrad({"check", "openblas", "--problem", "n2_i5x4_c3_k0x2_o4_valid_f32"});
  EXPECT_EQ(empty.exit_code, 3) << empty.out << empty.err;
  if (!kHasOneDnn) return;
  // oneDNN has no float64 convolution, and says so.
  const Finished finished = Wgrad({"check", "onednn:plain", "--problem", "n2_i5x4_c3_k3x2_o4_same_f64"});
  EXPECT_EQ(finished.exit_code, 3) << finished.out << finished.err;
}

TEST(ExitCode, IsFourWhereMemoryRunsOut) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need an address space of terabytes";
#endif
  if (sysconf(_SC_AVPHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) < 8 * 1024 * 1024L) {
    GTEST_SKIP() << "less than 8 GiB are free: the problem is refused before";
  }
  // An input of 1.2 GB, which this machine has room for and the process has not.
  const Finished finished = WgradInAddressSpace(
      1024, {"check", "openblas", "--problem", "n1_i17321x17321_c1_k1x1_o1_s1000x1000_valid_f32", "--jobs", "1"});
  EXPECT_EQ(finished.exit_code, 4) << finished.out << finished.err;
  EXPECT_NE(finished.err.find("wgrad: error: internal failure"), std::string::npos) << finished.err;
  EXPECT_NE(finished.err.find("memory ran out"), std::string::npos) << finished.err;
}

TEST(ExitCode, IsTwoForEachMistakeAndTheMessageNamesIt) {
  const std::vector<Mistake> mistakes = {
      {{}, {"subcommand"}},
      {{"chekc"}, {"command", "\"chekc\"", "\"check\""}},
      {{"check"}, {"CANDIDATE"}},
      {{"check", "openblas", "--no-such-option"}, {"--no-such-option"}},
      {{"check", "openbals"}, {"candidate", "\"openbals\"", "\"openblas\""}},
      {{"check", "mutant:no_such_kernel"}, {"no_such_kernel"}},
      {{"check", "onednn:no_such_variant"}, {"onednn"}},
      {{"check", "openblas:fast"}, {"openblas:fast"}},
      {{"check", "./no_such_file.so"}, {"./no_such_file.so"}},
      {{"check", "openblas", "--suite", "smoek"}, {"suite", "\"smoek\"", "\"smoke\""}},
      {{"check", "openblas", "--problem", kProblem, "--class", "ordre"}, {"class", "\"ordre\"", "\"order\""}},
      {{"check", "openblas", "--problem", kProblem, "--class", "f23=order"}, {"\"f23\"", "\"f32\""}},
      {{"check", "openblas", "--problem", kProblem, "--class", "split:one"}, {"split:one"}},
      {{"check", "openblas", "--problem", kProblem, "--filling", "nromal"}, {"filling", "\"nromal\"", "\"normal\""}},
      {{"check", "openblas", "--problem", kProblem, "--filling", "normal,normal"}, {"normal", "twice"}},
      {{"check", "openblas", "--problem", kProblem, "--dtype", "fp32"}, {"dtype", "\"fp32\"", "\"f32\""}},
      {{"check", "openblas", "--problem", kProblem, "--pad", "zero"}, {"--pad", "\"zero\""}},
      {{"check", "openblas", "--problem", kProblem, "--jobs", "0"}, {"--jobs"}},
      {{"check", "openblas", "--problem", kProblem, "--batch", "0"}, {"--batch"}},
      {{"check", "openblas", "--problem", kProblem, "--seed", "-1"}, {"--seed"}},
      {{"check", "openblas", "--problem", kProblem, "--seed", "18446744073709551616"}, {"--seed"}},
      {{"check", "openblas", "--problem", kProblem, "--time-limit", "-3"}, {"--time-limit"}},
      {{"check", "openblas", "--problem", kProblem, "--known", "no_such_file"}, {"no_such_file"}},
      {{"check", "openblas", "--problem", kProblem, "--json", "no_such_folder/report.json"},
       {"no_such_folder/report.json"}},
      {{"check", "openblas", "--problem", kProblem, "--junit", "/"}, {"folder"}},
      {{"check", "openblas", "--problem", "n2_i5x7_c6_k3x2_o4_samee_f32"}, {"character 24", "^"}},
      {{"check", "openblas", "--problem", "n2_i5x7"}, {"the end"}},
      {{"check", "openblas", "--problem", "n2_i5x7_c6_k9x2_o4_valid_f32"}, {"V22"}},
      {{"describe", "n2_i5x7_c6_k3x2_o4_same_f33"}, {"character"}},
      {{"list", "candidate"}, {"\"candidate\"", "\"candidates\""}},
      {{"run", "openblas", "--problem", kProblem}, {"--input"}},
  };
  for (const Mistake& mistake : mistakes) ExpectRefused(mistake);
  EXPECT_EQ(mistakes.size(), 31u);
}

TEST(ExitCode, IsTwoForSizesBeyondThisMachineBeforeTheyAreAllocated) {
  const Finished finished = Wgrad({"check", "openblas", "--problem", "n4096_i4096x4096_c512_k3x3_o512_same_f32"});
  EXPECT_EQ(finished.exit_code, 2) << finished.err;
  EXPECT_NE(finished.err.find("of memory"), std::string::npos) << finished.err;
  EXPECT_LT(finished.duration.count(), 5.0);
  ExpectRefused(
      {{"check", "openblas", "--problem", kProblem, "--batch", "9223372036854775807"}, {"9223372036854775807"}});
}

TEST(Help, OfEveryCommandHasAnExample) {
  for (const Words& command : {Words{}, {"check"}, {"judge"}, {"run"}, {"describe"}, {"list"}}) {
    Words arguments = command;
    arguments.push_back("--help");
    const Finished finished = Wgrad(arguments);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_NE(finished.out.find("Example"), std::string::npos) << finished.out;
    EXPECT_NE(finished.out.find("  wgrad "), std::string::npos) << finished.out;
  }
}

TEST(Version, IsTheProjects) {
  const Finished finished = Wgrad({"--version"});
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_EQ(finished.out, "wgrad " WGRAD_VERSION "\n");
}

}  // namespace
}  // namespace wgrad::test
