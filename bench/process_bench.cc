// What a call costs beside its computation: the way to a plugin's process and back, and the same bytes written to and
// read from a file in memory, which is the measure for it.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <string>

#include "candidates/plugin/plugin_candidate.h"
#include "core/case.h"
#include "core/check.h"

namespace wgrad {
namespace {

constexpr const char* kSmall = "n1_i4x4_c2_k3x3_o2_same_f32";
constexpr const char* kLarge = "n1_i3163x3163_c1_k1x1_o1_valid_f32";  // two tensors of 10^7 elements

std::unique_ptr<Candidate> IdleCandidate() {
  setenv("WGRAD_PLUGIN_HOST", WGRAD_PLUGIN_HOST_PATH, 1);
  const auto opened = candidates::OpenPlugin(WGRAD_IDLE_PLUGIN, {});
  WGRAD_CHECK(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
  return opened->opened.at(0).make();
}

void Call(benchmark::State& state, const char* text) {
  const Problem problem = ParseProblem(text).value();
  const Tensor input(problem.dtype(), problem.input_shape());
  const Tensor out_backprop(problem.dtype(), problem.out_backprop_shape());
  const auto candidate = IdleCandidate();
  for (auto _ : state) {
    const Answer answer = candidate->FilterGradient(problem, input, out_backprop);
    WGRAD_CHECK(answer.kind == AnswerKind::kResult, answer.message.c_str());
  }
}

// The bytes of `text`'s inputs through a file on tmpfs: written, read into memory that is there already.
void ThroughTmpfs(benchmark::State& state, const char* text) {
  const Problem problem = ParseProblem(text).value();
  const Tensor input(problem.dtype(), problem.input_shape());
  Tensor again(problem.dtype(), problem.input_shape());
  const std::string path = "/dev/shm/wgrad_bench_" + std::to_string(getpid());
  for (auto _ : state) {
    for (int tensor = 0; tensor < 2; ++tensor) {
      const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
      WGRAD_CHECK(write(file, input.data(), input.byte_count()) >= 0, "cannot write to /dev/shm");
      WGRAD_CHECK(pread(file, again.data(), again.byte_count(), 0) >= 0, "cannot read from /dev/shm");
      close(file);
    }
  }
  unlink(path.c_str());
}

BENCHMARK_CAPTURE(Call, small, kSmall)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_CAPTURE(Call, large, kLarge)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(ThroughTmpfs, large, kLarge)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace wgrad

BENCHMARK_MAIN();
