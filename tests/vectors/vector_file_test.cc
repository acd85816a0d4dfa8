#include "vectors/vector_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/random.h"

namespace wgrad::vectors {
namespace {

Tensor Filled(DType dtype, const std::vector<std::int64_t>& shape, std::uint64_t seed) {
  Tensor tensor(dtype, shape);
  for (std::int64_t at = 0; at < tensor.element_count(); ++at) {
    const std::uint64_t mask = SizeOf(dtype) == 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * SizeOf(dtype))) - 1;
    tensor.set_bits(at, SplitMix64(seed, static_cast<std::uint64_t>(at)) & mask);
  }
  return tensor;
}

vectors::Test DataTest(const Problem& problem, const std::string& id) {
  vectors::Test test{id, "data in full", {"special"}};
  test.data =
      Data{Filled(problem.dtype(), problem.input_shape(), 1), Filled(problem.dtype(), problem.out_backprop_shape(), 2)};
  test.expected = Filled(problem.result_dtype(), problem.filter_sizes(), 3);
  return test;
}

VectorFile FileOf(const std::vector<std::string>& problems) {
  VectorFile file{"wgrad test", "a description", {{"special", "NaN and infinities"}}};
  int number = 0;
  for (const std::string& text : problems) {
    const Problem problem = ParseProblem(text).value();
    const std::string id = std::to_string(++number);
    vectors::Test recipe{"recipe " + id, "a recipe", {}, Case{problem, Filling::kNormal, 18446744073709551615u}};
    file.groups.push_back({problem, {DataTest(problem, "data " + id), recipe}});
  }
  return file;
}

bool SameBytes(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() && std::ranges::equal(a.bytes(), b.bytes());
}

TEST(VectorFile, ReadsBackEveryBit) {
  const VectorFile file = FileOf({"n1_i3x2_c1_k2x2_o2_same_f32", "n2_i9x9_c4_k3x3_o4_s2x1_pt1b0l2r1_nchw_f16",
                                  "n1_i2x2_c2_k1x1_o2_g2_valid_bf16_f32", "n3_i4x5_c3_k2x3_o5_d2x1_same_f64",
                                  "n0_i2x2_c1_k1x1_o1_valid_bf16"});
  const std::string text = Format(file);
  const Result<VectorFile> read = Parse(text);
  ASSERT_TRUE(read.ok()) << read.error().message;
  EXPECT_EQ(Format(*read), text);
  EXPECT_EQ(read->test_count(), 10u);
  EXPECT_NE(text.find("\"base64\""), std::string::npos);  // both forms of tensors are there
  EXPECT_NE(text.find("\"bits\""), std::string::npos);
  int compared = 0;
  for (std::size_t g = 0; g < file.groups.size(); ++g) {
    EXPECT_EQ(read->groups[g].problem, file.groups[g].problem);
    const vectors::Test& wrote = file.groups[g].tests[0];
    const vectors::Test& got = read->groups[g].tests[0];
    EXPECT_TRUE(SameBytes(got.data->input, wrote.data->input));
    EXPECT_TRUE(SameBytes(got.data->out_backprop, wrote.data->out_backprop));
    EXPECT_TRUE(SameBytes(*got.expected, *wrote.expected));
    EXPECT_EQ(read->groups[g].tests[1].recipe, file.groups[g].tests[1].recipe);
    ++compared;
  }
  EXPECT_EQ(compared, 5);
}

struct Damage {
  std::string from;
  std::string to;
  std::string message;  // the error's begin
};

TEST(VectorFile, EachDamageGetsItsSentence) {
  const std::string good = Format(FileOf({"n1_i1x2_c1_k1x2_o1_valid_f32"}));
  ASSERT_TRUE(Parse(good).ok());
  const Damage damages[] = {
      {"\"wgrad_vectors\"", "\"wycheproof\"", "at /schema: expected \"wgrad_vectors\", found \"wycheproof\""},
      {"\"version\": 0", "\"version\": 9", "at /version: this wgrad reads version 0, the file has version 9"},
      {"\"version\": 0", "\"version\": \"0\"", "at /version: expected an integer"},
      {"\"count\": 2", "\"count\": 3", "at /count: the file has 2 tests, found 3"},
      {"\"description\"", "\"descripton\"", "at /descripton: unknown key"},
      {"\"special\": ", "\"other\": ", "at /notes: flag \"special\" of \"data 1\" has no note"},
      {"\"recipe 1\"", "\"data 1\"", "at /groups: the id \"data 1\" is there twice"},
      {"\"result\": \"valid\"", "\"result\": \"maybe\"", "at /groups/0/tests/0/result: expected \"valid\""},
      {"k1x2_o1_valid_f32\"", "k1x2_valid_f32\"", "at /groups/0/problem/text: "},
      {"\"strides\": [1, 1, 1, 1]", "\"strides\": [1, 1, 2, 1]",
       "at /groups/0/problem: the call differs from that of its text"},
      {"\"bits\": [", "\"bits\": [\"00000000\", ", "at /groups/0/tests/0/input/bits: expected 2 elements, found 3"},
      {"\"bits\": [\"", "\"bits\": [\"x",
       "at /groups/0/tests/0/input/bits/0: expected 8 lower-case hexadecimal digits"},
      {"\"bits\"", "\"base64\"", "at /groups/0/tests/0/input: a tensor of 2 elements has the one key \"bits\""},
      {"f32/normal/", "f32/abnormal/", "at /groups/0/tests/1/recipe: "},
      {"\"recipe\"", "\"recipes\"", "at /groups/0/tests/1/recipes: unknown key"},
      {"\"comment\": \"a recipe\"", "\"comment\": 7", "at /groups/0/tests/1/comment: expected a string"},
  };
  int refused = 0;
  for (const Damage& damage : damages) {
    std::string text = good;
    const std::size_t at = text.find(damage.from);
    ASSERT_NE(at, std::string::npos) << damage.from << "\n" << good;
    text.replace(at, damage.from.size(), damage.to);
    const Result<VectorFile> read = Parse(text);
    ASSERT_FALSE(read.ok()) << damage.from;
    EXPECT_EQ(read.error().message.substr(0, damage.message.size()), damage.message) << read.error().message;
    ++refused;
  }
  EXPECT_EQ(refused, 16);
}

// Cut anywhere, a file is refused and never crashes the reader.
TEST(VectorFile, EveryTruncationIsRefused) {
  const std::string good = Format(FileOf({"n1_i1x2_c1_k1x2_o1_valid_f32"}));
  int refused = 0;
  for (std::size_t size = 0; size + 2 < good.size(); ++size) refused += Parse(good.substr(0, size)).ok() ? 0 : 1;
  EXPECT_EQ(refused, static_cast<int>(good.size()) - 2);
}

}  // namespace
}  // namespace wgrad::vectors
