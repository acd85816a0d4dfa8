// darknet's convolutional layer as a plugin, its backward pass on the CPU: each image unrolled into a matrix and
// multiplied by darknet's own gemm. The layer has square filters, one stride and one padding; any padding that is not
// the same on all sides is put around the images before. They are brought into NCHW, the only layout it has.
#include <darknet.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <vector>

#include "candidates/plugin/images.h"
#include "candidates/plugin/wgrad_plugin.h"

// Exported by the library, but not declared in its header.
extern "C" {
layer make_convolutional_layer(int batch, int h, int w, int c, int n, int groups, int size, int stride, int padding,
                               ACTIVATION activation, int batch_normalize, int binary, int xnor, int adam);
void backward_convolutional_layer(layer l, network net);
}

namespace {

// `tensor` as darknet has it, [batch, depth, height, width], and with zeros around each plane.
std::vector<float> Planes(const void* tensor, int32_t data_format, const images::Sizes& sizes,
                          const images::Border& border) {
  const images::Sizes padded = images::Padded(sizes, border);
  std::vector<float> planes(padded.batch * images::CountOf(padded), 0.0F);
  images::CopyInside<float>(tensor, data_format, sizes, border, WGRAD_NCHW,
                            [&](int64_t n) { return planes.data() + n * images::CountOf(padded); });
  return planes;
}

class Layer {
 public:
  Layer(const wgrad_call& call, const images::Border& border, int padding)
      : layer_(make_convolutional_layer(
            static_cast<int>(call.batch), static_cast<int>(border.top + call.input_height + border.bottom),
            static_cast<int>(border.left + call.input_width + border.right), static_cast<int>(call.input_depth),
            static_cast<int>(call.out_depth), static_cast<int>(call.groups), static_cast<int>(call.filter_height),
            static_cast<int>(call.stride_height), padding, LINEAR, 0, 0, 0, 0)),
        workspace_(layer_.workspace_size / sizeof(float) + 1) {}
  ~Layer() { free_layer(layer_); }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  // Darknet's layers add to a gradient that the training has set to zero, as a new layer's is.
  void AddGradient(std::vector<float>& images, const std::vector<float>& out_backprop) {
    std::copy(out_backprop.begin(), out_backprop.end(), layer_.delta);
    network net{};
    net.input = images.data();
    net.workspace = workspace_.data();
    backward_convolutional_layer(layer_, net);
  }

  void CopyGradient(float* to) const { std::copy_n(layer_.weight_updates, layer_.nweights, to); }

 private:
  layer layer_;
  std::vector<float> workspace_;
};

bool PadsItself(const wgrad_call& call) {
  return call.pad_top == call.pad_bottom && call.pad_top == call.pad_left && call.pad_top == call.pad_right;
}

void Compute(const wgrad_call& call) {
  const bool by_itself = PadsItself(call);
  const images::Border border = by_itself ? images::Border{} : images::PaddingOf(call);
  std::vector<float> images = Planes(call.input, call.data_format, images::InputSizes(call), border);
  Layer layer(call, border, by_itself ? static_cast<int>(call.pad_top) : 0);
  layer.AddGradient(images, Planes(call.out_backprop, call.data_format, images::OutBackpropSizes(call), {}));
  layer.CopyGradient(static_cast<float*>(call.filter_backprop));
}

// Where the layer's own output would not be empty: its division drops the fraction of a negative number, too.
bool HasEmptyOutput(const wgrad_call& call) { return std::min(call.output_height, call.output_width) == 0; }

int Say(const wgrad_call& call, wgrad_code code, const char* what) {
  std::snprintf(call.message, call.message_size, "darknet: %s", what);
  return code;
}

}  // namespace

int wgrad_plugin_version() { return WGRAD_PLUGIN_VERSION; }

const char* wgrad_capabilities() {
  // The library has no version number; this one is Debian's. It is built with -Ofast, which also lets the processor
  // flush subnormal numbers from the moment it is loaded.
  return R"({"name": "darknet", "version": "20180914", "libraries": {"darknet": "20180914"}, "dtypes": ["f32"],
      "per_axis_strides": false, "dilation": false, "accuracy_class": {"f32": "order"}, "pad": "multiply",
      "ftz": true, "daz": true, "deterministic": true, "result_layout": "oihw"})";
}

int wgrad_filter_gradient(const wgrad_call* call) {
  if (call->filter_height != call->filter_width) return Say(*call, WGRAD_UNSUPPORTED, "only square filters");
  if (HasEmptyOutput(*call)) return Say(*call, WGRAD_UNSUPPORTED, "no empty output");
  try {
    Compute(*call);
    return WGRAD_OK;
  } catch (const std::exception& error) {
    return Say(*call, WGRAD_ERROR, error.what());
  }
}
