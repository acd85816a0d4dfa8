// tiny-dnn's convolution kernels as a plugin. They compute one result for each image, which the library's training then
// adds up; so does this file. They have no padding: it is put around the images before. Variant "internal" is the plain
// kernel, "avx" the one with its own code for 5x5 filters.
#ifdef __AVX__
#define CNN_USE_AVX
#endif
// The kernels and what they need, in this order, and not tiny_dnn/tiny_dnn.h: Debian's package lacks headers of that.
// clang-format off
#include <tiny_dnn/util/util.h>
#include <tiny_dnn/util/product.h>
#include <tiny_dnn/core/params/conv_params.h>
#include <tiny_dnn/core/kernels/conv2d_grad_op_avx.h>
// clang-format on

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string_view>
#include <type_traits>
#include <vector>

#include "candidates/plugin/images.h"
#include "candidates/plugin/wgrad_plugin.h"

namespace {

template <typename T>
using Vector = std::vector<T, tiny_dnn::aligned_allocator<T, 64>>;

// One vector for each image, as the kernels take it.
template <typename T>
using Images = std::vector<Vector<T>>;

// `tensor` as [depth, height, width] for each image, and with zeros around each plane.
template <typename T>
Images<T> Planes(const void* tensor, int32_t data_format, const images::Sizes& sizes, const images::Border& border) {
  Images<T> planes(sizes.batch, Vector<T>(images::CountOf(images::Padded(sizes, border)), T(0)));
  images::CopyInside<T>(tensor, data_format, sizes, border, WGRAD_NCHW, [&](int64_t n) { return planes[n].data(); });
  return planes;
}

tiny_dnn::serial_size_t Size(int64_t size) { return static_cast<tiny_dnn::serial_size_t>(size); }

tiny_dnn::shape3d Shape(int64_t width, int64_t height, int64_t depth) {
  return {Size(width), Size(height), Size(depth)};
}

tiny_dnn::core::conv_params Parameters(const wgrad_call& call) {
  tiny_dnn::core::conv_params parameters;
  if (call.groups > 1) parameters.tbl = {Size(call.groups), Size(call.input_depth), Size(call.out_depth)};
  parameters.in_padded = Shape(call.input_width + call.pad_left + call.pad_right,
                               call.input_height + call.pad_top + call.pad_bottom, call.input_depth);
  parameters.in = parameters.in_padded;
  parameters.out = Shape(call.output_width, call.output_height, call.out_depth);
  parameters.weight = Shape(call.filter_width, call.filter_height, call.input_depth * call.out_depth);
  parameters.has_bias = false;
  parameters.pad_type = tiny_dnn::padding::valid;
  parameters.w_stride = Size(call.stride_width);
  parameters.h_stride = Size(call.stride_height);
  return parameters;
}

// The kernels want all input channels for each out channel, also where a group joins only some of them.
int64_t FilterElements(const wgrad_call& call) {
  return call.out_depth * call.input_depth * call.filter_height * call.filter_width;
}

// The gradient of each image, [out_depth, input_depth, filter_height, filter_width].
template <typename T>
Images<T> Gradients(const wgrad_call& call) {
  const Images<T> input = Planes<T>(call.input, call.data_format, images::InputSizes(call), images::PaddingOf(call));
  Images<T> out_backprop = Planes<T>(call.out_backprop, call.data_format, images::OutBackpropSizes(call), {});
  // The kernels compute the gradient of the input as well; nobody looks at it.
  Images<T> input_gradient = input;
  for (Vector<T>& image : input_gradient) std::fill(image.begin(), image.end(), T(0));
  const Vector<T> filter(FilterElements(call), T(0));
  Images<T> gradients(call.batch, filter);
  Images<T> no_bias(call.batch);
  const tiny_dnn::core::conv_params parameters = Parameters(call);
  if constexpr (std::is_same_v<T, float>) {
    if (std::string_view(call.variant) == "avx") {
      tiny_dnn::kernels::conv2d_grad_op_avx(input, filter, gradients, no_bias, out_backprop, input_gradient, parameters,
                                            false);
      return gradients;
    }
  }
  tiny_dnn::kernels::conv2d_op_internal(input, filter, gradients, no_bias, out_backprop, input_gradient, parameters,
                                        false);
  return gradients;
}

// Of every out channel only the input channels of its group, [out_depth, filter_depth, filter_height, filter_width].
template <typename T>
void AddUp(const wgrad_call& call, const Images<T>& gradients) {
  const int64_t taps = call.filter_height * call.filter_width;
  T* to = static_cast<T*>(call.filter_backprop);
  for (int64_t oc = 0; oc < call.out_depth; ++oc) {
    const int64_t group = oc / (call.out_depth / call.groups);
    const int64_t first = (oc * call.input_depth + group * call.filter_depth) * taps;
    for (int64_t at = first; at < first + call.filter_depth * taps; ++at) {
      T sum = 0;
      for (const Vector<T>& gradient : gradients) sum += gradient[at];
      *to++ = sum;
    }
  }
}

int Say(const wgrad_call& call, wgrad_code code, const char* what) {
  std::snprintf(call.message, call.message_size, "tiny-dnn: %s", what);
  return code;
}

// Where the kernels assert.
bool HasEmptyPlane(const wgrad_call& call) {
  return std::min({call.input_height, call.input_width, call.filter_height, call.filter_width, call.output_height,
                   call.output_width}) == 0;
}

int Compute(const wgrad_call& call) {
  if (HasEmptyPlane(call)) return Say(call, WGRAD_UNSUPPORTED, "no planes without elements");
  if (call.dtype == WGRAD_F32) {
    AddUp(call, Gradients<float>(call));
    return WGRAD_OK;
  }
  if (std::string_view(call.variant) == "avx") return Say(call, WGRAD_UNSUPPORTED, "the AVX kernel is for float only");
  AddUp(call, Gradients<double>(call));
  return WGRAD_OK;
}

}  // namespace

int wgrad_plugin_version() { return WGRAD_PLUGIN_VERSION; }

const char* wgrad_capabilities() {
#ifdef CNN_USE_AVX
#define WGRAD_VARIANTS "\"internal\", \"avx\""
#else
#define WGRAD_VARIANTS "\"internal\""
#endif
  // The headers have no version number; this one is Debian's.
  return "{\"name\": \"tinydnn\", \"version\": \"1.0.0a3\", \"libraries\": {\"tiny-dnn\": \"1.0.0a3\"}, "
         "\"variants\": [" WGRAD_VARIANTS
         "], \"dtypes\": [\"f32\", \"f64\"], \"dilation\": false, "
         "\"accuracy_class\": {\"f32\": \"order\", \"f64\": \"order\"}, \"pad\": \"multiply\", "
         "\"deterministic\": true, \"result_layout\": \"oihw\"}";
}

int wgrad_filter_gradient(const wgrad_call* call) {
  try {
    return Compute(*call);
  } catch (const std::exception& error) {
    return Say(*call, WGRAD_ERROR, error.what());
  }
}
