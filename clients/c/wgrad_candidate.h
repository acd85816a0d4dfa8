/*
 * Lets wgrad judge a weight gradient that is written in C or C++, as a program of its own. Plain C99 for POSIX systems,
 * also valid C++; copy this one file, and include it in one source file, before any other header.
 *
 *   #include "wgrad_candidate.h"
 *
 *   static int filter_gradient(const struct wgrad_call* call) {
 *     ...                                      every element of call->filter_backprop
 *     return WGRAD_OK;
 *   }
 *
 *   int main(void) { return wgrad_serve("{\"name\": \"mine\", \"dtypes\": [\"f32\"]}", filter_gradient); }
 *
 * Then `wgrad check cmd:./program` judges it. The call is that of a wgrad plugin, field by field, so a kernel can be
 * either. docs/protocol.md of wgrad describes what goes over the wire, and every field of the greeting.
 */
#ifndef WGRAD_CANDIDATE_H
#define WGRAD_CANDIDATE_H

/* glibc hides POSIX under -std=c99 unless it is asked for before its first header. */
#if defined(__STRICT_ANSI__) && !defined(_DEFAULT_SOURCE) && !defined(_GNU_SOURCE)
#define _DEFAULT_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __cplusplus
#include <exception>
#endif

/* What the kernel returns. With anything but WGRAD_OK, put a sentence into call->message. */
enum wgrad_code {
  WGRAD_OK = 0,          /* every element of filter_backprop is written */
  WGRAD_UNSUPPORTED = 1, /* a valid call that this kernel does not do; counted apart, no failure */
  WGRAD_REJECTED = 2,    /* these arguments are wrong */
  WGRAD_ERROR = 3        /* it tried and did not succeed */
};

/* Element types. F16 (IEEE binary16) and BF16 (bfloat16, the upper half of a float) are bits in a uint16_t. */
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
 *                    or in the axis order that the greeting names as "result_layout"
 *
 * A size may be 0; then a tensor without elements must not be read or written, and sums over nothing are 0.
 * filter_backprop is not zeroed: it holds NaNs, so that what a kernel leaves unwritten shows.
 */
struct wgrad_call {
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

  const char* variant; /* one of the "variants" of the greeting, or "" */
  const char* problem; /* the call as one line of text, for messages */
};

/*
 * Greets wgrad and answers its requests until there are no more. Returns main's exit status: 0, or 1 with a message on
 * stderr where the other side is not wgrad or breaks off in the middle of a request.
 *
 * `greeting` is a JSON object with the greeting's fields by the names of docs/protocol.md; "{}" claims that all can be
 * done. In C++ the kernel may throw: what a std::exception says is reported as an error.
 */
static inline int wgrad_serve(const char* greeting, int (*filter_gradient)(const struct wgrad_call* call));

/* In place of wgrad_serve: says why this program cannot start, e.g. "libfoo.so is not installed". Returns 1. */
static inline int wgrad_start_error(const char* message);

/* The variant to be, for a program with several kernels: one of the greeting's "variants"; else "". */
static inline const char* wgrad_variant(void) {
  const char* variant = getenv("WGRAD_VARIANT");
  return variant != NULL ? variant : "";
}

/* ------------------------------------------------------------------------------------------------------------------
 * From here on nothing is of interest to a kernel.
 *
 * The descriptors that wgrad hands to the programs it starts. */
enum { WGRAD_REQUESTS_ = 3, WGRAD_ANSWERS_ = 4, WGRAD_SHARED_ = 5 };
enum { WGRAD_MOST_HEADER_ = 1 << 20, WGRAD_MESSAGE_SIZE_ = 1024, WGRAD_ALIGNMENT_ = 64 };

/* ------------------------------------------------------------------------------------------------------------------
 * JSON, as far as headers need it. A value is a pointer to its first character in a zero-terminated text; a value that
 * is missing is NULL, and may be passed on. */

static const char* wgrad_json_blanks_(const char* at) { return at + strspn(at, " \t\r\n"); }

/* Behind the string whose opening quote is at `at`. */
static const char* wgrad_json_string_end_(const char* at) {
  for (++at; *at != '\0' && *at != '"'; ++at) {
    if (*at == '\\' && at[1] != '\0') ++at;
  }
  return *at == '"' ? at + 1 : at;
}

/* Behind the value at `at`. */
static const char* wgrad_json_end_(const char* at) {
  int depth = 0;
  do {
    if (*at == '"') {
      at = wgrad_json_string_end_(at);
    } else if (*at == '{' || *at == '[') {
      ++depth, ++at;
    } else if (*at == '}' || *at == ']') {
      --depth, ++at;
    } else if (depth > 0 && (*at == ',' || *at == ':')) {
      ++at;
    } else {
      const size_t length = strcspn(at, ",:{}[]\" \t\r\n"); /* of a number or a word */
      if (length == 0) return at;
      at += length;
    }
    if (depth > 0) at = wgrad_json_blanks_(at);
  } while (depth > 0 && *at != '\0');
  return at;
}

/* The first value inside the object or list at `at`, NULL where there is none; of an object it is a name. */
static const char* wgrad_json_first_(const char* at) {
  if (at == NULL || (*at != '{' && *at != '[')) return NULL;
  at = wgrad_json_blanks_(at + 1);
  return *at == '}' || *at == ']' || *at == '\0' ? NULL : at;
}

/* The value behind the one at `at` in the same object or list; of an object names and values take turns. */
static const char* wgrad_json_next_(const char* at) {
  at = wgrad_json_blanks_(wgrad_json_end_(at));
  return *at == ',' || *at == ':' ? wgrad_json_blanks_(at + 1) : NULL;
}

/* Whether the value at `at` is this string, which must need no escapes. */
static int wgrad_json_is_(const char* at, const char* text) {
  const size_t length = strlen(text);
  return at != NULL && *at == '"' && strncmp(at + 1, text, length) == 0 && at[length + 1] == '"';
}

static const char* wgrad_json_field_(const char* object, const char* name) {
  const char* at = wgrad_json_first_(object);
  while (at != NULL) {
    const char* value = wgrad_json_next_(at);
    if (value == NULL) return NULL;
    if (wgrad_json_is_(at, name)) return value;
    at = wgrad_json_next_(value);
  }
  return NULL;
}

static const char* wgrad_json_item_(const char* list, int index) {
  const char* at = wgrad_json_first_(list);
  while (at != NULL && index-- > 0) at = wgrad_json_next_(at);
  return at;
}

static int64_t wgrad_json_integer_(const char* at) { return at == NULL ? 0 : (int64_t)strtoll(at, NULL, 10); }

static int64_t wgrad_json_integer_field_(const char* object, const char* name) {
  return wgrad_json_integer_(wgrad_json_field_(object, name));
}

/* The place of the string at `at` in a list of words; -1 where it is none of them. */
static int wgrad_json_word_(const char* at, const char* const* words, int count) {
  for (int i = 0; i < count; ++i) {
    if (wgrad_json_is_(at, words[i])) return i;
  }
  return -1;
}

/* How many bytes the character at `at` has in UTF-8; 0 where the bytes are none. */
static int wgrad_utf8_length_(const char* at) {
  const unsigned char first = (unsigned char)at[0];
  const int length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  const unsigned char second = length > 1 ? (unsigned char)at[1] : 0;
  for (int i = 1; i < length; ++i) {
    if (((unsigned char)at[i] & 0xC0) != 0x80) return 0;
  }
  /* Forms that are longer than needed, halves of surrogate pairs, and what lies beyond Unicode. */
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
  if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
  return length;
}

/* Writes `text` as a JSON string to `to`, which has room for six characters for each of its bytes, and three more.
 * What is no UTF-8 becomes a question mark. */
static void wgrad_json_quote_(char* to, const char* text) {
  *to++ = '"';
  while (*text != '\0') {
    const int length = wgrad_utf8_length_(text);
    if (length == 0) {
      *to++ = '?';
      ++text;
    } else if (*text == '"' || *text == '\\' || (unsigned char)*text < 0x20) {
      to += snprintf(to, 7, "\\u%04x", (unsigned)(unsigned char)*text++);
    } else {
      for (int i = 0; i < length; ++i) *to++ = *text++;
    }
  }
  *to++ = '"';
  *to = '\0';
}

/* ------------------------------------------------------------------------------------------------------------------
 * Descriptors */

/* How many bytes were read: fewer than `count` only at the end of the requests. */
static size_t wgrad_read_(void* buffer, size_t count) {
  size_t filled = 0;
  while (filled < count) {
    const ssize_t length = read(WGRAD_REQUESTS_, (char*)buffer + filled, count - filled);
    if (length == 0 || (length < 0 && errno != EINTR)) break;
    if (length > 0) filled += (size_t)length;
  }
  return filled;
}

static int wgrad_write_(const void* buffer, size_t count) {
  size_t sent = 0;
  while (sent < count) {
    const ssize_t length = write(WGRAD_ANSWERS_, (const char*)buffer + sent, count - sent);
    if (length < 0 && errno != EINTR) return 0;
    if (length > 0) sent += (size_t)length;
  }
  return 1;
}

static int wgrad_write_frame_(const char* header, const void* data, size_t size) {
  const size_t length = strlen(header);
  const unsigned char prefix[4] = {(unsigned char)length, (unsigned char)(length >> 8), (unsigned char)(length >> 16),
                                   (unsigned char)(length >> 24)};
  return wgrad_write_(prefix, sizeof prefix) && wgrad_write_(header, length) && wgrad_write_(data, size);
}

/* Whether wgrad started this program: descriptors 3 and 4 are pipes. */
static int wgrad_is_connected_(void) {
  struct stat requests, answers;
  return fstat(WGRAD_REQUESTS_, &requests) == 0 && fstat(WGRAD_ANSWERS_, &answers) == 0 && S_ISFIFO(requests.st_mode) &&
         S_ISFIFO(answers.st_mode);
}

static int wgrad_fail_(const char* message) {
  fprintf(stderr, "%s\n", message);
  return 1;
}

static inline int wgrad_start_error(const char* message) {
  char* text = (char*)malloc(6 * strlen(message) + 64);
  if (text != NULL && wgrad_is_connected_()) {
    wgrad_json_quote_(text + sprintf(text, "{\"kind\": \"error\", \"message\": "), message);
    strcat(text, "}");
    wgrad_write_frame_(text, NULL, 0);
  }
  free(text);
  return wgrad_fail_(message);
}

/* ------------------------------------------------------------------------------------------------------------------
 * Serving */

static const char* const wgrad_dtype_names_[] = {"f16", "bf16", "f32", "f64"};
static const size_t wgrad_dtype_sizes_[] = {2, 2, 4, 8};

/* A piece of memory that is kept from request to request and grows when it must. */
struct wgrad_buffer_ {
  void* data;
  size_t size;
};

struct wgrad_server_ {
  int (*filter_gradient)(const struct wgrad_call* call);
  const char* layout;              /* result_layout */
  struct wgrad_buffer_ header;     /* of the request */
  struct wgrad_buffer_ tensors[2]; /* input and out_backprop, as far as they are not shared */
  struct wgrad_buffer_ result;
  char* shared; /* the map of descriptor 5 */
  size_t shared_size;
};

static void* wgrad_room_(struct wgrad_buffer_* buffer, size_t size) {
  if (buffer->data == NULL || buffer->size < size) {
    free(buffer->data);
    buffer->size = size;
    if (posix_memalign(&buffer->data, WGRAD_ALIGNMENT_, size > 0 ? size : 1) != 0) buffer->data = NULL;
  }
  return buffer->data;
}

/* Maps all of descriptor 5, anew where it has grown. Must not come between two uses of pointers into it. */
static int wgrad_map_shared_(struct wgrad_server_* server) {
  struct stat file;
  if (fstat(WGRAD_SHARED_, &file) != 0 || file.st_size <= 0) return 0;
  if ((size_t)file.st_size == server->shared_size) return 1;
  if (server->shared != NULL) munmap(server->shared, server->shared_size);
  void* map = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, WGRAD_SHARED_, 0);
  server->shared = map != MAP_FAILED ? (char*)map : NULL;
  server->shared_size = map != MAP_FAILED ? (size_t)file.st_size : 0;
  return map != MAP_FAILED;
}

/* A signaling NaN that no arithmetic produces in every element, so that one that the kernel leaves out shows. */
static void wgrad_poison_(void* tensor, size_t size, int dtype) {
  static const uint64_t bits[] = {0x7d5a7d5a7d5a7d5a, 0x7fa57fa57fa57fa5, 0x7fa5a5a57fa5a5a5, 0x7ff5a5a5a5a5a5a5};
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    memcpy((char*)tensor + at, &bits[dtype], size - at < sizeof(uint64_t) ? size - at : sizeof(uint64_t));
  }
}

/* Fills in all but pointers from a valid call's header. */
static void wgrad_read_call_(const char* header, struct wgrad_call* call) {
  static const char* const paddings[] = {"SAME", "VALID", "EXPLICIT"};
  const char* arguments = wgrad_json_field_(header, "arguments");
  const char* derived = wgrad_json_field_(header, "derived");
  const char* filter = wgrad_json_field_(arguments, "filter_sizes");
  const char* strides = wgrad_json_field_(arguments, "strides");
  const char* dilations = wgrad_json_field_(arguments, "dilations");
  const char* tensors = wgrad_json_field_(header, "tensors");
  const char* input = wgrad_json_field_(wgrad_json_item_(tensors, 0), "shape");
  const char* output = wgrad_json_field_(wgrad_json_item_(tensors, 1), "shape");
  const int is_nchw = wgrad_json_is_(wgrad_json_field_(arguments, "data_format"), "NCHW");
  const int height = is_nchw ? 2 : 1, width = height + 1, depth = is_nchw ? 1 : 3; /* which axis is what */
  call->batch = wgrad_json_integer_(wgrad_json_item_(input, 0));
  call->input_height = wgrad_json_integer_(wgrad_json_item_(input, height));
  call->input_width = wgrad_json_integer_(wgrad_json_item_(input, width));
  call->input_depth = wgrad_json_integer_(wgrad_json_item_(input, depth));
  call->filter_height = wgrad_json_integer_(wgrad_json_item_(filter, 0));
  call->filter_width = wgrad_json_integer_(wgrad_json_item_(filter, 1));
  call->filter_depth = wgrad_json_integer_(wgrad_json_item_(filter, 2));
  call->out_depth = wgrad_json_integer_(wgrad_json_item_(filter, 3));
  call->output_height = wgrad_json_integer_(wgrad_json_item_(output, height));
  call->output_width = wgrad_json_integer_(wgrad_json_item_(output, width));
  call->groups = wgrad_json_integer_field_(derived, "groups");
  call->stride_height = wgrad_json_integer_(wgrad_json_item_(strides, height));
  call->stride_width = wgrad_json_integer_(wgrad_json_item_(strides, width));
  call->dilation_height = wgrad_json_integer_(wgrad_json_item_(dilations, height));
  call->dilation_width = wgrad_json_integer_(wgrad_json_item_(dilations, width));
  call->pad_top = wgrad_json_integer_field_(derived, "pad_top");
  call->pad_bottom = wgrad_json_integer_field_(derived, "pad_bottom");
  call->pad_left = wgrad_json_integer_field_(derived, "pad_left");
  call->pad_right = wgrad_json_integer_field_(derived, "pad_right");
  call->padding = wgrad_json_word_(wgrad_json_field_(arguments, "padding"), paddings, 3);
  call->data_format = is_nchw ? WGRAD_NCHW : WGRAD_NHWC;
  call->dtype = wgrad_json_word_(wgrad_json_field_(header, "dtype"), wgrad_dtype_names_, 4);
  call->result_dtype = wgrad_json_word_(wgrad_json_field_(header, "result_dtype"), wgrad_dtype_names_, 4);
}

/* The filter's size along 'h', 'w', 'i' or 'o'. */
static int64_t wgrad_filter_size_(const struct wgrad_call* call, char axis) {
  return axis == 'h'   ? call->filter_height
         : axis == 'w' ? call->filter_width
         : axis == 'i' ? call->filter_depth
                       : call->out_depth;
}

/* Where the bytes of this entry's tensor are, once they have been read. NULL: no more bytes, or no memory. */
static const void* wgrad_read_tensor_(struct wgrad_server_* server, const char* entry, struct wgrad_buffer_* buffer) {
  const size_t size = (size_t)wgrad_json_integer_field_(entry, "bytes");
  const char* shared_at = wgrad_json_field_(entry, "shared_at");
  if (shared_at != NULL) return wgrad_map_shared_(server) ? server->shared + wgrad_json_integer_(shared_at) : NULL;
  void* data = wgrad_room_(buffer, size);
  return data != NULL && wgrad_read_(data, size) == size ? data : NULL;
}

static int wgrad_call_kernel_(const struct wgrad_server_* server, const struct wgrad_call* call) {
#if defined(__cpp_exceptions)
  try {
    return server->filter_gradient(call);
  } catch (const std::exception& exception) {
    snprintf(call->message, call->message_size, "threw a C++ exception: %s", exception.what());
  } catch (...) {
    snprintf(call->message, call->message_size, "threw what is no std::exception");
  }
  return WGRAD_ERROR;
#else
  return server->filter_gradient(call);
#endif
}

static int wgrad_answer_failure_(int64_t id, int code, const char* message) {
  static const char* const kinds[] = {"unsupported", "rejected", "error"};
  char quoted[6 * WGRAD_MESSAGE_SIZE_ + 3], header[sizeof quoted + 64];
  wgrad_json_quote_(quoted, message[0] != '\0' ? message : "no reason was given");
  snprintf(header, sizeof header, "{\"kind\": \"%s\", \"id\": %lld, \"message\": %s}", kinds[code - WGRAD_UNSUPPORTED],
           (long long)id, quoted);
  return wgrad_write_frame_(header, NULL, 0);
}

static int wgrad_answer_result_(const struct wgrad_server_* server, const struct wgrad_call* call, int64_t id,
                                size_t size, const char* result_at) {
  long long shape[4];
  char place[64] = "", header[512];
  for (int i = 0; i < 4; ++i) shape[i] = (long long)wgrad_filter_size_(call, server->layout[i]);
  if (result_at != NULL) {
    snprintf(place, sizeof place, ", \"shared_at\": %lld", (long long)wgrad_json_integer_(result_at));
  }
  snprintf(header, sizeof header,
           "{\"kind\": \"result\", \"id\": %lld, \"tensors\": [{\"name\": \"filter_backprop\", \"dtype\": \"%s\", "
           "\"shape\": [%lld, %lld, %lld, %lld], \"bytes\": %zu%s}]}",
           (long long)id, wgrad_dtype_names_[call->result_dtype], shape[0], shape[1], shape[2], shape[3], size, place);
  return wgrad_write_frame_(header, call->filter_backprop, result_at != NULL ? 0 : size);
}

/* Lets the kernel compute, and answers. 0 where the answer cannot be written. */
static int wgrad_answer_call_(struct wgrad_server_* server, const char* header, struct wgrad_call* call, int64_t id) {
  char message[WGRAD_MESSAGE_SIZE_] = "";
  const char* result_at = wgrad_json_field_(header, "result_at");
  size_t size = wgrad_dtype_sizes_[call->result_dtype];
  for (int i = 0; i < 4; ++i) size *= (size_t)wgrad_filter_size_(call, server->layout[i]);
  call->message = message;
  call->message_size = sizeof message;
  /* With result_at the tensors are shared too, so that the map is there. */
  call->filter_backprop =
      result_at != NULL ? server->shared + wgrad_json_integer_(result_at) : wgrad_room_(&server->result, size);
  if (call->filter_backprop == NULL) return wgrad_answer_failure_(id, WGRAD_ERROR, "no memory for the result");
  wgrad_poison_(call->filter_backprop, size, call->result_dtype);

  const int code = wgrad_call_kernel_(server, call);
  message[sizeof message - 1] = '\0';
  if (code == WGRAD_OK) return wgrad_answer_result_(server, call, id, size, result_at);
  if (code > WGRAD_OK && code <= WGRAD_ERROR) return wgrad_answer_failure_(id, code, message);
  snprintf(message, sizeof message, "returned %d, which is none of enum wgrad_code", code);
  return wgrad_answer_failure_(id, WGRAD_ERROR, message);
}

/* Reads one request and answers it. Returns 1, 0 at the end of the requests, -1 where they break off. */
static int wgrad_serve_one_(struct wgrad_server_* server) {
  unsigned char prefix[4];
  const size_t prefix_size = wgrad_read_(prefix, sizeof prefix);
  if (prefix_size == 0) return 0;
  const size_t length = prefix[0] | (size_t)prefix[1] << 8 | (size_t)prefix[2] << 16 | (size_t)prefix[3] << 24;
  if (prefix_size < sizeof prefix || length > WGRAD_MOST_HEADER_) return -1;
  char* header = (char*)wgrad_room_(&server->header, length + 1);
  if (header == NULL || wgrad_read_(header, length) < length) return -1;
  header[length] = '\0';

  const char* tensors = wgrad_json_field_(header, "tensors");
  const void* data[2] = {NULL, NULL};
  for (int i = 0; i < 2; ++i) {
    const char* entry = wgrad_json_item_(tensors, i);
    if (entry == NULL) continue;
    data[i] = wgrad_read_tensor_(server, entry, &server->tensors[i]);
    if (data[i] == NULL) return -1;
  }

  const int64_t id = wgrad_json_integer_field_(header, "id");
  if (!wgrad_json_is_(wgrad_json_field_(header, "operation"), "filter_gradient")) {
    return wgrad_answer_failure_(id, WGRAD_UNSUPPORTED, "no such operation") ? 1 : 0;
  }
  if (wgrad_json_field_(header, "derived") == NULL) {
    return wgrad_answer_failure_(id, WGRAD_UNSUPPORTED, "struct wgrad_call has no room for wrong arguments") ? 1 : 0;
  }
  struct wgrad_call call;
  memset(&call, 0, sizeof call);
  wgrad_read_call_(header, &call);
  if (call.dtype < 0 || call.result_dtype < 0) return -1;
  call.input = data[0];
  call.out_backprop = data[1];
  call.variant = wgrad_variant();
  return wgrad_answer_call_(server, header, &call, id) ? 1 : 0;
}

static int wgrad_greet_(const char* greeting) {
  const char* shared = wgrad_json_field_(greeting, "shared_memory") == NULL ? ", \"shared_memory\": true" : "";
  const char* comma = wgrad_json_first_(greeting) != NULL ? ", " : "";
  char* text = (char*)malloc(strlen(greeting) + 96);
  if (text == NULL) return 0;
  sprintf(text, "{\"kind\": \"greeting\", \"protocol\": 1%s%s%s", shared, comma, greeting + 1);
  const int is_written = wgrad_write_frame_(text, NULL, 0);
  free(text);
  return is_written;
}

static inline int wgrad_serve(const char* greeting, int (*filter_gradient)(const struct wgrad_call* call)) {
  static const char* const layouts[] = {"hwio", "oihw", "ohwi"};
  if (!wgrad_is_connected_()) return wgrad_fail_("this program is started by wgrad: wgrad check cmd:./program");
  for (int descriptor = WGRAD_REQUESTS_; descriptor <= WGRAD_SHARED_; ++descriptor) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC); /* a child that outlives this program must not keep them open */
  }
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* so that the last lines are not lost if the process dies */

  struct wgrad_server_ server;
  memset(&server, 0, sizeof server);
  server.filter_gradient = filter_gradient;
  greeting = wgrad_json_blanks_(greeting);
  if (*greeting != '{') return wgrad_start_error("the greeting is no JSON object");
  const int layout = wgrad_json_word_(wgrad_json_field_(greeting, "result_layout"), layouts, 3);
  server.layout = layouts[layout < 0 ? 0 : layout];

  int state = wgrad_greet_(greeting);
  while (state > 0) state = wgrad_serve_one_(&server);
  for (int i = 0; i < 2; ++i) free(server.tensors[i].data);
  free(server.header.data);
  free(server.result.data);
  if (server.shared != NULL) munmap(server.shared, server.shared_size);
  return state == 0 ? 0 : wgrad_fail_("the request is none, or ends in its middle");
}

#endif
