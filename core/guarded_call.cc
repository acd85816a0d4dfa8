#include "core/guarded_call.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

namespace wgrad {
namespace {

constexpr std::size_t kZone =
    4096;  // bytes of red zone on each side; a multiple of the 64-byte alignment and of every element

struct Free {
  void operator()(std::byte* pointer) const { ::operator delete (pointer, std::align_val_t{64}); }
};

// `count` elements between two zones filled with the dtype's poison. The elements themselves start out undefined.
class GuardedBuffer {
 public:
  GuardedBuffer(DType dtype, std::size_t byte_count)
      : byte_count_(byte_count),
        memory_(static_cast<std::byte*>(::operator new (byte_count + 2 * kZone, std::align_val_t{64}))) {
    const std::uint64_t bits = PoisonBits(dtype);
    const std::size_t size = SizeOf(dtype);
    for (std::size_t at = 0; at < kZone; at += size) std::memcpy(zone_.data() + at, &bits, size);
    std::memcpy(memory_.get(), zone_.data(), kZone);
    std::memcpy(data() + byte_count_, zone_.data(), kZone);
  }

  std::byte* data() { return memory_.get() + kZone; }
  void PoisonElements() {
    for (std::size_t at = 0; at < byte_count_; at += kZone) {
      std::memcpy(data() + at, zone_.data(), std::min(kZone, byte_count_ - at));
    }
  }
  bool ZoneBeforeIntact() const { return std::memcmp(memory_.get(), zone_.data(), kZone) == 0; }
  bool ZoneAfterIntact() const { return std::memcmp(memory_.get() + kZone + byte_count_, zone_.data(), kZone) == 0; }

 private:
  std::size_t byte_count_;
  std::array<std::byte, kZone> zone_;  // what an intact zone holds
  std::unique_ptr<std::byte[], Free> memory_;
};

class GuardedInput {
 public:
  GuardedInput(const char* name, const Tensor& tensor)
      : name_(name), tensor_(tensor), buffer_(tensor.dtype(), tensor.byte_count()) {
    if (tensor.byte_count() != 0) std::memcpy(buffer_.data(), tensor.data(), tensor.byte_count());
  }

  const void* data() { return buffer_.data(); }

  /// What the kernel did to it, or an empty text.
  std::string Damage() {
    const bool same =
        tensor_.byte_count() == 0 || std::memcmp(buffer_.data(), tensor_.data(), tensor_.byte_count()) == 0;
    if (!same) return std::string("changed its input ") + name_;
    if (!buffer_.ZoneBeforeIntact()) return std::string("wrote before the start of ") + name_;
    if (!buffer_.ZoneAfterIntact()) return std::string("wrote past the end of ") + name_;
    return "";
  }

 private:
  const char* name_;
  const Tensor& tensor_;
  GuardedBuffer buffer_;
};

class InProcessCandidate : public Candidate {
 public:
  InProcessCandidate(Greeting greeting, RawKernel kernel, ResultLayout layout)
      : greeting_(std::move(greeting)), kernel_(std::move(kernel)), layout_(layout) {}

  const Greeting& greeting() const override { return greeting_; }
  Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) override {
    return RunGuarded(problem, input, out_backprop, layout_, kernel_);
  }
  Answer TryArguments(const OpArguments& arguments, const Tensor& input, const Tensor& out_backprop) override {
    if (!greeting_.validates) return Candidate::TryArguments(arguments, input, out_backprop);
    return ValidateAndRun(*this, arguments, input, out_backprop);
  }

 private:
  Greeting greeting_;
  RawKernel kernel_;
  ResultLayout layout_;
};

}  // namespace

Answer RunGuarded(const Problem& problem, const Tensor& input, const Tensor& out_backprop, ResultLayout layout,
                  const RawKernel& kernel) {
  GuardedInput guarded_input("input", input);
  GuardedInput guarded_out_backprop("out_backprop", out_backprop);
  Tensor result(problem.result_dtype(), ResultShape(problem, layout));
  GuardedBuffer guarded_result(problem.result_dtype(), result.byte_count());
  guarded_result.PoisonElements();

  KernelStatus status = kernel(problem, guarded_input.data(), guarded_out_backprop.data(), guarded_result.data());

  if (!guarded_result.ZoneBeforeIntact())
    return Answer::Of(AnswerKind::kError, "wrote before the start of filter_backprop");
  if (!guarded_result.ZoneAfterIntact()) return Answer::Of(AnswerKind::kError, "wrote past the end of filter_backprop");
  for (GuardedInput* guarded : {&guarded_input, &guarded_out_backprop}) {
    if (std::string damage = guarded->Damage(); !damage.empty())
      return Answer::Of(AnswerKind::kError, std::move(damage));
  }
  if (status.kind != AnswerKind::kResult) return Answer::Of(status.kind, std::move(status.message));
  if (result.byte_count() != 0) std::memcpy(result.data(), guarded_result.data(), result.byte_count());
  if (layout == ResultLayout::kHwio) return Answer::Of(std::move(result));
  return Answer::Of(ToHwio(problem, layout, result));
}

std::unique_ptr<Candidate> MakeInProcessCandidate(Greeting greeting, RawKernel kernel, ResultLayout layout) {
  return std::make_unique<InProcessCandidate>(std::move(greeting), std::move(kernel), layout);
}

}  // namespace wgrad
