// Validation against what TensorFlow answered for wrong, degenerate and unusual arguments (tests/data/tensorflow).
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/problem.h"

namespace wgrad {
namespace {

using Json = nlohmann::json;
using List = std::vector<std::int64_t>;

// The arguments of a recorded call, or nothing where they have types that OpArguments cannot hold.
std::optional<OpArguments> ReadArguments(const Json& row) {
  const Json& padding = row["padding"];
  const bool is_list = padding.is_array() && padding.size() > 0 && padding[0].is_array();
  if (row.contains("filter_sizes_dtype") || row.value("entry", "") == "raw_v2") return std::nullopt;
  if (!row["strides"].is_array() || !(padding.is_string() || is_list)) return std::nullopt;
  if (row.contains("dilations") && !row["dilations"].is_array()) return std::nullopt;
  OpArguments arguments;
  arguments.dtype = row["dtype"];
  arguments.out_backprop_dtype = row.value("out_backprop_dtype", arguments.dtype);
  arguments.input_shape = row["input_shape"].get<List>();
  arguments.out_backprop_shape = row["out_backprop_shape"].get<List>();
  arguments.strides = row["strides"].get<List>();
  arguments.explicit_paddings = row.value("explicit_paddings", List{});
  arguments.dilations = row.value("dilations", List{1, 1, 1, 1});
  if (row.contains("data_format") && row["data_format"].is_string()) arguments.data_format = row["data_format"];
  const Json& sizes = row["filter_sizes"];
  if (!sizes.is_array()) {
    arguments.filter_sizes_rank = 0;
  } else if (!sizes.empty() && sizes[0].is_array()) {
    arguments.filter_sizes_rank = 2;
  } else {
    arguments.filter_sizes = sizes.get<List>();
  }
  if (is_list) {
    arguments.padding = padding.get<PaddingPairs>();
  } else {
    arguments.padding = padding.get<std::string>();
  }
  return arguments;
}

TEST(Validate, RefusesWhatAllOfTensorFlowRefusesAndNothingThatAllComputes) {
  std::ifstream file(WGRAD_TEST_DATA "/tensorflow/arguments.jsonl");
  int rows = 0, valid = 0, computed_by_all = 0, refused_by_all = 0;
  for (std::string line; std::getline(file, line);) {
    const Json row = Json::parse(line);
    const std::string id = row["id"];
    const auto arguments = ReadArguments(row);
    if (!arguments) continue;
    int computed = 0, refused = 0;
    for (const Json& answer : row["results"]) {
      computed += answer.contains("error") || answer.contains("died") ? 0 : 1;
      refused += answer.contains("error") ? 1 : 0;
    }
    const int routes = static_cast<int>(row["results"].size());
    const bool ok = Validate(*arguments).ok();
    EXPECT_TRUE(ok || computed < routes) << id;
    EXPECT_TRUE(!ok || refused < routes) << id;
    ++rows;
    valid += ok ? 1 : 0;
    computed_by_all += computed == routes ? 1 : 0;
    refused_by_all += refused == routes ? 1 : 0;
  }
  EXPECT_EQ(rows, 88);
  EXPECT_EQ(valid, 18);
  EXPECT_EQ(computed_by_all, 9);
  EXPECT_EQ(refused_by_all, 49);
}

}  // namespace
}  // namespace wgrad
