#include "fuzz/kernels/recipe.h"

#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace wgrad::fuzz {
namespace {

// What the loops of one call share.
struct Call {
  const Recipe& recipe;
  const Problem& problem;
  Geometry geometry;
  std::vector<double> input;
  std::vector<double> out_backprop;
};

std::vector<double> Operands(const Recipe& recipe, const Problem& problem, const void* buffer, std::int64_t count) {
  std::vector<double> values(static_cast<std::size_t>(count));
  for (std::int64_t at = 0; at < count; ++at) {
    const double value = DecodeBits(problem.dtype(), LoadBits(problem.dtype(), buffer, at));
    values[static_cast<std::size_t>(at)] = recipe.operand(problem, value);
  }
  return values;
}

double SumImage(const Call& call, const Tap& tap, std::int64_t n) {
  const Axis& rows = call.geometry.rows;
  const Axis& columns = call.geometry.columns;
  const std::int64_t c = call.recipe.input_channel(call.problem, tap);
  double sum = 0;
  for (std::int64_t oh = 0; oh < rows.output; ++oh) {
    for (std::int64_t ow = 0; ow < columns.output; ++ow) {
      const Position position{n, oh, ow};
      if (!call.recipe.counts(call.problem, tap, position)) continue;
      const Pixel pixel{n, oh * rows.stride + tap.kh * rows.dilation - rows.pad_before,
                        ow * columns.stride + tap.kw * columns.dilation - columns.pad_before, c};
      const std::optional<std::int64_t> from = call.recipe.read(call.problem, pixel, position);
      if (!from) continue;
      const double x = call.input[static_cast<std::size_t>(*from)];
      const double dy = call.out_backprop[static_cast<std::size_t>(call.problem.OutBackpropOffset(n, oh, ow, tap.oc))];
      if (!call.recipe.product_counts(x, dy)) continue;
      for (int times = call.recipe.times(call.problem, tap, position); times > 0; --times) {
        sum = call.recipe.add_product(call.problem, sum, x * dy);
      }
    }
  }
  return sum;
}

void ComputeElement(const Call& call, const Tap& tap, void* result) {
  const Problem& problem = call.problem;
  const std::optional<std::int64_t> at = call.recipe.write(problem, call.geometry, tap);
  if (!at) return;
  const DType dtype = problem.result_dtype();
  double sum = call.recipe.start(problem, *at, DecodeBits(dtype, LoadBits(dtype, result, *at)));
  for (std::int64_t n = 0; n < problem.batch(); ++n) {
    sum = call.recipe.add_image(problem, sum, SumImage(call, tap, n));
  }
  StoreBits(dtype, result, *at, call.recipe.store(problem, call.recipe.finish(problem, sum)));
}

void Compute(const Call& call, void* result) {
  for (std::int64_t kh = 0; kh < call.geometry.rows.filter; ++kh) {
    for (std::int64_t kw = 0; kw < call.geometry.columns.filter; ++kw) {
      for (std::int64_t ic = 0; ic < call.problem.filter_depth(); ++ic) {
        for (std::int64_t oc = 0; oc < call.problem.out_depth(); ++oc) {
          ComputeElement(call, {kh, kw, ic, oc}, result);
        }
      }
    }
  }
}

}  // namespace

std::int64_t FlatOffset(const Problem& problem, DataFormat format, const Pixel& pixel) {
  const std::int64_t height = problem.rows().input;
  const std::int64_t width = problem.columns().input;
  const std::int64_t depth = problem.input_depth();
  if (format == DataFormat::kNhwc) return ((pixel.n * height + pixel.ih) * width + pixel.iw) * depth + pixel.c;
  return ((pixel.n * depth + pixel.c) * height + pixel.ih) * width + pixel.iw;
}

bool InsideImage(const Problem& problem, const Pixel& pixel) {
  return pixel.ih >= 0 && pixel.ih < problem.rows().input && pixel.iw >= 0 && pixel.iw < problem.columns().input;
}

std::uint64_t LoadBits(DType dtype, const void* buffer, std::int64_t at) {
  std::uint64_t bits = 0;  // little-endian: the element's bytes come first
  std::memcpy(&bits, static_cast<const std::byte*>(buffer) + static_cast<std::size_t>(at) * SizeOf(dtype),
              SizeOf(dtype));
  return bits;
}

void StoreBits(DType dtype, void* buffer, std::int64_t at, std::uint64_t bits) {
  std::memcpy(static_cast<std::byte*>(buffer) + static_cast<std::size_t>(at) * SizeOf(dtype), &bits, SizeOf(dtype));
}

namespace right {

void KeepGeometry(const Problem&, Geometry&) {}

std::int64_t InputChannel(const Problem& problem, const Tap& tap) {
  return tap.oc / problem.out_depth_per_group() * problem.filter_depth() + tap.ic;
}

bool EveryTermCounts(const Problem&, const Tap&, const Position&) { return true; }
int AddOnce(const Problem&, const Tap&, const Position&) { return 1; }

std::optional<std::int64_t> Read(const Problem& problem, const Pixel& pixel, const Position&) {
  if (!InsideImage(problem, pixel)) return std::nullopt;
  return FlatOffset(problem, problem.data_format(), pixel);
}

std::optional<std::int64_t> Write(const Problem& problem, const Geometry& geometry, const Tap& tap) {
  const std::int64_t at =
      ((tap.kh * geometry.columns.filter + tap.kw) * problem.filter_depth() + tap.ic) * problem.out_depth() + tap.oc;
  if (at >= problem.filter_count()) return std::nullopt;
  return at;
}

double StartAtZero(const Problem&, std::int64_t, double) { return 0; }
double KeepOperand(const Problem&, double value) { return value; }
bool EveryProductCounts(double, double) { return true; }
double Add(const Problem&, double sum, double addend) { return sum + addend; }
double KeepSum(const Problem&, double sum) { return sum; }
std::uint64_t StoreNearest(const Problem& problem, double sum) { return EncodeNearest(problem.result_dtype(), sum); }
RawKernel KeepKernel(RawKernel kernel) { return kernel; }

}  // namespace right

RawKernel KernelOf(const Recipe& recipe) {
  RawKernel kernel = [recipe](const Problem& problem, const void* input, const void* out_backprop, void* result) {
    Call call{recipe, problem, {problem.rows(), problem.columns()}, {}, {}};
    recipe.geometry(problem, call.geometry);
    call.input = Operands(recipe, problem, input, problem.input_count());
    call.out_backprop = Operands(recipe, problem, out_backprop, problem.out_backprop_count());
    Compute(call, result);
    return KernelStatus{};
  };
  return recipe.wrap(std::move(kernel));
}

}  // namespace wgrad::fuzz
