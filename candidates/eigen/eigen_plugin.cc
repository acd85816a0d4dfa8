// Eigen's tensors as a plugin: image patches and one contraction, the shape of TensorFlow's classic CPU kernel. The
// patches are never stored; the contraction reads through them. One thread, sums in the type of the inputs.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <unsupported/Eigen/CXX11/Tensor>

#include "candidates/plugin/wgrad_plugin.h"

namespace {

using Eigen::Index;

template <typename T, int kRank>
using Map = Eigen::TensorMap<Eigen::Tensor<T, kRank, Eigen::RowMajor>>;

// The patches of a row-major tensor count the axes from the end: what Eigen calls rows is the width here.
template <typename T>
void Compute(const wgrad_call& call) {
  const Map<const T, 4> input(static_cast<const T*>(call.input), call.batch, call.input_height, call.input_width,
                              call.input_depth);
  const Index pixels = call.batch * call.output_height * call.output_width;
  const Index taps = call.filter_height * call.filter_width * call.filter_depth;
  const Map<const T, 2> out_backprop(static_cast<const T*>(call.out_backprop), pixels, call.out_depth);
  Map<T, 2> filter_backprop(static_cast<T*>(call.filter_backprop), taps, call.out_depth);
  const Eigen::array<Eigen::IndexPair<Index>, 1> over_pixels = {Eigen::IndexPair<Index>(0, 0)};
  filter_backprop = input
                        .extract_image_patches(call.filter_width, call.filter_height, call.stride_width,
                                               call.stride_height, call.dilation_width, call.dilation_height, 1, 1,
                                               call.pad_left, call.pad_right, call.pad_top, call.pad_bottom, T(0))
                        .reshape(Eigen::array<Index, 2>{pixels, taps})
                        .contract(out_backprop, over_pixels);
}

// Whether Eigen would assert: an empty batch and no out channels it does, nothing else that is empty.
bool HasNoPatches(const wgrad_call& call) {
  return std::min({call.input_height, call.input_width, call.input_depth, call.filter_height, call.filter_width,
                   call.output_height, call.output_width}) == 0;
}

int Say(const wgrad_call& call, wgrad_code code, const char* what) {
  std::snprintf(call.message, call.message_size, "Eigen: %s", what);
  return code;
}

int ComputeInItsType(const wgrad_call& call) {
  switch (call.dtype) {
    case WGRAD_F16:
      Compute<Eigen::half>(call);
      return WGRAD_OK;
    case WGRAD_BF16:
      Compute<Eigen::bfloat16>(call);
      return WGRAD_OK;
    case WGRAD_F32:
      Compute<float>(call);
      return WGRAD_OK;
    case WGRAD_F64:
      Compute<double>(call);
      return WGRAD_OK;
    default:
      return Say(call, WGRAD_UNSUPPORTED, "unknown dtype");
  }
}

std::string Capabilities() {
  const std::string version = std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) + "." +
                              std::to_string(EIGEN_MINOR_VERSION);
  return "{\"name\": \"eigen\", \"version\": \"" + version + "\", \"libraries\": {\"Eigen\": \"" + version + ", " +
         Eigen::SimdInstructionSetsInUse() +
         "\"}, \"dtypes\": [\"f16\", \"bf16\", \"f32\", \"f64\"], \"data_formats\": [\"NHWC\"], \"groups\": false, "
         "\"accuracy_class\": {\"f16\": \"order:f16\", \"bf16\": \"order:bf16\", \"f32\": \"order\", \"f64\": "
         "\"order\"}, \"pad\": \"multiply\", \"deterministic\": true}";
}

}  // namespace

int wgrad_plugin_version() { return WGRAD_PLUGIN_VERSION; }

const char* wgrad_capabilities() {
  static const std::string text = Capabilities();
  return text.c_str();
}

int wgrad_filter_gradient(const wgrad_call* call) {
  if (HasNoPatches(*call)) return Say(*call, WGRAD_UNSUPPORTED, "no patches of an empty image, filter or output");
  try {
    return ComputeInItsType(*call);
  } catch (const std::exception& error) {
    return Say(*call, WGRAD_ERROR, error.what());
  }
}
