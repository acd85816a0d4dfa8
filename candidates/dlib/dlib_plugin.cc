// dlib's convolution on the CPU (dlib::cpu::tensor_conv) as a plugin: one image at a time unrolled into a matrix and
// multiplied by BLAS. dlib pads both sides alike and by less than the filter; any other padding is put around the
// images before. They are brought into NCHW, the only layout it has.
#include <dlib/cuda/cpu_dlib.h>
#include <dlib/cuda/tensor.h>
#include <dlib/revision.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>

#include "candidates/plugin/wgrad_plugin.h"

// Of OpenBLAS, where that is the system's BLAS.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));

namespace {

using dlib::resizable_tensor;

struct Sizes {
  int64_t batch;
  int64_t depth;
  int64_t height;
  int64_t width;
};

// Zeros around a plane.
struct Border {
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;
};

int64_t PositionOf(int32_t data_format, const Sizes& sizes, int64_t n, int64_t c, int64_t h, int64_t w) {
  return data_format == WGRAD_NCHW ? ((n * sizes.depth + c) * sizes.height + h) * sizes.width + w
                                   : ((n * sizes.height + h) * sizes.width + w) * sizes.depth + c;
}

bool PadsItself(const wgrad_call& call) {
  return call.pad_top == call.pad_bottom && call.pad_left == call.pad_right && call.pad_top < call.filter_height &&
         call.pad_left < call.filter_width;
}

// `tensor` as dlib has it, [batch, depth, height, width], and with zeros around each plane.
resizable_tensor Planes(const float* tensor, int32_t data_format, const Sizes& sizes, const Border& border) {
  const int64_t height = border.top + sizes.height + border.bottom;
  const int64_t width = border.left + sizes.width + border.right;
  resizable_tensor planes(sizes.batch, sizes.depth, height, width);
  planes = 0;
  float* const to = planes.host();
  for (int64_t n = 0; n < sizes.batch; ++n) {
    for (int64_t c = 0; c < sizes.depth; ++c) {
      for (int64_t h = 0; h < sizes.height; ++h) {
        float* const row = to + ((n * sizes.depth + c) * height + border.top + h) * width + border.left;
        for (int64_t w = 0; w < sizes.width; ++w) row[w] = tensor[PositionOf(data_format, sizes, n, c, h, w)];
      }
    }
  }
  return planes;
}

void Compute(const wgrad_call& call) {
  const bool by_itself = PadsItself(call);
  const Border border = by_itself ? Border{} : Border{call.pad_top, call.pad_bottom, call.pad_left, call.pad_right};
  const resizable_tensor input = Planes(static_cast<const float*>(call.input), call.data_format,
                                        {call.batch, call.input_depth, call.input_height, call.input_width}, border);
  const resizable_tensor out_backprop =
      Planes(static_cast<const float*>(call.out_backprop), call.data_format,
             {call.batch, call.out_depth, call.output_height, call.output_width}, Border{});
  resizable_tensor filter_backprop(call.out_depth, call.filter_depth, call.filter_height, call.filter_width);
  // What dlib leaves unwritten shall show.
  filter_backprop = std::numeric_limits<float>::quiet_NaN();
  dlib::cpu::tensor_conv convolution;
  convolution.setup(input, filter_backprop, static_cast<int>(call.stride_height), static_cast<int>(call.stride_width),
                    static_cast<int>(by_itself ? call.pad_top : 0), static_cast<int>(by_itself ? call.pad_left : 0));
  convolution.get_gradient_for_filters(false, out_backprop, input, filter_backprop);
  std::copy(filter_backprop.begin(), filter_backprop.end(), static_cast<float*>(call.filter_backprop));
}

int Say(const wgrad_call& call, wgrad_code code, const char* what) {
  std::snprintf(call.message, call.message_size, "dlib: %s", what);
  return code;
}

std::string Capabilities() {
  const std::string version = std::to_string(DLIB_MAJOR_VERSION) + "." + std::to_string(DLIB_MINOR_VERSION) + "." +
                              std::to_string(DLIB_PATCH_VERSION);
  return "{\"name\": \"dlib\", \"version\": \"" + version + "\", \"libraries\": {\"dlib\": \"" + version +
         "\"}, \"dtypes\": [\"f32\"], \"dilation\": false, \"groups\": false, \"zero_sizes\": false, "
         "\"restart_after_error\": true, "
         "\"accuracy_class\": {\"f32\": \"order\"}, \"pad\": \"multiply\", \"deterministic\": true, \"result_layout\": "
         "\"oihw\"}";
}

}  // namespace

int wgrad_plugin_version() { return WGRAD_PLUGIN_VERSION; }

const char* wgrad_capabilities() {
  static const std::string text = Capabilities();
  return text.c_str();
}

int wgrad_filter_gradient(const wgrad_call* call) {
  if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
  try {
    Compute(*call);
    return WGRAD_OK;
  } catch (const std::exception& error) {
    return Say(*call, WGRAD_ERROR, error.what());
  }
}
