// Tensors in JSON, bit for bit: hexadecimal patterns where they are few, base64 of little-endian bytes where many.
#pragma once

#include <string>
#include <vector>

#include "core/dtype.h"
#include "core/result.h"
#include "core/tensor.h"
#include "io/json.h"

namespace wgrad::vectors {

inline constexpr std::int64_t kMaxHexElements = 256;

/// {"bits": ["3f800000", ..]} up to kMaxHexElements, {"base64": ".."} above. Row-major.
io::Json TensorToJson(const Tensor& tensor);

/// The tensor at `pointer` of `root`, which must have this dtype and shape. Errors (kBadText): the pointer, what stands
/// there, what is due; also the form that is not the one for so many elements.
Result<Tensor> TensorFromJson(const io::Json& root, const std::string& pointer, DType dtype,
                              const std::vector<std::int64_t>& shape);

}  // namespace wgrad::vectors
