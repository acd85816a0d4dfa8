#include "core/problem.h"

#include "core/check.h"

namespace wgrad {
namespace {

template <typename T>
std::vector<T> InFormat(DataFormat format, T n, T h, T w, T c) {
  if (format == DataFormat::kNhwc) return {n, h, w, c};
  return {n, c, h, w};
}

}  // namespace

std::vector<std::int64_t> Problem::input_shape() const {
  return InFormat(data_format_, batch_, rows_.input, columns_.input, input_depth());
}

std::vector<std::int64_t> Problem::out_backprop_shape() const {
  return InFormat(data_format_, batch_, rows_.output, columns_.output, out_depth_);
}

std::vector<std::int64_t> Problem::filter_sizes() const {
  return {rows_.filter, columns_.filter, filter_depth_, out_depth_};
}

std::int64_t Problem::input_count() const { return batch_ * rows_.input * columns_.input * input_depth(); }
std::int64_t Problem::out_backprop_count() const { return positions() * out_depth_; }
std::int64_t Problem::filter_count() const { return rows_.filter * columns_.filter * filter_depth_ * out_depth_; }

std::int64_t Problem::InputOffset(std::int64_t n, std::int64_t ih, std::int64_t iw, std::int64_t c) const {
  if (data_format_ == DataFormat::kNhwc) return ((n * rows_.input + ih) * columns_.input + iw) * input_depth() + c;
  return ((n * input_depth() + c) * rows_.input + ih) * columns_.input + iw;
}

std::int64_t Problem::OutBackpropOffset(std::int64_t n, std::int64_t oh, std::int64_t ow, std::int64_t oc) const {
  if (data_format_ == DataFormat::kNhwc) return ((n * rows_.output + oh) * columns_.output + ow) * out_depth_ + oc;
  return ((n * out_depth_ + oc) * rows_.output + oh) * columns_.output + ow;
}

std::int64_t Problem::FilterOffset(std::int64_t kh, std::int64_t kw, std::int64_t ic, std::int64_t oc) const {
  return ((kh * columns_.filter + kw) * filter_depth_ + ic) * out_depth_ + oc;
}

OpArguments Problem::arguments() const {
  OpArguments arguments;
  arguments.dtype = arguments.out_backprop_dtype = NameOf(dtype_);
  if (result_dtype_ != dtype_) arguments.result_dtype = NameOf(result_dtype_);
  arguments.input_shape = input_shape();
  arguments.filter_sizes = filter_sizes();
  arguments.out_backprop_shape = out_backprop_shape();
  arguments.strides = InFormat<std::int64_t>(data_format_, 1, rows_.stride, columns_.stride, 1);
  arguments.dilations = InFormat<std::int64_t>(data_format_, 1, rows_.dilation, columns_.dilation, 1);
  arguments.data_format = data_format_ == DataFormat::kNhwc ? "NHWC" : "NCHW";
  static constexpr const char* kWords[] = {"SAME", "VALID", "EXPLICIT"};
  arguments.padding = std::string(kWords[static_cast<int>(padding_)]);
  if (padding_ == Padding::kExplicit) {
    using Pair = std::pair<std::int64_t, std::int64_t>;
    const Pair none{0, 0};
    const Pair height{rows_.pad_before, rows_.pad_after};
    const Pair width{columns_.pad_before, columns_.pad_after};
    for (const auto& [before, after] : InFormat(data_format_, none, height, width, none)) {
      arguments.explicit_paddings.push_back(before);
      arguments.explicit_paddings.push_back(after);
    }
  }
  return arguments;
}

Problem WithDType(const Problem& problem, DType dtype, DType result_dtype) {
  OpArguments arguments = problem.arguments();
  arguments.dtype = arguments.out_backprop_dtype = NameOf(dtype);
  arguments.result_dtype = result_dtype == dtype ? "" : std::string(NameOf(result_dtype));
  return Validate(arguments).value();
}

Result<Problem> WithBatchTimes(const Problem& problem, std::int64_t factor) {
  OpArguments arguments = problem.arguments();
  std::int64_t batch = 0;
  if (factor < 0 || __builtin_mul_overflow(problem.batch(), factor, &batch)) {
    return Error{ErrorCode::kTooLarge, "batch " + std::to_string(problem.batch()) + " times " + std::to_string(factor) +
                                           " is not a size below 2^63"};
  }
  arguments.input_shape[0] = arguments.out_backprop_shape[0] = batch;
  return Validate(arguments);
}

}  // namespace wgrad
