// Manifests of adapters, how they are started, and what installing does.
#include "candidates/adapter/adapter.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "candidates/adapter/install.h"
#include "candidates/plugin/plugin_candidate.h"
#include "tests/candidates/support.h"

namespace wgrad::candidates {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = R"c(
#include "candidates/plugin/wgrad_plugin.h"
int wgrad_plugin_version(void) { return WGRAD_PLUGIN_VERSION; }
int wgrad_filter_gradient(const struct wgrad_call *call) { (void)call; return WGRAD_REJECTED; }
)c";

class AdapterTest : public testing::Test {
 protected:
  AdapterTest() {
    std::string pattern = (fs::temp_directory_path() / "wgrad_adapter_XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    fs::create_directories(folder());
    places_ = {root_ / "share", root_ / "lib", WGRAD_SOURCE_FOLDER, root_ / "cache"};
  }
  ~AdapterTest() override { fs::remove_all(root_); }

  fs::path folder() const { return root_ / "share" / "candidates" / "mine"; }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(folder() / name) << text; }
  Result<Adapter> Read(const std::string& manifest) const {
    Write("adapter.json", manifest);
    return ReadAdapter(folder());
  }
  std::string Refusal(const std::string& manifest) const {
    const auto adapter = Read(manifest);
    return adapter.ok() ? "no error" : adapter.error().message.substr((folder() / "adapter.json").string().size());
  }

  fs::path root_;
  AdapterPlaces places_;
};

TEST_F(AdapterTest, ManifestsSayHowAProgramIsStarted) {
  const auto adapter = Read(R"({"description": "d", "command": ["{python}", "{folder}/x.py", "--in={cache}"],
      "variants": {"a": {"description": "va", "environment": {"K": "1"}}, "b": {}}, "pip": ["p==1"]})");
  ASSERT_TRUE(adapter.ok()) << adapter.error().message;
  EXPECT_EQ(adapter->name, "mine");
  ASSERT_EQ(adapter->variants.size(), 2u);
  const Command command = CommandFor(*adapter, adapter->variants[0], places_);
  const std::string cache = (root_ / "cache" / "mine").string();
  EXPECT_EQ(command.words,
            (std::vector<std::string>{cache + "/venv/bin/python", (folder() / "x.py").string(), "--in=" + cache}));
  EXPECT_EQ(command.environment.at("K"), "1");
  EXPECT_EQ(command.environment.at("WGRAD_VARIANT"), "a");
  EXPECT_EQ(command.environment.at("WGRAD_CACHE_FOLDER"), cache);
  EXPECT_TRUE(command.environment.at("PYTHONPATH").starts_with((root_ / "share/clients/python").string()));
  EXPECT_EQ(WhyNotInstalled(*adapter, places_), "not installed");
}

TEST_F(AdapterTest, DamagedManifestsNameTheField) {
  EXPECT_EQ(ReadAdapter(root_ / "nowhere").error().code, ErrorCode::kNotFound);
  EXPECT_EQ(Refusal("{}"), ": there must be either a \"command\" or a \"plugin\" with \"built\" or \"source\"");
  EXPECT_EQ(Refusal(R"({"command": "x"})"), ": at /command: expected an array, found the string \"x\"");
  EXPECT_NE(Refusal(R"({"command": ["x"], "variants": 1})").find("at /variants: expected an object"),
            std::string::npos);
  EXPECT_NE(Refusal("{").find("JSON"), std::string::npos);
}

TEST_F(AdapterTest, APluginIsCompiledAndFoundOutOfDateWhenItsSourceChanges) {
  Write("mine_plugin.c", kPlugin);
  const auto adapter = Read(R"({"description": "d", "plugin": {"source": "mine_plugin.c", "flags": ["-O0", "-xc"]}})");
  ASSERT_TRUE(adapter.ok()) << adapter.error().message;
  EXPECT_EQ(WhyNotInstalled(*adapter, places_), "not installed");
  std::vector<std::string> said;
  const Status status = Install(*adapter, places_, [&said](const std::string& line) { said.push_back(line); });
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(said, (std::vector<std::string>{"compiling mine_plugin.c"}));
  EXPECT_EQ(WhyNotInstalled(*adapter, places_), "");
  const auto opened = Open(PluginPath(*adapter, places_).string());
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  const auto candidate = opened->opened.at(0).make();
  EXPECT_EQ(Answered(*candidate, TheProblem("n1_i1x1_c1_k1x1_o1_valid_f32")).kind, AnswerKind::kRejected);
  Write("mine_plugin.c", std::string(kPlugin) + "/* changed */\n");
  EXPECT_EQ(WhyNotInstalled(*adapter, places_), "not installed");
}

TEST_F(AdapterTest, AFailedStepShowsItsLastLinesAndLeavesNothingInstalled) {
  Write("mine_plugin.c", "#error \"this cannot be compiled\"\n");
  const auto adapter = Read(R"({"description": "d", "plugin": {"source": "mine_plugin.c", "flags": ["-xc"]}})");
  ASSERT_TRUE(adapter.ok()) << adapter.error().message;
  const Status status = Install(*adapter, places_, [](const std::string&) {});
  ASSERT_FALSE(status.ok());
  EXPECT_TRUE(status.error().message.starts_with("compiling mine_plugin.c failed with status 1 (all of it: "));
  EXPECT_NE(status.error().message.find("this cannot be compiled"), std::string::npos) << status.error().message;
  EXPECT_EQ(WhyNotInstalled(*adapter, places_), "not installed");
}

TEST_F(AdapterTest, TheProjectsOwnManifestsAreWhole) {
  const auto adapters = ReadAdapters(fs::path(WGRAD_SOURCE_FOLDER) / "candidates");
  ASSERT_TRUE(adapters.ok()) << adapters.error().message;
  EXPECT_GE(adapters->size(), 14u);
  for (const Adapter& adapter : *adapters) {
    EXPECT_FALSE(adapter.description.empty()) << adapter.name;
    EXPECT_TRUE(fs::exists(adapter.folder / "README.md")) << adapter.name;
    const fs::path program = adapter.folder / (adapter.is_plugin()              ? adapter.name + "_plugin.cc"
                                               : adapter.command[0] == "{node}" ? "adapter.mjs"
                                                                                : "adapter.py");
    EXPECT_TRUE(fs::exists(program)) << program;
    for (const AdapterVariant& variant : adapter.variants) EXPECT_FALSE(variant.description.empty()) << adapter.name;
  }
}

}  // namespace
}  // namespace wgrad::candidates
