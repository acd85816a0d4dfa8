// The arguments of TensorFlow's conv2d_backprop_filter as a caller gives them: anything at all.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wgrad {

/// A list of lists, as the Python wrapper takes explicit padding; right is four pairs (before, after).
using PaddingPairs = std::vector<std::vector<std::int64_t>>;

/// Names, order and defaults are TensorFlow's. Tensors appear by dtype and shape only.
/// `padding` is a word ("SAME", "VALID", or "EXPLICIT" with `explicit_paddings`), or the wrapper's pairs.
struct OpArguments {
  std::string dtype = "f32";
  std::string out_backprop_dtype = "f32";
  std::vector<std::int64_t> input_shape;
  std::vector<std::int64_t> filter_sizes;
  std::int64_t filter_sizes_rank = 1;  // the rank of the filter_sizes tensor itself
  std::vector<std::int64_t> out_backprop_shape;
  std::vector<std::int64_t> strides;
  std::variant<std::string, PaddingPairs> padding = std::string("VALID");
  std::vector<std::int64_t> explicit_paddings;  // the raw op's flat list of 8, in data_format order
  bool use_cudnn_on_gpu = true;                 // accepted, and without effect
  std::string data_format = "NHWC";
  std::vector<std::int64_t> dilations = {1, 1, 1, 1};
  std::string name;
  /// wgrad's extension: "f32" beside half or bfloat16 inputs asks for a float32 result. Empty: the inputs' dtype.
  std::string result_dtype;

  friend bool operator==(const OpArguments&, const OpArguments&) = default;
};

/// A call such as a caller gets it wrong, or the nearest one that is right.
struct ArgumentCase {
  std::string name;  // unique among its suite's
  std::string why;   // what is wrong: "a stride of 0 in rows"
  OpArguments arguments;
};

}  // namespace wgrad
