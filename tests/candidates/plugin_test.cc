#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

constexpr const char* kProblem = "n1_i1x1_c3_k1x1_o4_valid_f32";
constexpr const char* kCleanProblem = "n1_i1x1_c3_k1x1_o7_valid_f32";  // out depth 7: no test plugin misbehaves

std::unique_ptr<Candidate> OpenTestPlugin(const std::string& name, const ProcessLimits& limits = {}) {
  const Result<OpenedVariants> info = Open(TestPlugin(name), limits);
  EXPECT_TRUE(info.ok()) << info.error().message;
  return info.ok() ? info->opened.at(0).make() : nullptr;
}

struct Misbehaviour {
  const char* plugin;
  AnswerKind kind;
  const char* message;
};

TEST(Plugin, EachMisbehaviourIsNamedAndTheRunGoesOn) {
  const Misbehaviour kTable[] = {
      {"crash", AnswerKind::kDied, "died: SIGSEGV; it last printed \"about to fall\""},
      {"abort", AnswerKind::kDied, "died: SIGABRT"},
      {"exit", AnswerKind::kDied, "died: exit 3"},
      {"close_answers", AnswerKind::kDied, "died: closed its answers"},
      {"write_into_answers", AnswerKind::kDied,
       "died: broken protocol: the header's length must be 1 to 1048576 bytes, got 1819043176; what came was 4 "
       "bytes: 68 65 6c 6c \"hell\""},
      {"write_past_end", AnswerKind::kError, "wrote past the end of filter_backprop"},
      {"write_before_start", AnswerKind::kError, "wrote before the start of filter_backprop"},
      {"change_input", AnswerKind::kError, "changed its input input"},
      {"say_unsupported", AnswerKind::kUnsupported, "no filters of this kind"},
      {"say_rejected", AnswerKind::kRejected, "these sizes are wrong"},
      {"say_error", AnswerKind::kError, "out of luck"},
      {"strange_code", AnswerKind::kError, "returned 17, which is none of enum wgrad_code"},
  };
  std::int64_t compared = 0;
  for (const Misbehaviour& row : kTable) {
    const auto candidate = OpenTestPlugin(row.plugin);
    ASSERT_NE(candidate, nullptr) << row.plugin;
    for (int round = 0; round < 2; ++round) {
      const Answer answer = Answered(*candidate, TheProblem(kProblem));
      EXPECT_EQ(answer.kind, row.kind) << row.plugin;
      EXPECT_EQ(answer.message, row.message) << row.plugin;
      compared += ExpectExact(*candidate, TheProblem(kCleanProblem));
    }
  }
  EXPECT_EQ(compared, 12 * 2 * 21);
}

TEST(Plugin, ThatHangsIsEndedAtItsTimeLimit) {
  ProcessLimits limits;
  limits.time = std::chrono::milliseconds(300);
  const auto candidate = OpenTestPlugin("hang", limits);
  const auto start = std::chrono::steady_clock::now();
  const Answer answer = Answered(*candidate, TheProblem(kProblem));
  EXPECT_GE(std::chrono::steady_clock::now() - start, limits.time);
  EXPECT_EQ(answer.kind, AnswerKind::kDied);
  EXPECT_EQ(answer.message, "died: no answer within 300 ms");
  EXPECT_EQ(ExpectExact(*candidate, TheProblem(kCleanProblem)), 21);
}

TEST(Plugin, ThatEatsMemoryIsEndedAtItsLimit) {
  ProcessLimits limits;
  limits.memory_bytes = std::int64_t{256} << 20;
  const auto candidate = OpenTestPlugin("eat_memory", limits);
  const Answer answer = Answered(*candidate, TheProblem(kProblem));
  EXPECT_EQ(answer.kind, AnswerKind::kDied);
  EXPECT_EQ(answer.message, "died: resident memory above 256 MiB");
  EXPECT_EQ(ExpectExact(*candidate, TheProblem(kCleanProblem)), 21);
}

TEST(Plugin, MayPrintMegabytes) {
  const auto candidate = OpenTestPlugin("print_megabytes");
  for (int round = 0; round < 3; ++round) EXPECT_EQ(ExpectExact(*candidate, TheProblem(kProblem)), 12);
}

TEST(Plugin, LeavesItsMarkWhereItDidNotWrite) {
  const auto candidate = OpenTestPlugin("leave_unwritten");
  const Answer answer = Answered(*candidate, TheProblem(kProblem));
  ASSERT_EQ(answer.kind, AnswerKind::kResult) << answer.message;
  EXPECT_EQ(answer.result.value(0), 1.0);
  for (std::int64_t i = 1; i < 12; ++i) EXPECT_EQ(answer.result.bits(i), PoisonBits(DType::kFloat32));
}

TEST(Plugin, NeedsNoMoreThanTwoFunctions) {
  const Result<OpenedVariants> info = Open(TestPlugin("correct"));
  ASSERT_TRUE(info.ok()) << info.error().message;
  EXPECT_EQ(info->opened.at(0).greeting.greeting.name, "correct");
  EXPECT_EQ(info->opened.at(0).greeting.greeting.capabilities, Capabilities());
  ASSERT_EQ(info->opened.size(), 1u);
  EXPECT_EQ(info->opened[0].variant, "");
  const auto first = info->opened.at(0).make();
  const auto second = info->opened.at(0).make();
  EXPECT_EQ(ExpectExact(*first, TheProblem(kProblem)), 12);
  EXPECT_EQ(ExpectExact(*second, TheProblem(kProblem)), 12);
}

struct Refusal {
  const char* file;
  const char* reason;  // what must stand in the sentence
};

TEST(Plugin, ThatCannotBeLoadedSaysWhy) {
  const std::string object_file = WGRAD_TEST_PLUGINS "/object.so";
  std::ofstream(object_file, std::ios::binary) << std::string(
                                                      "\x7f"
                                                      "ELF\2\1\1",
                                                      7)
                                               << std::string(9, '\0') << std::string("\1\0\x3e\0", 4);
  const std::string foreign = WGRAD_TEST_PLUGINS "/foreign.so";
  std::ofstream(foreign, std::ios::binary) << std::string(
                                                  "\x7f"
                                                  "ELF\2\1\1",
                                                  7)
                                           << std::string(9, '\0') << std::string("\3\0\xf3\0", 4);
  const Refusal kTable[] = {
      {"absent", "there is no file "},
      {"text", "text.so is not a shared library: it does not begin with an ELF header"},
      {"foreign", "foreign.so is built for riscv, this program for "},
      {"object", "object.so is an object file, not a shared library"},
      {"no_version", "no_version.so exports no function wgrad_plugin_version"},
      {"no_filter_gradient", "no_filter_gradient.so exports no function wgrad_filter_gradient"},
      {"wrong_version", "wrong_version.so has plugin version 7, expected 1"},
      {"null_capabilities", "null_capabilities.so returns a null pointer from wgrad_capabilities"},
      {"no_json", "no_json.so has capabilities that are no JSON: "},
      {"wrong_dtypes", "wrong_dtypes.so has wrong capabilities: field \"dtypes\" must be a list out of "},
      {"unknown_field", "unknown_field.so has wrong capabilities: there is no field \"dtype\""},
      {"crash_on_load", "crash_on_load.so died: SIGILL"},
  };
  int refused = 0;
  for (const Refusal& row : kTable) {
    const Result<OpenedVariants> info = Open(TestPlugin(row.file));
    ASSERT_FALSE(info.ok()) << row.file;
    EXPECT_NE(info.error().message.find(row.reason), std::string::npos) << info.error().message;
    EXPECT_EQ(info.error().message.find('\n'), std::string::npos) << info.error().message;
    ++refused;
  }
  EXPECT_EQ(refused, 12);
}

TEST(PluginHost, IsLookedForWhereTheVariableSays) {
  setenv("WGRAD_PLUGIN_HOST", "/nowhere/at/all", 1);
  const Result<OpenedVariants> info = OpenPlugin(TestPlugin("correct"), {});
  ASSERT_FALSE(info.ok());
  EXPECT_EQ(info.error().message, "WGRAD_PLUGIN_HOST names /nowhere/at/all, where there is no plugin host");
  unsetenv("WGRAD_PLUGIN_HOST");
  const Result<std::string> host = FindPluginHost();
  ASSERT_FALSE(host.ok());  // the tests do not stand beside it
  EXPECT_NE(host.error().message.find("WGRAD_PLUGIN_HOST can name it"), std::string::npos);
}

}  // namespace
}  // namespace wgrad::candidates
