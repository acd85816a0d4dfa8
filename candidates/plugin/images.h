// What plugins around libraries with one layout, or without padding of their own, share: images brought into the
// library's layout, with zeros around them. For C++17, on its own beside wgrad_plugin.h.
#pragma once

#include <cstdint>

#include "candidates/plugin/wgrad_plugin.h"

namespace images {

struct Sizes {
  int64_t batch;
  int64_t depth;
  int64_t height;
  int64_t width;
};

inline Sizes InputSizes(const wgrad_call& call) {
  return {call.batch, call.input_depth, call.input_height, call.input_width};
}
inline Sizes OutBackpropSizes(const wgrad_call& call) {
  return {call.batch, call.out_depth, call.output_height, call.output_width};
}

// Zeros around a plane.
struct Border {
  int64_t top = 0;
  int64_t bottom = 0;
  int64_t left = 0;
  int64_t right = 0;
};

inline Border PaddingOf(const wgrad_call& call) {
  return {call.pad_top, call.pad_bottom, call.pad_left, call.pad_right};
}

inline Sizes Padded(const Sizes& sizes, const Border& border) {
  return {sizes.batch, sizes.depth, border.top + sizes.height + border.bottom,
          border.left + sizes.width + border.right};
}

// How far apart in an image the elements of neighbouring channels, rows and columns are.
struct Steps {
  int64_t depth;
  int64_t height;
  int64_t width;
};

inline Steps StepsOf(int32_t data_format, const Sizes& sizes) {
  if (data_format == WGRAD_NCHW) return {sizes.height * sizes.width, sizes.width, 1};
  return {1, sizes.width * sizes.depth, sizes.depth};
}

inline int64_t CountOf(const Sizes& image) { return image.depth * image.height * image.width; }

// Copies `tensor`, of `sizes` in `from` (WGRAD_NHWC or WGRAD_NCHW), into images of Padded(sizes, border) in `to`, which
// hold zeros already: image_at(n) is where image n begins.
template <typename T, typename ImageAt>
void CopyInside(const void* tensor, int32_t from, const Sizes& sizes, const Border& border, int32_t to,
                ImageAt image_at) {
  const Steps source = StepsOf(from, sizes);
  const Steps target = StepsOf(to, Padded(sizes, border));
  for (int64_t n = 0; n < sizes.batch; ++n) {
    const T* const image = static_cast<const T*>(tensor) + n * CountOf(sizes);
    T* const inside = image_at(n) + border.top * target.height + border.left * target.width;
    for (int64_t c = 0; c < sizes.depth; ++c) {
      for (int64_t h = 0; h < sizes.height; ++h) {
        for (int64_t w = 0; w < sizes.width; ++w) {
          inside[c * target.depth + h * target.height + w * target.width] =
              image[c * source.depth + h * source.height + w * source.width];
        }
      }
    }
  }
}

}  // namespace images
