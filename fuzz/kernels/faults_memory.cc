// Faults in the handling of buffers: what the result held before, what lies around it, what an earlier call left.
#include <cstring>
#include <string>
#include <utility>

#include "core/case.h"
#include "fuzz/kernels/faults.h"

namespace wgrad::fuzz {
namespace {

constexpr FaultFamily kFamily = FaultFamily::kMemory;

double StartQuarterCleared(const Problem& problem, std::int64_t at, double old) {
  return at < problem.filter_count() / 4 ? 0 : old;
}

std::optional<std::int64_t> WriteUnlessEmpty(const Problem& problem, const Geometry& geometry, const Tap& tap) {
  if (problem.batch() == 0) return std::nullopt;
  return right::Write(problem, geometry, tap);
}

// The last result, and the shapes that it belongs to.
struct Cache {
  std::string problem;
  std::vector<std::byte> result;
};

RawKernel CacheByShape(RawKernel kernel) {
  return [kernel = std::move(kernel), cache = Cache()](const Problem& problem, const void* input,
                                                       const void* out_backprop, void* result) mutable {
    const std::size_t size = static_cast<std::size_t>(problem.filter_count()) * SizeOf(problem.result_dtype());
    if (size == 0) return KernelStatus{};
    if (Format(problem) != cache.problem) {
      kernel(problem, input, out_backprop, result);
      const auto* bytes = static_cast<const std::byte*>(result);
      cache = {Format(problem), std::vector<std::byte>(bytes, bytes + size)};
    }
    std::memcpy(result, cache.result.data(), size);
    return KernelStatus{};
  };
}

RawKernel WritePastEnd(RawKernel kernel) {
  return
      [kernel = std::move(kernel)](const Problem& problem, const void* input, const void* out_backprop, void* result) {
        const KernelStatus status = kernel(problem, input, out_backprop, result);
        StoreBits(problem.result_dtype(), result, problem.filter_count(), 0);
        return status;
      };
}

RawKernel ChangeInput(RawKernel kernel) {
  return
      [kernel = std::move(kernel)](const Problem& problem, const void* input, const void* out_backprop, void* result) {
        const KernelStatus status = kernel(problem, input, out_backprop, result);
        if (problem.input_count() == 0) return status;
        const std::uint64_t sign = std::uint64_t{1} << (8 * SizeOf(problem.dtype()) - 1);
        StoreBits(problem.dtype(), const_cast<void*>(input), 0, LoadBits(problem.dtype(), input, 0) ^ sign);
        return status;
      };
}

}  // namespace

std::vector<Fault> MemoryFaults() {
  return {
      {{"adds_to_output", "U1", "the sum is added to whatever the result holds", "pytorch 72157, composable_kernel 15",
        kFamily},
       {.start = [](const Problem&, std::int64_t, double old) { return old; }}},
      {{"scales_output_by_zero", "U2", "the result is scaled by zero instead of overwritten", "clBLAS 201", kFamily},
       {.start = [](const Problem&, std::int64_t, double old) { return 0 * old; }}},
      {{"empty_batch_untouched", "U3", "nothing is written for an empty batch", "OpenBLAS 2914", kFamily},
       {.write = WriteUnlessEmpty}},
      {{"clears_a_quarter", "U4", "only a quarter of the result is cleared before sums are added",
        "rocm-libraries 5387", kFamily},
       {.start = StartQuarterCleared}},
      {{"stale_output", "", "a remainder of 1e-4 stays in each element", "", kFamily},
       {.finish = [](const Problem&, double sum) { return sum + 1e-4; }}},
      {{"cached_by_shape", "U8", "the result of an earlier call of the same shapes is returned", "pytorch 94384",
        kFamily},
       {.wrap = CacheByShape}},
      {{"writes_past_end", "U10", "one element past the end of the result is written", "TFSA-2021-028, OpenBLAS 171",
        kFamily},
       {.wrap = WritePastEnd}},
      {{"changes_input", "U11", "the first element of input changes its sign", "", kFamily}, {.wrap = ChangeInput}},
  };
}

}  // namespace wgrad::fuzz
