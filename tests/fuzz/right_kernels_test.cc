// The right kernels: none is accused under what it declares, and they do differ.
#include "fuzz/kernels/right_kernels.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/case.h"
#include "oracle/examine.h"
#include "reference/filter_gradient.h"
#include "suites/suites.h"

namespace wgrad::fuzz {
namespace {

using oracle::CaseVerdict;
using oracle::Outcome;

struct Types {
  std::string tag;
  DType dtype;
  DType result;
};
const Types kTypes[] = {
    {"f32", DType::kFloat32, DType::kFloat32},     {"f64", DType::kFloat64, DType::kFloat64},
    {"f16", DType::kFloat16, DType::kFloat16},     {"bf16", DType::kBFloat16, DType::kBFloat16},
    {"f16_f32", DType::kFloat16, DType::kFloat32}, {"bf16_f32", DType::kBFloat16, DType::kFloat32},
};

bool IsWinograd(const std::string& name) { return name.starts_with("winograd"); }

// The traps that cost little, in every dtype that the kernel covers.
std::vector<Problem> CheapTraps(const Capabilities& capabilities, std::int64_t max_work) {
  std::set<std::string> seen;
  std::vector<Problem> problems;
  for (const Problem& trap : suites::SuiteProblems("traps").value()) {
    if (trap.multiply_adds() > max_work) continue;
    for (const Types& types : kTypes) {
      const Problem problem = WithDType(trap, types.dtype, types.result);
      if (!capabilities.dtypes.contains(types.tag) || !seen.insert(Format(problem)).second) continue;
      problems.push_back(problem);
    }
  }
  return problems;
}

struct Totals {
  int passed = 0;
  std::int64_t elements = 0;
  std::set<std::string> dtypes;
};

Totals ExamineAll(const std::string& name) {
  const auto kernel = MakeRightKernel(name);
  Totals totals;
  for (const Problem& problem : CheapTraps(kernel->greeting().capabilities, IsWinograd(name) ? 2000 : 100)) {
    const oracle::Judging judging = oracle::Resolve(problem, {}, kernel->greeting().declaration).value();
    for (const Filling filling : oracle::Battery(problem, {.deterministic = true})) {
      const CaseVerdict verdict = oracle::Examine({problem, filling}, *kernel, judging);
      EXPECT_FALSE(IsWrong(verdict.outcome)) << name << " on " << CaseName(verdict) << ": " << verdict.reason;
      if (verdict.outcome != Outcome::kPass) continue;
      ++totals.passed;
      totals.elements += verdict.statistics.elements;
      totals.dtypes.insert(DTypeTag(problem));
    }
  }
  return totals;
}

class EachRightKernel : public testing::TestWithParam<std::string> {};

TEST_P(EachRightKernel, PassesTheTrapsUnderItsOwnDeclaration) {
  const std::string& name = GetParam();
  const Totals totals = ExamineAll(name);
  const Greeting greeting = MakeRightKernel(name)->greeting();
  EXPECT_EQ(totals.dtypes, greeting.capabilities.dtypes);
  EXPECT_GE(totals.elements, static_cast<std::int64_t>(totals.dtypes.size()) * 700);
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const RightKernel& kernel : RightKernels()) names.push_back(kernel.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(RightKernels, EachRightKernel, testing::ValuesIn(Names()),
                         [](const auto& instance) { return instance.param; });

// Bits of a kernel's results by case: on rounding, cancelling, subnormal, overflowing and special data.
using Signature = std::map<std::string, std::vector<std::uint64_t>>;

std::vector<std::uint64_t> BitsOf(const Tensor& tensor) {
  std::vector<std::uint64_t> bits;
  for (std::int64_t at = 0; at < tensor.element_count(); ++at) bits.push_back(tensor.bits(at));
  return bits;
}

std::vector<Case> TellingCases(const Types& types) {
  const Problem problem = WithDType(ParseProblem("n3_i9x9_c2_k3x3_o3_same_f32").value(), types.dtype, types.result);
  std::vector<Case> cases;
  for (const char* const filling : {"normal", "cancel", "wide", "tiny", "huge", "special"}) {
    cases.push_back({problem, FillingFromName(filling).value()});
  }
  return cases;
}

template <typename Call>
Signature SignatureOf(const std::set<std::string>& dtypes, Call call) {
  Signature signature;
  for (const Types& types : kTypes) {
    if (!dtypes.contains(types.tag)) continue;
    for (const Case& c : TellingCases(types)) {
      const oracle::FilledCase filled(c);
      for (int number = 0; number < filled.run_count(); ++number) {
        signature[Format(c) + "/" + std::to_string(number)] = BitsOf(call(c.problem, filled.MakeRun(number)));
      }
    }
  }
  return signature;
}

Signature SignatureOf(const std::string& name) {
  const auto kernel = MakeRightKernel(name);
  return SignatureOf(kernel->greeting().capabilities.dtypes, [&](const Problem& problem, const oracle::Run& run) {
    Answer answer = kernel->FilterGradient(problem, run.input, run.out_backprop);
    EXPECT_EQ(answer.kind, AnswerKind::kResult) << name << ": " << answer.message;
    return std::move(answer.result);
  });
}

// Equal wherever both have a result; nothing where they have no case in common.
std::optional<bool> Same(const Signature& a, const Signature& b) {
  std::optional<bool> same;
  for (const auto& [text, bits] : a) {
    const auto found = b.find(text);
    if (found != b.end()) same = same.value_or(true) && bits == found->second;
  }
  return same;
}

TEST(RightKernels, DifferFromEachOther) {
  // Other loops around the sums of `forward`, in the same order.
  const std::set<std::string> in_order = {"forward", "skip_padding", "direct"};
  std::map<std::string, Signature> signatures;
  for (const std::string& name : Names()) signatures[name] = SignatureOf(name);
  int compared = 0;
  for (const auto& [name, signature] : signatures) {
    for (const auto& [other, its_signature] : signatures) {
      if (name >= other) continue;
      const std::optional<bool> same = Same(signature, its_signature);
      if (!same) continue;
      EXPECT_EQ(*same, in_order.contains(name) && in_order.contains(other)) << name << " and " << other;
      ++compared;
    }
  }
  EXPECT_GE(compared, 600);
}

TEST(RightKernels, DifferFromTheCorrectlyRoundedResult) {
  const std::set<std::string> all = Capabilities().dtypes;
  const Signature rounded = SignatureOf(all, [](const Problem& problem, const oracle::Run& run) {
    return reference::RoundedFilterGradient(problem, run.input, run.out_backprop);
  });
  int compared = 0;
  for (const std::string& name : Names()) {
    // 243 terms are too few to show the second of its two roundings.
    EXPECT_EQ(Same(SignatureOf(name), rounded), name == "float64_accumulate") << name;
    ++compared;
  }
  EXPECT_EQ(compared, 36);
}

TEST(RightKernels, SayWhatTheyAreAndPromise) {
  std::set<std::string> names;
  for (const RightKernel& kernel : RightKernels()) {
    EXPECT_TRUE(names.insert(kernel.name).second) << kernel.name;
    EXPECT_FALSE(kernel.description.empty()) << kernel.name;
    const auto candidate = MakeRightKernel(kernel.name);
    ASSERT_NE(candidate, nullptr) << kernel.name;
    EXPECT_EQ(candidate->greeting().name, "right:" + kernel.name);
    std::set<std::string> promised;
    for (const auto& [tag, text] : kernel.declaration.accuracy_class) {
      EXPECT_TRUE(oracle::ParseClass(text).ok()) << kernel.name << " for " << tag << ": " << text;
      promised.insert(tag);
    }
    EXPECT_EQ(promised, kernel.capabilities.dtypes) << kernel.name;
    EXPECT_TRUE(kernel.declaration.deterministic) << kernel.name;
  }
  EXPECT_EQ(names.size(), 36u);
  EXPECT_EQ(MakeRightKernel("no_such_kernel"), nullptr);
}

TEST(RightKernels, OfASpecialShapeSaySoElsewhere) {
  const Problem problem = ParseProblem("n1_i5x5_c1_k2x2_o1_same_f32").value();
  const Tensor input(problem.dtype(), problem.input_shape());
  const Tensor out_backprop(problem.dtype(), problem.out_backprop_shape());
  for (const char* const name : {"winograd_f3x3_2x2", "winograd_f3x3_4x4"}) {
    const Answer answer = MakeRightKernel(name)->FilterGradient(problem, input, out_backprop);
    EXPECT_EQ(answer.kind, AnswerKind::kUnsupported) << name;
    EXPECT_EQ(answer.message, "needs a 3x3 filter without stride and dilation");
  }
}

}  // namespace
}  // namespace wgrad::fuzz
