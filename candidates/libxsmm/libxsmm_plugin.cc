// libxsmm's convolution (libxsmm_dnn) as a plugin, its weight update on one thread. Variants are what a caller may
// choose:
//
//   blocked   the library's own layout, zeros around the images put there before
//   physical  the library's own layout, and the library told which of these zeros are padding
//   logical   the library's own layout, images without zeros, and the library told to pad
//   nhwc      NHWC images and an HWIO filter, zeros around the images put there before
#include <libxsmm.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "candidates/plugin/images.h"
#include "candidates/plugin/wgrad_plugin.h"

namespace {

struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Variant {
  bool blocked;        // the library's own layout
  bool zeros_around;   // in the images
  bool tells_padding;  // to the library
};

Variant VariantOf(const wgrad_call& call) {
  const std::string_view name = call.variant;
  if (name == "physical") return {true, true, true};
  if (name == "logical") return {true, false, true};
  return {name != "nhwc", true, false};
}

void Check(libxsmm_dnn_err_t status) {
  if (status != LIBXSMM_DNN_SUCCESS) throw std::runtime_error(libxsmm_dnn_get_error(status));
}

struct Free {
  void operator()(void* memory) const { libxsmm_free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

// Full of NaN: what is read before or not written at all shall show.
Memory Allocate(size_t bytes) {
  Memory memory(libxsmm_aligned_malloc(bytes, 64));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory.get(), 0xFF, bytes);
  return memory;
}

class Layer {
 public:
  explicit Layer(const libxsmm_dnn_conv_desc& description) {
    libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
    layer_.reset(libxsmm_dnn_create_conv_layer(description, &status));
    Check(status);
  }

  // A tensor of its own as the layer's `type`.
  libxsmm_dnn_tensor* Add(libxsmm_dnn_tensor_type type) {
    libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
    const std::unique_ptr<libxsmm_dnn_tensor_datalayout, Destroy> layout(
        libxsmm_dnn_create_tensor_datalayout(layer_.get(), type, &status));
    Check(status);
    memory_.push_back(Allocate(libxsmm_dnn_get_tensor_size(layout.get(), &status)));
    tensors_.emplace_back(libxsmm_dnn_link_tensor(layout.get(), memory_.back().get(), &status));
    Check(status);
    Check(libxsmm_dnn_bind_tensor(layer_.get(), tensors_.back().get(), type));
    return tensors_.back().get();
  }

  void UpdateWeights() {
    libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
    const size_t bytes = libxsmm_dnn_get_scratch_size(layer_.get(), LIBXSMM_DNN_COMPUTE_KIND_UPD, &status);
    Check(status);
    memory_.push_back(Allocate(bytes + 1));
    if (bytes > 0) Check(libxsmm_dnn_bind_scratch(layer_.get(), LIBXSMM_DNN_COMPUTE_KIND_UPD, memory_.back().get()));
    Check(libxsmm_dnn_execute_st(layer_.get(), LIBXSMM_DNN_COMPUTE_KIND_UPD, 0, 0));
  }

 private:
  struct Destroy {
    void operator()(libxsmm_dnn_layer* layer) const { libxsmm_dnn_destroy_conv_layer(layer); }
    void operator()(libxsmm_dnn_tensor* tensor) const { libxsmm_dnn_destroy_tensor(tensor); }
    void operator()(libxsmm_dnn_tensor_datalayout* layout) const { libxsmm_dnn_destroy_tensor_datalayout(layout); }
  };

  std::vector<Memory> memory_;
  std::vector<std::unique_ptr<libxsmm_dnn_tensor, Destroy>> tensors_;
  std::unique_ptr<libxsmm_dnn_layer, Destroy> layer_;
};

libxsmm_dnn_conv_desc DescriptionOf(const wgrad_call& call, const Variant& variant) {
  const bool extended = variant.zeros_around && !variant.tells_padding;
  libxsmm_dnn_conv_desc description{};
  description.N = static_cast<int>(call.batch);
  description.C = static_cast<int>(call.input_depth);
  description.H = static_cast<int>(call.input_height + (extended ? call.pad_top + call.pad_bottom : 0));
  description.W = static_cast<int>(call.input_width + (extended ? call.pad_left + call.pad_right : 0));
  description.K = static_cast<int>(call.out_depth);
  description.R = static_cast<int>(call.filter_height);
  description.S = static_cast<int>(call.filter_width);
  description.u = static_cast<int>(call.stride_height);
  description.v = static_cast<int>(call.stride_width);
  if (variant.tells_padding) {
    description.pad_h = static_cast<int>(call.pad_top);
    description.pad_w = static_cast<int>(call.pad_left);
  }
  if (variant.tells_padding && variant.zeros_around) {
    description.pad_h_in = description.pad_h;
    description.pad_w_in = description.pad_w;
  }
  description.threads = 1;
  description.datatype_in = LIBXSMM_DNN_DATATYPE_F32;
  description.datatype_out = LIBXSMM_DNN_DATATYPE_F32;
  description.buffer_format = variant.blocked ? LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM : LIBXSMM_DNN_TENSOR_FORMAT_NHWC;
  description.filter_format = variant.blocked ? LIBXSMM_DNN_TENSOR_FORMAT_LIBXSMM : LIBXSMM_DNN_TENSOR_FORMAT_RSCK;
  description.algo = LIBXSMM_DNN_CONV_ALGO_DIRECT;
  description.options = LIBXSMM_DNN_CONV_OPTION_OVERWRITE;
  description.fuse_ops = LIBXSMM_DNN_CONV_FUSE_NONE;
  return description;
}

// `tensor` with zeros around each image, as planes (NCHW) or pixels (NHWC).
std::vector<float> Images(const void* tensor, int32_t data_format, const images::Sizes& sizes,
                          const images::Border& border, bool planes) {
  const images::Sizes padded = images::Padded(sizes, border);
  std::vector<float> result(padded.batch * images::CountOf(padded), 0.0F);
  images::CopyInside<float>(tensor, data_format, sizes, border, planes ? WGRAD_NCHW : WGRAD_NHWC,
                            [&](int64_t n) { return result.data() + n * images::CountOf(padded); });
  return result;
}

void CopyIn(const std::vector<float>& images, bool blocked, libxsmm_dnn_tensor* tensor) {
  if (blocked) {
    Check(libxsmm_dnn_copyin_tensor(tensor, images.data(), LIBXSMM_DNN_TENSOR_FORMAT_NCHW));
    return;
  }
  libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
  std::memcpy(libxsmm_dnn_get_tensor_data_ptr(tensor, &status), images.data(), images.size() * sizeof(float));
  Check(status);
}

// OIHW to the HWIO of the call.
void Turn(const std::vector<float>& filter, const wgrad_call& call) {
  const int64_t taps = call.filter_height * call.filter_width;
  float* to = static_cast<float*>(call.filter_backprop);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t ic = 0; ic < call.filter_depth; ++ic) {
      for (int64_t oc = 0; oc < call.out_depth; ++oc) *to++ = filter[(oc * call.filter_depth + ic) * taps + tap];
    }
  }
}

void CopyOut(const libxsmm_dnn_tensor* tensor, bool blocked, const wgrad_call& call) {
  std::vector<float> filter(call.filter_height * call.filter_width * call.filter_depth * call.out_depth);
  if (blocked) {
    Check(libxsmm_dnn_copyout_tensor(tensor, filter.data(), LIBXSMM_DNN_TENSOR_FORMAT_KCRS));
    Turn(filter, call);
    return;
  }
  libxsmm_dnn_err_t status = LIBXSMM_DNN_SUCCESS;
  std::memcpy(call.filter_backprop, libxsmm_dnn_get_tensor_data_ptr(tensor, &status), filter.size() * sizeof(float));
  Check(status);
}

void Compute(const wgrad_call& call) {
  const Variant variant = VariantOf(call);
  if (variant.tells_padding && (call.pad_top != call.pad_bottom || call.pad_left != call.pad_right))
    throw Unsupported("padding that differs by side");
  const images::Border border = variant.zeros_around ? images::PaddingOf(call) : images::Border{};
  Layer layer(DescriptionOf(call, variant));
  CopyIn(Images(call.input, call.data_format, images::InputSizes(call), border, variant.blocked), variant.blocked,
         layer.Add(LIBXSMM_DNN_REGULAR_INPUT));
  CopyIn(Images(call.out_backprop, call.data_format, images::OutBackpropSizes(call), {}, variant.blocked),
         variant.blocked, layer.Add(LIBXSMM_DNN_GRADIENT_OUTPUT));
  const libxsmm_dnn_tensor* filter = layer.Add(LIBXSMM_DNN_GRADIENT_FILTER);
  layer.UpdateWeights();
  CopyOut(filter, variant.blocked, call);
}

int Say(const wgrad_call& call, wgrad_code code, const char* what) {
  std::snprintf(call.message, call.message_size, "libxsmm: %s", what);
  return code;
}

std::string Capabilities() {
  libxsmm_init();
  return std::string("{\"name\": \"libxsmm\", \"version\": \"") + LIBXSMM_VERSION +
         "\", \"libraries\": {\"libxsmm\": \"" + LIBXSMM_VERSION + ", " + libxsmm_get_target_arch() +
         "\"}, \"variants\": [\"blocked\", \"physical\", \"logical\", \"nhwc\"], \"dtypes\": [\"f32\"], "
         "\"dilation\": false, \"groups\": false, \"zero_sizes\": false, \"accuracy_class\": {\"f32\": \"order\"}, "
         "\"pad\": \"either\", \"deterministic\": true}";
}

}  // namespace

int wgrad_plugin_version() { return WGRAD_PLUGIN_VERSION; }

const char* wgrad_capabilities() {
  static const std::string text = Capabilities();
  return text.c_str();
}

int wgrad_filter_gradient(const wgrad_call* call) {
  try {
    Compute(*call);
    return WGRAD_OK;
  } catch (const Unsupported& error) {
    return Say(*call, WGRAD_UNSUPPORTED, error.what());
  } catch (const std::exception& error) {
    return Say(*call, WGRAD_ERROR, error.what());
  }
}
