// The op's arguments as JSON, with TensorFlow's names; and the tensors beside them by dtype and shape.
#pragma once

#include "core/op_arguments.h"
#include "core/result.h"
#include "io/json.h"

namespace wgrad::io {

/// {"filter_sizes", "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format", "dilations"}: what is
/// no tensor. `filter_sizes` is a number where it is a scalar, a list in a list where it has rank 2; `padding` a word
/// or a list of pairs.
Json AttributesToJson(const OpArguments& arguments);

/// Reads such an object with "dtype", "input_shape", "out_backprop_shape" and perhaps "out_backprop_dtype" beside it. A
/// missing key means the op's default. Errors (kBadText): the key, what stands there and what is due; unknown keys are
/// left to the caller.
Result<OpArguments> OpArgumentsFromJson(const Json& call);

}  // namespace wgrad::io
