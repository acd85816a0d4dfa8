/* A plugin with a realistic bug, to see wgrad find it: it works out SAME padding itself and puts the odd cell of a
   total before the image instead of after it. Right wherever the totals are even. float32 and NHWC only. */
#include <string.h>

#include "wgrad_plugin.h"

int wgrad_plugin_version(void) { return WGRAD_PLUGIN_VERSION; }

const char* wgrad_capabilities(void) {
  return "{\"name\": \"wrong\", \"version\": \"1\", \"dtypes\": [\"f32\"], \"data_formats\": [\"NHWC\"],"
         " \"paddings\": [\"SAME\", \"VALID\"], \"accuracy_class\": {\"f32\": \"order\"}, \"pad\": \"skip\"}";
}

static int64_t pad_before(const struct wgrad_call* call, int64_t before, int64_t after) {
  if (call->padding != WGRAD_SAME) return before;
  return (before + after + 1) / 2; /* the bug: TensorFlow takes (before + after) / 2 */
}

/* Adds what one image position (n, oh, ow) contributes to the tap at `tap`, [filter_depth, out_depth]. */
static void accumulate(const struct wgrad_call* call, const float* pixel, const float* gradient, float* tap) {
  const int64_t group_depth = call->out_depth / call->groups;
  for (int64_t ic = 0; ic < call->filter_depth; ++ic) {
    for (int64_t oc = 0; oc < call->out_depth; ++oc) {
      tap[ic * call->out_depth + oc] += pixel[oc / group_depth * call->filter_depth + ic] * gradient[oc];
    }
  }
}

int wgrad_filter_gradient(const struct wgrad_call* call) {
  const int64_t top = pad_before(call, call->pad_top, call->pad_bottom);
  const int64_t left = pad_before(call, call->pad_left, call->pad_right);
  const int64_t taps = call->filter_height * call->filter_width;
  const int64_t tap_size = call->filter_depth * call->out_depth;
  const int64_t positions = call->batch * call->output_height * call->output_width;
  float* result = call->filter_backprop;
  memset(result, 0, (size_t)(taps * tap_size) * sizeof *result);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t at = 0; at < positions; ++at) {
      const int64_t row = at / call->output_width, n = row / call->output_height;
      const int64_t ih =
          row % call->output_height * call->stride_height - top + tap / call->filter_width * call->dilation_height;
      const int64_t iw =
          at % call->output_width * call->stride_width - left + tap % call->filter_width * call->dilation_width;
      if (ih < 0 || ih >= call->input_height || iw < 0 || iw >= call->input_width) continue;
      const int64_t pixel = (n * call->input_height + ih) * call->input_width + iw;
      accumulate(call, (const float*)call->input + pixel * call->input_depth,
                 (const float*)call->out_backprop + at * call->out_depth, result + tap * tap_size);
    }
  }
  return WGRAD_OK;
}
