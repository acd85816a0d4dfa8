// Faults in the arithmetic: formats that are too narrow, special values that disappear.
#include <cmath>
#include <utility>

#include "fuzz/kernels/faults.h"

namespace wgrad::fuzz {
namespace {

constexpr FaultFamily kFamily = FaultFamily::kNumeric;
constexpr std::uint64_t kTf32Cut = 0x1FFF;  // the 13 of float32's 23 stored bits that TF32 lacks

double RoundTo(DType dtype, double value) { return DecodeBits(dtype, EncodeNearest(dtype, value)); }

bool IsNarrow(DType dtype) { return SizeOf(dtype) == 2; }

// The format of an accumulator that saves too much.
DType NarrowAccumulator(const Problem& problem) {
  if (IsNarrow(problem.result_dtype())) return problem.result_dtype();
  return problem.result_dtype() == DType::kFloat64 ? DType::kFloat32 : DType::kBFloat16;
}

double AddNarrowly(const Problem& problem, double sum, double addend) {
  return RoundTo(NarrowAccumulator(problem), sum + addend);
}

double AddInResultFormat(const Problem& problem, double sum, double addend) {
  const DType dtype = problem.result_dtype();
  return RoundTo(dtype, sum + RoundTo(dtype, addend));
}

double HalfThroughBFloat16(const Problem& problem, double value) {
  return problem.dtype() == DType::kFloat16 ? RoundTo(DType::kBFloat16, value) : value;
}

double CutToTf32(const Problem& problem, double value) {
  if (problem.dtype() != DType::kFloat32 || !std::isfinite(value)) return value;
  return DecodeBits(DType::kFloat32, EncodeNearest(DType::kFloat32, value) & ~kTf32Cut);
}

std::uint64_t StoreSaturated(const Problem& problem, double sum) {
  const DType dtype = problem.result_dtype();
  const std::uint64_t bits = EncodeNearest(dtype, sum);
  return IsInf(dtype, bits) ? LargestFiniteBits(dtype, sum < 0) : bits;
}

std::uint64_t StoreTruncated(const Problem& problem, double sum) {
  const DType dtype = problem.result_dtype();
  const std::uint64_t bits = EncodeNearest(dtype, sum);
  const bool away_from_zero = std::fabs(DecodeBits(dtype, bits)) > std::fabs(sum);
  return away_from_zero ? bits - 1 : bits;  // sign and magnitude: one less is one step towards zero
}

}  // namespace

std::vector<Fault> NumericFaults() {
  return {
      {{"narrow_accumulator",
        "N1",
        "sums are kept in the result's half or bfloat16, float32 ones in bfloat16",
        "torch-mlir 4408",
        kFamily,
        {{DType::kFloat16}, {DType::kBFloat16}, {DType::kFloat32}, {DType::kFloat64}}},
       {.add_product = AddNarrowly, .add_image = AddNarrowly}},
      {{"narrow_partials",
        "N2",
        "the partial sum of each image is rounded to the result's format",
        "rocm-libraries 5859",
        kFamily,
        {{DType::kFloat16}, {DType::kBFloat16}}},
       {.add_image = AddInResultFormat}},
      {{"saturates", "N3", "an overflow becomes the largest finite value", "MIOpen 2496", kFamily},
       {.store = StoreSaturated}},
      {{"half_through_bfloat16",
        "N7",
        "half operands are converted to bfloat16 first",
        "composable_kernel 671",
        kFamily,
        {{DType::kFloat16}}},
       {.operand = HalfThroughBFloat16}},
      {{"tf32_inputs", "N8", "float32 operands are cut to the 10 bits of TF32", "", kFamily, {{DType::kFloat32}}},
       {.operand = CutToTf32}},
      {{"zero_terms_skipped", "N9", "terms with a zero factor are skipped, whatever the other", "Theano 3609", kFamily},
       {.product_counts = [](double input, double out_backprop) { return input != 0 && out_backprop != 0; }}},
      {{"truncating_store",
        "N14",
        "the result is truncated, not rounded to nearest",
        "",
        kFamily,
        {{DType::kFloat16, "wide"}, {DType::kBFloat16, "wide"}}},
       {.store = StoreTruncated}},
      {{"nan_swallowed", "", "products that are NaN are taken for zero", "", kFamily},
       {.product_counts = [](double input, double out_backprop) { return !std::isnan(input * out_backprop); }}},
  };
}

}  // namespace wgrad::fuzz
