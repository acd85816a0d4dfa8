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

#include "candidates/plugin/images.h"
#include "candidates/plugin/wgrad_plugin.h"

// Of OpenBLAS, where that is the system's BLAS.
extern "C" void openblas_set_num_threads(int threads) __attribute__((weak));

namespace {

using dlib::resizable_tensor;

bool PadsItself(const wgrad_call& call) {
  return call.pad_top == call.pad_bottom && call.pad_left == call.pad_right && call.pad_top < call.filter_height &&
         call.pad_left < call.filter_width;
}

// `tensor` as dlib has it, [batch, depth, height, width], and with zeros around each plane.
resizable_tensor Planes(const void* tensor, int32_t data_format, const images::Sizes& sizes,
                        const images::Border& border) {
  const images::Sizes padded = images::Padded(sizes, border);
  resizable_tensor planes(padded.batch, padded.depth, padded.height, padded.width);
  planes = 0;
  float* const to = planes.host();
  images::CopyInside<float>(tensor, data_format, sizes, border, WGRAD_NCHW,
                            [&](int64_t n) { return to + n * images::CountOf(padded); });
  return planes;
}

void Compute(const wgrad_call& call) {
  const bool by_itself = PadsItself(call);
  const images::Border border = by_itself ? images::Border{} : images::PaddingOf(call);
  const resizable_tensor input = Planes(call.input, call.data_format, images::InputSizes(call), border);
  const resizable_tensor out_backprop = Planes(call.out_backprop, call.data_format, images::OutBackpropSizes(call), {});
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
