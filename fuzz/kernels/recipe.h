// Recipe: the naive filter gradient as a list of its decisions. Each decision is right by default; a fault replaces one
// or two of them.
#pragma once

#include <cstdint>
#include <optional>

#include "core/guarded_call.h"
#include "core/problem.h"

namespace wgrad::fuzz {

/// The two axes as a kernel understands them. `filter` is the number of taps that it computes.
struct Geometry {
  Axis rows;
  Axis columns;
};

/// An element of filter_backprop.
struct Tap {
  std::int64_t kh, kw, ic, oc;
};

/// A pixel of out_backprop.
struct Position {
  std::int64_t n, oh, ow;
};

/// An element of input, perhaps outside the image.
struct Pixel {
  std::int64_t n, ih, iw, c;
};

/// Flat offset of `pixel` in an input of `problem`'s shape laid out in `format`, without any check.
std::int64_t FlatOffset(const Problem& problem, DataFormat format, const Pixel& pixel);
bool InsideImage(const Problem& problem, const Pixel& pixel);

/// The right decisions.
namespace right {
void KeepGeometry(const Problem& problem, Geometry& geometry);
std::int64_t InputChannel(const Problem& problem, const Tap& tap);
bool EveryTermCounts(const Problem& problem, const Tap& tap, const Position& position);
/// How often a term that counts is added.
int AddOnce(const Problem& problem, const Tap& tap, const Position& position);
/// Offset of the input element, or nothing in the padding.
std::optional<std::int64_t> Read(const Problem& problem, const Pixel& pixel, const Position& position);
/// Row-major in the geometry's own filter extents; nothing beyond the end of the result.
std::optional<std::int64_t> Write(const Problem& problem, const Geometry& geometry, const Tap& tap);
double StartAtZero(const Problem& problem, std::int64_t at, double old);
double KeepOperand(const Problem& problem, double value);
bool EveryProductCounts(double input, double out_backprop);
double Add(const Problem& problem, double sum, double addend);
double KeepSum(const Problem& problem, double sum);
std::uint64_t StoreNearest(const Problem& problem, double sum);
RawKernel KeepKernel(RawKernel kernel);
}  // namespace right

struct Recipe {
  // Structure: which products, and where their sum goes.
  decltype(&right::KeepGeometry) geometry = right::KeepGeometry;
  decltype(&right::InputChannel) input_channel = right::InputChannel;
  decltype(&right::EveryTermCounts) counts = right::EveryTermCounts;
  decltype(&right::AddOnce) times = right::AddOnce;
  decltype(&right::Read) read = right::Read;
  decltype(&right::Write) write = right::Write;
  // Arithmetic, in doubles. An image's products are added up first, then the images' sums.
  decltype(&right::StartAtZero) start = right::StartAtZero;  // from what the result held before
  decltype(&right::KeepOperand) operand = right::KeepOperand;
  decltype(&right::EveryProductCounts) product_counts = right::EveryProductCounts;
  decltype(&right::Add) add_product = right::Add;
  decltype(&right::Add) add_image = right::Add;
  decltype(&right::KeepSum) finish = right::KeepSum;
  decltype(&right::StoreNearest) store = right::StoreNearest;
  // Around the whole call.
  decltype(&right::KeepKernel) wrap = right::KeepKernel;
};

/// The kernel that follows `recipe`.
RawKernel KernelOf(const Recipe& recipe);

/// Element `at` of a buffer of `dtype`, as its bits.
std::uint64_t LoadBits(DType dtype, const void* buffer, std::int64_t at);
void StoreBits(DType dtype, void* buffer, std::int64_t at, std::uint64_t bits);

}  // namespace wgrad::fuzz
