// `wgrad judge` and `wgrad run`: results that were computed elsewhere, and tensors in files.
#include <gtest/gtest.h>

#include "core/random.h"
#include "io/json.h"
#include "io/npy.h"
#include "reference/filter_gradient.h"
#include "tests/cli/program.h"

namespace wgrad::test {
namespace {

// One problem with its data in files: x.npy, dy.npy and the correctly rounded dw.npy.
class Example {
 public:
  explicit Example(const std::string& text) : problem_(*ParseProblem(text)) {
    input_ = Random(problem_.input_shape(), 1);
    out_backprop_ = Random(problem_.out_backprop_shape(), 2);
    result_ = reference::RoundedFilterGradient(problem_, input_, out_backprop_);
    Store("x.npy", input_);
    Store("dy.npy", out_backprop_);
    Store("dw.npy", result_);
  }

  void Store(const std::string& name, const Tensor& tensor) const {
    const Status status = io::WriteNpy(Path(name), tensor);
    EXPECT_TRUE(status.ok());
  }
  std::string Path(const std::string& name) const { return folder_.Path(name); }
  const Problem& problem() const { return problem_; }
  const Tensor& result() const { return result_; }
  Words Files(const std::string& actual) const {
    return {"--input", Path("x.npy"), "--out-backprop", Path("dy.npy"), "--actual", Path(actual)};
  }
  Finished Judge(Words words, const std::string& actual) const {
    words.insert(words.begin(), "judge");
    const Words files = Files(actual);
    words.insert(words.end(), files.begin(), files.end());
    return Wgrad(words);
  }

 private:
  Tensor Random(const std::vector<std::int64_t>& shape, std::uint64_t seed) const {
    Tensor tensor(problem_.dtype(), shape);
    for (std::int64_t index = 0; index < tensor.element_count(); ++index) {
      const auto bits = SplitMix64(seed, static_cast<std::uint64_t>(index)) >> 40;
      tensor.set_value(index, static_cast<double>(bits) / 4096.0 - 2048.0);
    }
    return tensor;
  }

  Folder folder_;
  Problem problem_;
  Tensor input_;
  Tensor out_backprop_;
  Tensor result_;
};

constexpr const char* kText = "n2_i6x7_c4_k3x2_o6_s2x1_g2_same_f32";

Tensor WithOneElementOff(Tensor tensor) {
  tensor.set_value(3, tensor.value(3) * 2 + 1);
  return tensor;
}

TEST(Judge, PassesTheCorrectlyRoundedResultByProblemText) {
  const Example example(kText);
  const Finished finished = example.Judge({"--problem", kText, "--class", "cr"}, "dw.npy");
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_NE(finished.out.find("pass"), std::string::npos) << finished.out;
}

TEST(Judge, DerivesTheProblemFromShapes) {
  const Example example(kText);
  const Finished right = example.Judge({"--strides", "2,1", "--padding", "same"}, "dw.npy");
  EXPECT_EQ(right.exit_code, 0) << right.out << right.err;
  // 6 rows at stride 2 with filter 3: one row of padding, after. Asked for before instead, sums differ.
  EXPECT_EQ(example.Judge({"--strides", "2,1", "--padding", "0,1,0,1"}, "dw.npy").exit_code, 0);
  EXPECT_EQ(example.Judge({"--strides", "2,1", "--padding", "1,0,0,1"}, "dw.npy").exit_code, 1);
}

TEST(Judge, NamesTheWrongElement) {
  const Example example(kText);
  example.Store("wrong.npy", WithOneElementOff(example.result()));
  const Finished finished = example.Judge({"--problem", kText, "--json", example.Path("report.json")}, "wrong.npy");
  EXPECT_EQ(finished.exit_code, 1) << finished.out << finished.err;
  const Result<io::Json> report = io::Parse(ReadFile(example.Path("report.json")));
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(*report->GetInt64("/counts/failed"), 1);
  // Element 3 of [kh, kw, ic, oc] = [3, 2, 2, 6] is (0, 0, 0, 3).
  const Result<const io::Json::Array*> element = report->GetArray("/failures/0/element");
  ASSERT_TRUE(element.ok()) << report->Dump(2);
  const io::Json::Array& index = **element;
  EXPECT_EQ(index, (io::Json::Array{0, 0, 0, 3}));
}

TEST(Judge, ReordersOtherLayouts) {
  const Example example(kText);
  const Problem& problem = example.problem();
  Tensor oihw(problem.result_dtype(), ResultShape(problem, ResultLayout::kOihw));
  std::int64_t to = 0;
  for (std::int64_t oc = 0; oc < problem.out_depth(); ++oc) {
    for (std::int64_t ic = 0; ic < problem.filter_depth(); ++ic) {
      for (std::int64_t kh = 0; kh < problem.rows().filter; ++kh) {
        for (std::int64_t kw = 0; kw < problem.columns().filter; ++kw) {
          oihw.set_bits(to++, example.result().bits(problem.FilterOffset(kh, kw, ic, oc)));
        }
      }
    }
  }
  example.Store("oihw.npy", oihw);
  EXPECT_EQ(example.Judge({"--problem", kText, "--actual-layout", "oihw"}, "oihw.npy").exit_code, 0);
  EXPECT_EQ(example.Judge({"--strides", "2,1", "--padding", "same", "--actual-layout", "oihw"}, "oihw.npy").exit_code,
            0);
  const Finished refused = example.Judge({"--problem", kText}, "oihw.npy");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.err.find("[6, 2, 3, 2]"), std::string::npos) << refused.err;
}

TEST(Judge, ReadsBfloat16) {
  const std::string text = "n2_i5x5_c3_k3x3_o2_valid_bf16";
  const Example example(text);
  EXPECT_EQ(example.Judge({"--problem", text, "--class", "cr"}, "dw.npy").exit_code, 0);
  EXPECT_EQ(example.Judge({"--padding", "valid", "--dtype", "bf16", "--class", "cr"}, "dw.npy").exit_code, 0);
}

TEST(Judge, RefusesWhatIsNoJudgement) {
  const Example example(kText);
  WriteFile(example.Path("text.npy"), "not an array");
  WriteFile(example.Path("short.npy"), ReadFile(example.Path("dw.npy")).substr(0, 200));
  const std::vector<std::pair<Words, std::string>> refused = {
      {{"--problem", kText}, "text.npy"},
      {{"--problem", kText}, "short.npy"},
      {{"--problem", kText}, "absent.npy"},
      {{"--problem", "n2_i6x7_c4_k3x2_o6_g2_same_f32"}, "dw.npy"},
      {{"--problem", "n2_i6x7_c4_k3x2_o6_s2x1_g2_same_f64"}, "dw.npy"},
      {{"--problem", kText, "--padding", "same"}, "dw.npy"},
      {{}, "dw.npy"},
      {{"--padding", "full"}, "dw.npy"},
      {{"--padding", "1,2,3"}, "dw.npy"},
      {{"--padding", "same", "--strides", "2"}, "dw.npy"},
      {{"--padding", "same", "--strides", "3,1"}, "dw.npy"},
      {{"--padding", "same", "--strides", "2,1", "--data-format", "NHCW"}, "dw.npy"},
      {{"--problem", kText, "--actual-layout", "iohw"}, "dw.npy"},
      {{"--problem", kText, "--class", "wide:f16"}, "dw.npy"},
  };
  for (const auto& [words, actual] : refused) {
    const Finished finished = example.Judge(words, actual);
    EXPECT_EQ(finished.exit_code, 2) << actual << "\n" << finished.out << finished.err;
    EXPECT_EQ(finished.err.find("wgrad: error: "), 0u) << finished.err;
  }
  EXPECT_EQ(refused.size(), 14u);
}

TEST(Run, StoresAResultThatJudgePasses) {
  const Example example(kText);
  Words candidates = {"reference", "openblas"};
  if (kHasOneDnn) candidates.emplace_back("onednn");
  for (const std::string& candidate : candidates) {
    const Finished run = Wgrad({"run", candidate, "--problem", kText, "--input", example.Path("x.npy"),
                                "--out-backprop", example.Path("dy.npy"), "--output", example.Path("out.npy")});
    ASSERT_EQ(run.exit_code, 0) << candidate << run.err;
    EXPECT_EQ(example.Judge({"--problem", kText, "--class", "order"}, "out.npy").exit_code, 0) << candidate;
  }
  EXPECT_EQ(Wgrad({"run", "reference", "--problem", kText, "--input", example.Path("x.npy"), "--out-backprop",
                   example.Path("dy.npy"), "--output", example.Path("out.npy")})
                .exit_code,
            0);
  EXPECT_EQ(ReadFile(example.Path("out.npy")), ReadFile(example.Path("dw.npy")));
}

TEST(Run, RefusesTensorsOfAnotherShape) {
  const Example example(kText);
  const Finished finished = Wgrad({"run", "openblas", "--problem", kText, "--input", example.Path("dy.npy"),
                                   "--out-backprop", example.Path("dy.npy"), "--output", example.Path("out.npy")});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("input is [2, 3, 7, 6]"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace wgrad::test
