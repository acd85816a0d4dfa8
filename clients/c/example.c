/*
 * A complete candidate: the plain formula in float32 and float64, summed in double.
 *
 *   cc -O2 clients/c/example.c -o example && wgrad check cmd:./example
 */
#include "wgrad_candidate.h"

static double load(const struct wgrad_call* call, const void* tensor, int64_t at) {
  return call->dtype == WGRAD_F32 ? ((const float*)tensor)[at] : ((const double*)tensor)[at];
}

/* Where (n, h, w, c) stands in a tensor of `height` x `width` x `depth` images. */
static int64_t offset(const struct wgrad_call* call, const int64_t image[3], const int64_t at[4]) {
  const int64_t height = image[0], width = image[1], depth = image[2];
  if (call->data_format == WGRAD_NHWC) return ((at[0] * height + at[1]) * width + at[2]) * depth + at[3];
  return ((at[0] * depth + at[3]) * height + at[1]) * width + at[2];
}

static double element(const struct wgrad_call* call, int64_t kh, int64_t kw, int64_t ic, int64_t oc) {
  const int64_t input_image[3] = {call->input_height, call->input_width, call->input_depth};
  const int64_t output_image[3] = {call->output_height, call->output_width, call->out_depth};
  const int64_t c = oc / (call->out_depth / call->groups) * call->filter_depth + ic;
  double sum = 0;
  for (int64_t n = 0; n < call->batch; ++n) {
    for (int64_t oh = 0; oh < call->output_height; ++oh) {
      const int64_t ih = oh * call->stride_height + kh * call->dilation_height - call->pad_top;
      if (ih < 0 || ih >= call->input_height) continue;
      for (int64_t ow = 0; ow < call->output_width; ++ow) {
        const int64_t iw = ow * call->stride_width + kw * call->dilation_width - call->pad_left;
        if (iw < 0 || iw >= call->input_width) continue;
        const int64_t input_at[4] = {n, ih, iw, c}, output_at[4] = {n, oh, ow, oc};
        sum += load(call, call->input, offset(call, input_image, input_at)) *
               load(call, call->out_backprop, offset(call, output_image, output_at));
      }
    }
  }
  return sum;
}

static int filter_gradient(const struct wgrad_call* call) {
  const int64_t count = call->filter_height * call->filter_width * call->filter_depth * call->out_depth;
  for (int64_t at = 0; at < count; ++at) {
    const int64_t oc = at % call->out_depth, ic = at / call->out_depth % call->filter_depth;
    const int64_t tap = at / call->out_depth / call->filter_depth;
    const double sum = element(call, tap / call->filter_width, tap % call->filter_width, ic, oc);
    if (call->result_dtype == WGRAD_F32) ((float*)call->filter_backprop)[at] = (float)sum;
    if (call->result_dtype == WGRAD_F64) ((double*)call->filter_backprop)[at] = sum;
  }
  return WGRAD_OK;
}

int main(void) {
  return wgrad_serve(
      "{\"name\": \"c\", \"version\": \"1\", \"dtypes\": [\"f32\", \"f64\"], \"pad\": \"skip\", \"deterministic\": "
      "true,"
      " \"accuracy_class\": {\"f32\": \"wide:f64\", \"f64\": \"order\"}}",
      filter_gradient);
}
