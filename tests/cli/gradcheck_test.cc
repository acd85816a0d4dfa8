// `wgrad gradcheck`: what it says, and what it refuses.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace wgrad::test {
namespace {

constexpr const char* kMutant = "mutant:" WGRAD_DILATION_MUTANT;

bool Contains(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(Gradcheck, OwnMapsAndRightKernelPass) {
  for (const Words& words : {Words{"gradcheck", "--cases", "8"}, Words{"gradcheck", "openblas", "--cases", "8"}}) {
    const Finished finished = Wgrad(words);
    EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
    for (const char* part : {"8 cases, seed 1", "basis_probe", "central_difference", "one_sided_difference",
                             "forward_adjoint", "input_adjoint", "mixed_input", "mixed_out_backprop", "pure_second",
                             "rounded", "the usual check", "kept every identity"}) {
      EXPECT_TRUE(Contains(finished.out, part)) << part << "\n" << finished.out;
    }
  }
}

TEST(Gradcheck, WrongKernelIsExplainedAndSeenAgain) {
  const Finished finished = Wgrad({"gradcheck", kMutant, "--cases", "20", "--dtype", "f32"});
  EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
  EXPECT_TRUE(Contains(finished.out, "FAIL: ")) << finished.out;
  EXPECT_TRUE(Contains(finished.out, "basis_probe: filter_backprop[kh=")) << finished.out;
  EXPECT_TRUE(Contains(finished.out, " is due")) << finished.out;
  const std::string mark = "  again      ";
  const std::size_t at = finished.out.find(mark);
  ASSERT_NE(at, std::string::npos) << finished.out;
  const std::size_t begin = at + mark.size();
  const Words again = SplitCommand(finished.out.substr(begin, finished.out.find('\n', begin) - begin));
  const Finished repeated = Wgrad(again);
  EXPECT_EQ(repeated.exit_code, 1) << repeated.out << repeated.err;
  // The same sentence about the same element.
  const std::size_t reason = finished.out.find("basis_probe: ");
  const std::string sentence = finished.out.substr(reason, finished.out.find('\n', reason) - reason);
  EXPECT_TRUE(Contains(repeated.out, sentence)) << repeated.out;
}

TEST(Gradcheck, OneProblemInAnotherDtype) {
  const Finished finished = Wgrad({"gradcheck", "reference", "--problem", "n1_i4x4_c2_k2x2_o2_valid_f32", "--dtype",
                                   "f64", "--cases", "2", "--seed", "7"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_TRUE(Contains(finished.out, "2 cases, seed 7")) << finished.out;
}

TEST(Gradcheck, NothingComparedHasACodeOfItsOwn) {
  const Finished finished = Wgrad({"gradcheck", "--problem", "n1_i4x4_c2_k2x2_o0_valid_f32"});
  EXPECT_EQ(finished.exit_code, 3) << finished.out << finished.err;
  EXPECT_TRUE(Contains(finished.out, "5 cases compared nothing: the filter has no elements")) << finished.out;
}

TEST(Gradcheck, TimeEndsARun) {
  const Finished finished = Wgrad({"gradcheck", "openblas", "--time", "0.2"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_LT(finished.duration.count(), 5);
}

TEST(Gradcheck, BadInputIsASentence) {
  struct Refused {
    Words words;
    std::string part;
  };
  const Refused refusals[] = {
      {{"--cases", "0"}, "--cases is a number of cases from 1, got 0"},
      {{"--time", "-3"}, "--time is a number of seconds above 0"},
      {{"--seed", "x"}, "seed"},
      {{"--dtype", "f23"}, "f23"},
      {{"--problem", "n1_i4"}, "n1_i4"},
      {{"--problem", "n64_i64x64_c64_k3x3_o64_same_f32"}, "exact maps are slow, and take at most 200,000"},
      {{"openblass"}, "openblas"},
  };
  int refused = 0;
  for (const auto& [words, part] : refusals) {
    Words all = {"gradcheck"};
    all.insert(all.end(), words.begin(), words.end());
    const Finished finished = Wgrad(all);
    EXPECT_EQ(finished.exit_code, 2) << part << finished.out << finished.err;
    EXPECT_TRUE(Contains(finished.err, "wgrad: error: ")) << finished.err;
    EXPECT_TRUE(Contains(finished.err, part)) << finished.err;
    EXPECT_EQ(finished.out, "");
    ++refused;
  }
  EXPECT_EQ(refused, 7);
}

}  // namespace
}  // namespace wgrad::test
