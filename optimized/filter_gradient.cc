#include "optimized/filter_gradient.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/guarded_call.h"
#include "optimized/column_tile.h"
#include "optimized/convert.h"
#include "optimized/gemm.h"
#include "optimized/work_plan.h"

namespace wgrad::optimized {
namespace {

// Starting a thread costs some ten microseconds, in which one core does half a million multiply-adds.
constexpr std::int64_t kMultiplyAddsOfThread = 4'000'000;

// The sums of all parts, each of the filter's size. Part 0 may lie in the result itself.
template <typename Real>
class PartialSums {
 public:
  PartialSums(const Problem& problem, Real* first, std::vector<Real>& others)
      : problem_(problem), first_(first), others_(others) {}

  Sum<Real> Cleared(const WorkUnit& unit) const {
    const std::int64_t width = problem_.out_depth();
    const std::int64_t group_width = problem_.out_depth_per_group();
    Real* const part = unit.part == 0 ? first_ : others_.data() + (unit.part - 1) * problem_.filter_count();
    Real* const corner = part + unit.columns.first * width + unit.columns.group * group_width;
    for (std::int64_t row = 0; row < unit.columns.count; ++row) {
      std::fill_n(corner + row * width, group_width, Real{0});
    }
    return {corner, width};
  }

  // Adds the other parts to part 0, one after the other.
  void AddUp() const {
    const std::int64_t count = problem_.filter_count();
    for (std::int64_t at = 0; at < static_cast<std::int64_t>(others_.size()); at += count) {
      for (std::int64_t i = 0; i < count; ++i) first_[i] += others_[static_cast<std::size_t>(at + i)];
    }
  }

 private:
  const Problem& problem_;
  Real* first_;
  std::vector<Real>& others_;
};

template <typename Stored>
class FilterGradientRun {
 public:
  using Real = Working<Stored>;

  FilterGradientRun(const Problem& problem, const Images<Stored>& images)
      : problem_(problem), images_(images), plan_(problem, images.format, sizeof(Real)) {}

  // Leaves the sums in `first`, which holds filter_count elements.
  void Run(Real* first, int threads) {
    static thread_local std::vector<Real> others;
    others.resize(static_cast<std::size_t>((plan_.parts() - 1) * problem_.filter_count()));
    const PartialSums<Real> sums(problem_, first, others);
    std::atomic<std::int64_t> next = 0;
    const auto work = [&] { Work(sums, next); };
    std::vector<std::jthread> helpers;
    for (std::int64_t i = 1; i < ThreadCount(threads); ++i) {
      try {
        helpers.emplace_back(work);
      } catch (const std::system_error&) {
        break;  // the system grants no more threads: those that run take all units
      }
    }
    work();
    helpers.clear();
    sums.AddUp();
  }

 private:
  std::int64_t ThreadCount(int threads) const {
    const std::int64_t asked = threads > 0 ? threads : static_cast<std::int64_t>(std::thread::hardware_concurrency());
    return std::min({asked, plan_.unit_count(), 1 + problem_.multiply_adds() / kMultiplyAddsOfThread});
  }

  void Work(const PartialSums<Real>& sums, std::atomic<std::int64_t>& next) const {
    static thread_local OperandTiles<Stored> tiles;
    tiles.Bind(problem_, images_);
    for (std::int64_t index = next++; index < plan_.unit_count(); index = next++) {
      const WorkUnit unit = plan_.unit(index);
      AddUnit(unit, tiles, sums.Cleared(unit));
    }
  }

  void AddUnit(const WorkUnit& unit, OperandTiles<Stored>& tiles, const Sum<Real>& sum) const {
    tiles.SelectColumns(unit.columns);
    for (PositionRange rest = unit.positions; rest.count > 0;) {
      const PositionRange tile = plan_.NextTile(rest);
      const GemmSizes sizes{unit.columns.count, problem_.out_depth_per_group(), tile.count};
      AddProduct(sizes, tiles.Columns(tile), tiles.OutBackprop(tile), sum);
      rest = {rest.first + tile.count, rest.count - tile.count};
    }
  }

  const Problem& problem_;
  const Images<Stored> images_;
  WorkPlan plan_;
};

// NHWC images of `pixels` times `depth` elements as NCHW ones, a small square at a time so that both sides stay in
// cache.
template <typename Stored>
std::vector<Stored> ToPlanes(const Stored* from, std::int64_t images, std::int64_t pixels, std::int64_t depth) {
  constexpr std::int64_t kSquare = 32;
  std::vector<Stored> planes(static_cast<std::size_t>(images * pixels * depth));
  Stored* to = planes.data();
  for (std::int64_t n = 0; n < images; ++n, from += pixels * depth, to += pixels * depth) {
    for (std::int64_t first_pixel = 0; first_pixel < pixels; first_pixel += kSquare) {
      for (std::int64_t c = 0; c < depth; ++c) {
        const std::int64_t end = std::min(pixels, first_pixel + kSquare);
        for (std::int64_t pixel = first_pixel; pixel < end; ++pixel) to[c * pixels + pixel] = from[pixel * depth + c];
      }
    }
  }
  return planes;
}

// Groups of few channels, depthwise above all, would gather single elements from NHWC images over and over.
bool WantsPlanes(const Problem& problem) {
  constexpr std::int64_t kFewChannels = 16;
  return problem.data_format() == DataFormat::kNhwc && problem.groups() > 1 && problem.filter_depth() < kFewChannels;
}

template <typename Stored, typename ResultType>
void Compute(const Problem& problem, const Buffers& buffers, int threads) {
  using Real = Working<Stored>;
  auto* const result = static_cast<ResultType*>(buffers.filter_backprop);
  Images<Stored> images{static_cast<const Stored*>(buffers.input), static_cast<const Stored*>(buffers.out_backprop),
                        problem.data_format()};
  std::vector<Stored> input;
  std::vector<Stored> out_backprop;
  if (WantsPlanes(problem)) {
    const Axis& rows = problem.rows();
    const Axis& columns = problem.columns();
    input = ToPlanes(images.input, problem.batch(), rows.input * columns.input, problem.input_depth());
    out_backprop = ToPlanes(images.out_backprop, problem.batch(), rows.output * columns.output, problem.out_depth());
    images = {input.data(), out_backprop.data(), DataFormat::kNchw};
  }
  FilterGradientRun<Stored> run(problem, images);
  if constexpr (std::is_same_v<ResultType, Real>) {
    run.Run(result, threads);
  } else {
    static thread_local std::vector<Real> sums;
    sums.resize(static_cast<std::size_t>(problem.filter_count()));
    run.Run(sums.data(), threads);
    Narrow(sums.data(), result, problem.filter_count());
  }
}

Status CheckExtents(const Problem& problem) {
  const std::pair<const char*, std::int64_t> extents[] = {
      {"input depth", problem.input_depth()},
      {"output depth", problem.out_depth()},
      {"output positions of an image", problem.rows().output * problem.columns().output},
  };
  for (const auto& [name, extent] : extents) {
    if (extent <= LargestGemmExtent()) continue;
    return Error{ErrorCode::kTooLarge, std::string(name) + " is " + std::to_string(extent) + ", OpenBLAS takes up to " +
                                           std::to_string(LargestGemmExtent())};
  }
  return Ok();
}

Greeting OpenBlasGreeting() {
  Greeting greeting;
  greeting.name = "openblas";
  greeting.libraries = {{"OpenBLAS", GemmLibraryVersion()}};
  for (const char* tag : {"f32", "f64", "f16_f32", "bf16_f32"}) greeting.declaration.accuracy_class[tag] = "order";
  for (const char* tag : {"f16", "bf16"}) greeting.declaration.accuracy_class[tag] = "wide";
  greeting.declaration.deterministic = true;
  greeting.validates = true;
  return greeting;
}

}  // namespace

Status FilterGradient(const Problem& problem, const Buffers& buffers, const Options& options) {
  if (problem.filter_count() == 0) return Ok();
  const Status extents = CheckExtents(problem);
  if (!extents.ok()) return extents;
  const bool same = problem.dtype() == problem.result_dtype();
  switch (problem.dtype()) {
    case DType::kFloat16:
      same ? Compute<Float16, Float16>(problem, buffers, options.threads)
           : Compute<Float16, float>(problem, buffers, options.threads);
      break;
    case DType::kBFloat16:
      same ? Compute<BFloat16, BFloat16>(problem, buffers, options.threads)
           : Compute<BFloat16, float>(problem, buffers, options.threads);
      break;
    case DType::kFloat32:
      Compute<float, float>(problem, buffers, options.threads);
      break;
    case DType::kFloat64:
      Compute<double, double>(problem, buffers, options.threads);
      break;
  }
  return Ok();
}

std::unique_ptr<Candidate> MakeOpenBlasCandidate(int threads) {
  const RawKernel kernel = [threads](const Problem& problem, const void* input, const void* out_backprop,
                                     void* result) -> KernelStatus {
    const Status status = FilterGradient(problem, {input, out_backprop, result}, {threads});
    if (status.ok()) return {};
    return {AnswerKind::kUnsupported, status.error().message};
  };
  return MakeInProcessCandidate(OpenBlasGreeting(), kernel);
}

}  // namespace wgrad::optimized
