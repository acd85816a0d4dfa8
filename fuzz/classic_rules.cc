#include "fuzz/classic_rules.h"

#include <cmath>
#include <limits>

#include "core/check.h"

namespace wgrad::fuzz {
namespace {

// |a - b| <= absolute + relative * |b|.
struct Tolerance {
  double relative;
  double absolute;
};

enum class NaNs { kDiffer, kEqual };

bool Close(double a, double b, const Tolerance& tolerance, NaNs nans) {
  if (a == b) return true;  // equal infinities too
  if (std::isnan(a) || std::isnan(b)) return nans == NaNs::kEqual && std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::fabs(a - b) <= tolerance.absolute + tolerance.relative * std::fabs(b);
}

template <typename Accepts>
bool EveryElement(const Tensor& actual, const Tensor& expected, Accepts accepts) {
  WGRAD_CHECK(actual.shape() == expected.shape(), "both tensors are results of one problem");
  for (std::int64_t at = 0; at < actual.element_count(); ++at) {
    if (!accepts(actual.value(at), expected.value(at))) return false;
  }
  return true;
}

bool NumpyAllclose(const Problem& /*problem*/, const Tensor& actual, const Tensor& expected) {
  return EveryElement(actual, expected, [](double a, double e) { return Close(a, e, {1e-5, 1e-8}, NaNs::kDiffer); });
}

Tolerance TorchTolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {1e-3, 1e-5};
    case DType::kBFloat16:
      return {1.6e-2, 1e-5};
    case DType::kFloat32:
      return {1.3e-6, 1e-5};
    case DType::kFloat64:
      break;
  }
  return {1e-7, 1e-7};
}

bool TorchAssertClose(const Problem& problem, const Tensor& actual, const Tensor& expected) {
  const Tolerance tolerance = TorchTolerance(problem.result_dtype());
  return EveryElement(actual, expected, [&](double a, double e) { return Close(a, e, tolerance, NaNs::kDiffer); });
}

bool TensorFlowArrayNear(const Problem& /*problem*/, const Tensor& actual, const Tensor& expected) {
  return EveryElement(actual, expected, [](double a, double e) { return Close(a, e, {0, 1e-5}, NaNs::kDiffer); });
}

Tolerance TensorFlowTolerance(DType dtype) {
  switch (dtype) {
    case DType::kFloat16:
      return {1e-3, 1e-3};
    case DType::kBFloat16:
      return {1e-2, 1e-2};
    case DType::kFloat32:
    case DType::kFloat64:
      break;
  }
  return {1e-5, 1e-6};
}

// The expected array comes first there, so that the tolerance is relative to the actual one.
bool TensorFlowByType(const Problem& problem, const Tensor& actual, const Tensor& expected) {
  const Tolerance tolerance = TensorFlowTolerance(problem.result_dtype());
  return EveryElement(actual, expected, [&](double a, double e) { return Close(e, a, tolerance, NaNs::kEqual); });
}

bool TensorFlowCompare(const Problem& /*problem*/, const Tensor& actual, const Tensor& expected) {
  return EveryElement(actual, expected, [](double a, double e) { return Close(e, a, {1e-4, 1e-4}, NaNs::kEqual); });
}

// The threshold is 0, so that equality is asked for, but tiny values may differ by less than a float32 epsilon.
bool BenchdnnDirect(const Problem& problem, const Tensor& actual, const Tensor& expected) {
  const bool nan_allowed = problem.result_dtype() == DType::kFloat16;
  return EveryElement(actual, expected, [&](double a, double e) {
    const auto got = static_cast<float>(a);
    const auto due = static_cast<float>(e);
    if (got == due) return true;
    if (std::isnan(got) && std::isnan(due)) return nan_allowed;
    return std::fabs(due) <= 1e-5F && std::fabs(due - got) < std::numeric_limits<float>::epsilon();
  });
}

}  // namespace

const std::vector<ClassicRule>& ClassicRules() {
  static const std::vector<ClassicRule> rules = {
      {"numpy_allclose", "numpy.allclose with its defaults", NumpyAllclose},
      {"torch_assert_close", "torch.testing.assert_close with its defaults", TorchAssertClose},
      {"tensorflow_array_near",
       "TensorFlow, conv_ops_test.py, _RunAndVerifyBackpropFilter at 00b1ec2: assertArrayNear, err 1e-5",
       TensorFlowArrayNear},
      {"tensorflow_by_type",
       "TensorFlow, conv_ops_test.py, _RunAndVerifyBackpropFilter later: assertAllCloseAccordingToType, rtol 1e-5",
       TensorFlowByType},
      {"tensorflow_compare", "TensorFlow, conv_ops_test.py, _CompareBackFilter: assertAllClose, rtol = atol = 1e-4",
       TensorFlowCompare},
      {"benchdnn_direct",
       "oneDNN, tests/benchdnn/utils/compare.cpp, compare_p2p, with the threshold 0 of conv/conv.cpp, setup_cmp",
       BenchdnnDirect},
  };
  return rules;
}

const ClassicRule* FindClassicRule(const std::string& name) {
  for (const ClassicRule& rule : ClassicRules()) {
    if (rule.name == name) return &rule;
  }
  return nullptr;
}

}  // namespace wgrad::fuzz
