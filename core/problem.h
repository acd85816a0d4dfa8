// Problem: a valid call of conv2d_backprop_filter, without its data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.h"
#include "core/geometry.h"
#include "core/op_arguments.h"
#include "core/result.h"

namespace wgrad {

enum class DataFormat : std::uint8_t { kNhwc, kNchw };

/// A validated set of op arguments; only Validate makes one.
///
///   filter_backprop[kh, kw, ic, oc] = sum over n, oh, ow of
///       input(n, oh*stride + kh*dilation - pad, ow*.. + kw*.. - pad, g*filter_depth + ic) * out_backprop(n, oh, ow,
///       oc)
///
/// with g = oc / (out_depth / groups), and input 0 outside the image. Rule G5 of docs/spec.md.
/// filter_backprop is [kh, kw, ic, oc] (HWIO) in both data formats.
class Problem {
 public:
  DType dtype() const { return dtype_; }                // of input and out_backprop
  DType result_dtype() const { return result_dtype_; }  // of filter_backprop
  DataFormat data_format() const { return data_format_; }
  Padding padding() const { return padding_; }
  const Axis& rows() const { return rows_; }
  const Axis& columns() const { return columns_; }
  std::int64_t batch() const { return batch_; }
  std::int64_t input_depth() const { return groups_ * filter_depth_; }  // c
  std::int64_t filter_depth() const { return filter_depth_; }           // ic
  std::int64_t out_depth() const { return out_depth_; }                 // oc
  std::int64_t groups() const { return groups_; }
  std::int64_t out_depth_per_group() const { return out_depth_ / groups_; }

  std::vector<std::int64_t> input_shape() const;         // in data_format's order
  std::vector<std::int64_t> out_backprop_shape() const;  // in data_format's order
  std::vector<std::int64_t> filter_sizes() const;        // kh, kw, ic, oc

  std::int64_t input_count() const;         // elements of input
  std::int64_t out_backprop_count() const;  // elements of out_backprop
  std::int64_t filter_count() const;        // elements of filter_backprop
  /// Positions (n, oh, ow) that an element sums over, padding included.
  std::int64_t positions() const { return batch_ * rows_.output * columns_.output; }
  /// filter_count * positions, padding included.
  std::int64_t multiply_adds() const { return filter_count() * positions(); }

  /// Flat row-major offsets; indices must be in range.
  std::int64_t InputOffset(std::int64_t n, std::int64_t ih, std::int64_t iw, std::int64_t c) const;
  std::int64_t OutBackpropOffset(std::int64_t n, std::int64_t oh, std::int64_t ow, std::int64_t oc) const;
  std::int64_t FilterOffset(std::int64_t kh, std::int64_t kw, std::int64_t ic, std::int64_t oc) const;

  /// The TensorFlow arguments (raw form) that Validate turns into this problem.
  OpArguments arguments() const;

  friend bool operator==(const Problem&, const Problem&) = default;

 private:
  Problem() = default;
  friend Result<Problem> Validate(const OpArguments& arguments);

  DType dtype_ = DType::kFloat32;
  DType result_dtype_ = DType::kFloat32;
  DataFormat data_format_ = DataFormat::kNhwc;
  Padding padding_ = Padding::kValid;
  std::int64_t batch_ = 0;
  std::int64_t filter_depth_ = 0;
  std::int64_t out_depth_ = 0;
  std::int64_t groups_ = 1;
  Axis rows_;
  Axis columns_;
};

/// Checks the rules V0 to V26 of docs/spec.md in that order. The Error (kInvalidArgument) carries the
/// number of the first broken rule and a sentence with field, value and rule.
Result<Problem> Validate(const OpArguments& arguments);

/// A copy of `problem` in another dtype (result dtype the same); all else kept.
Problem WithDType(const Problem& problem, DType dtype, DType result_dtype);
/// A copy of `problem` with the batch multiplied by `factor`; an Error where sizes overflow.
Result<Problem> WithBatchTimes(const Problem& problem, std::int64_t factor);

}  // namespace wgrad
