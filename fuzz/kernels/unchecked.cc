#include "fuzz/kernels/unchecked.h"

#include <string>
#include <utility>

#include "core/guarded_call.h"
#include "fuzz/kernels/recipe.h"

namespace wgrad::fuzz {
namespace {

constexpr int kRules = 26;

std::string NameOfRule(int rule) { return "unchecked_V" + std::to_string(rule); }

// Refuses what breaks another rule than its own.
class UncheckedKernel : public Candidate {
 public:
  UncheckedKernel(Greeting greeting, int rule)
      : kernel_(MakeInProcessCandidate(std::move(greeting), KernelOf({}))), rule_(rule) {}

  const Greeting& greeting() const override { return kernel_->greeting(); }
  Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) override {
    return kernel_->FilterGradient(problem, input, out_backprop);
  }
  Answer TryArguments(const OpArguments& arguments, const Tensor& input, const Tensor& out_backprop) override {
    const Result<Problem> problem = Validate(arguments);
    if (!problem.ok() && problem.error().rule == rule_) return Answer::Of(Tensor(DType::kFloat32, {1}));
    return kernel_->TryArguments(arguments, input, out_backprop);
  }

 private:
  std::unique_ptr<Candidate> kernel_;
  int rule_;
};

}  // namespace

std::vector<WrongKernel> UncheckedKernels() {
  std::vector<WrongKernel> kernels;
  for (int rule = 0; rule < kRules; ++rule) {
    kernels.push_back({NameOfRule(rule), "", "accepts arguments that break rule V" + std::to_string(rule), "",
                       FaultFamily::kArguments});
  }
  return kernels;
}

std::unique_ptr<Candidate> MakeUncheckedKernel(std::string_view name, Greeting greeting) {
  for (int rule = 0; rule < kRules; ++rule) {
    if (name == NameOfRule(rule)) return std::make_unique<UncheckedKernel>(std::move(greeting), rule);
  }
  return nullptr;
}

}  // namespace wgrad::fuzz
