/*
 * The interface of a wgrad plugin: a shared library that computes conv2d_backprop_filter.
 * Plain C99, also valid C++, on its own: copy this one file next to your kernel. docs/plugin.md shows how to use it.
 *
 * A plugin exports
 *
 *   int wgrad_plugin_version(void);                             returns WGRAD_PLUGIN_VERSION
 *   int wgrad_filter_gradient(const struct wgrad_call *call);   computes one weight gradient
 *   const char *wgrad_capabilities(void);                       optional: what it can do, as JSON text
 *
 * Each is declared below with default visibility. Without wgrad_capabilities the plugin counts as able to do
 * everything.
 */
#ifndef WGRAD_PLUGIN_H
#define WGRAD_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define WGRAD_PLUGIN_VERSION 1

#ifdef __cplusplus
#define WGRAD_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define WGRAD_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* What wgrad_filter_gradient returns. With anything but WGRAD_OK, put a sentence into call->message. */
enum wgrad_code {
  WGRAD_OK = 0,          /* every element of filter_backprop is written */
  WGRAD_UNSUPPORTED = 1, /* a valid call that this kernel does not do; counted apart, no failure */
  WGRAD_REJECTED = 2,    /* these arguments are wrong */
  WGRAD_ERROR = 3        /* it tried and did not succeed */
};

/*
 * Element types. Memory is in the machine's own byte order.
 *
 *   WGRAD_F16   2 bytes  IEEE binary16      uint16_t, or _Float16 where the compiler has it
 *   WGRAD_BF16  2 bytes  bfloat16           uint16_t: the upper half of a float
 *   WGRAD_F32   4 bytes  IEEE binary32      float
 *   WGRAD_F64   8 bytes  IEEE binary64      double
 *
 * A bfloat16 becomes a float by shifting its 16 bits into the upper half of a 32-bit word.
 */
enum wgrad_dtype { WGRAD_F16 = 0, WGRAD_BF16 = 1, WGRAD_F32 = 2, WGRAD_F64 = 3 };

enum wgrad_data_format { WGRAD_NHWC = 0, WGRAD_NCHW = 1 };
enum wgrad_padding { WGRAD_SAME = 0, WGRAD_VALID = 1, WGRAD_EXPLICIT = 2 };

/*
 * One call. Everything is computed already: whatever `padding` says, pad_top to pad_right hold the padding to use.
 *
 *   filter_backprop[kh, kw, ic, oc] = sum over n, oh, ow of
 *     input(n, oh * stride_height + kh * dilation_height - pad_top,
 *              ow * stride_width  + kw * dilation_width  - pad_left, g * filter_depth + ic)
 *     * out_backprop(n, oh, ow, oc)          with g = oc / (out_depth / groups), and input 0 outside the image
 *
 * Shapes, row-major and without gaps, 64-byte aligned:
 *
 *   input            NHWC [batch, input_height, input_width, input_depth]
 *                    NCHW [batch, input_depth, input_height, input_width]
 *   out_backprop     NHWC [batch, output_height, output_width, out_depth]
 *                    NCHW [batch, out_depth, output_height, output_width]
 *   filter_backprop  [filter_height, filter_width, filter_depth, out_depth] (HWIO) in both data formats,
 *                    or in the axis order that the capabilities name as "result_layout"
 *
 * A size may be 0; then a tensor without elements must not be read or written, and sums over nothing are 0.
 */
struct wgrad_call {
  uint32_t version;     /* WGRAD_PLUGIN_VERSION of the caller */
  uint32_t struct_size; /* sizeof(struct wgrad_call) of the caller; later versions only append */

  int64_t batch;
  int64_t input_height;
  int64_t input_width;
  int64_t input_depth; /* groups * filter_depth */
  int64_t filter_height;
  int64_t filter_width;
  int64_t filter_depth;
  int64_t out_depth;
  int64_t output_height;
  int64_t output_width;
  int64_t groups;
  int64_t stride_height;
  int64_t stride_width;
  int64_t dilation_height; /* 1: none */
  int64_t dilation_width;
  int64_t pad_top;
  int64_t pad_bottom;
  int64_t pad_left;
  int64_t pad_right;

  int32_t padding;      /* enum wgrad_padding: how the caller wrote the padding */
  int32_t data_format;  /* enum wgrad_data_format, of input and out_backprop */
  int32_t dtype;        /* enum wgrad_dtype, of input and out_backprop */
  int32_t result_dtype; /* enum wgrad_dtype, of filter_backprop; dtype, or WGRAD_F32 beside half and bfloat16 */

  const void* input;
  const void* out_backprop;
  void* filter_backprop;

  char* message;       /* a sentence for every code but WGRAD_OK, zero-terminated */
  size_t message_size; /* bytes that message has room for, at least 256 */

  const char* variant; /* one of the "variants" of the capabilities, or "" */
};

WGRAD_PLUGIN_EXPORT int wgrad_plugin_version(void);
WGRAD_PLUGIN_EXPORT int wgrad_filter_gradient(const struct wgrad_call* call);

/*
 * Optional. JSON text with any of these fields; a field left out means the value shown (DTYPE is one of
 * f16 bf16 f32 f64 f16_f32 bf16_f32, the last two being half and bfloat16 inputs with a float32 result):
 *
 *   "name": the file's name   "version": ""   "libraries": {"NAME": "VERSION"}   "variants": []
 *   "dtypes": all six         "data_formats": ["NHWC", "NCHW"]   "paddings": ["SAME", "VALID", "EXPLICIT"]
 *   "asymmetric_padding", "per_axis_strides", "non_square", "dilation", "stride_with_dilation", "groups",
 *   "zero_sizes": true
 *   "accuracy_class": {"DTYPE": "CLASS"}   "pad": "skip" | "multiply" | "either"
 *   "ftz", "daz", "saturate", "zero_skip", "deterministic": false
 *   "result_layout": "hwio" | "oihw" | "ohwi"   "restart_after_error": false
 *   "max_elements": of one tensor, "max_work": multiply-adds of one call; no limits
 */
WGRAD_PLUGIN_EXPORT const char* wgrad_capabilities(void);

#endif
