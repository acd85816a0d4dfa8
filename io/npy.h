// NumPy's .npy files as tensors: formats 1.0 to 3.0, little-endian, row-major. bfloat16 is read as ml_dtypes saves it
// (two bytes of void) and, where the caller expects bfloat16, also as uint16 bits.
#pragma once

#include <filesystem>
#include <optional>

#include "core/dtype.h"
#include "core/result.h"
#include "core/tensor.h"

namespace wgrad::io {

/// Reads the whole file. Nothing is allocated before the sizes in the header agree with the file's own size.
/// Errors, one sentence with path, field, value and rule: kNotFound, kUnavailable (unreadable), kBadFile (no .npy file,
/// truncated, Fortran order, big-endian, another dtype), kTooLarge (shape).
Result<Tensor> ReadNpy(const std::filesystem::path& path, std::optional<DType> expected = std::nullopt);

/// Writes format 1.0 under a temporary name beside `path`, then renames. Error: kUnavailable.
Status WriteNpy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace wgrad::io
