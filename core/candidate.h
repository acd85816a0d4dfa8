// The one interface through which everything that can be judged arrives, and what it says of itself.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/case.h"
#include "core/op_arguments.h"
#include "core/problem.h"
#include "core/tensor.h"

namespace wgrad {

/// Order of filter_backprop's axes as a candidate delivers them. wgrad's own is HWIO.
enum class ResultLayout : std::uint8_t { kHwio, kOihw, kOhwi };
std::optional<ResultLayout> ResultLayoutFromName(std::string_view name);  // hwio oihw ohwi
std::string_view NameOf(ResultLayout layout);
std::vector<std::int64_t> ResultShape(const Problem& problem, ResultLayout layout);
/// `result` (of ResultShape(problem, layout)) with its axes in HWIO order.
Tensor ToHwio(const Problem& problem, ResultLayout layout, const Tensor& result);

/// What a candidate can compute. A problem outside is `unsupported`, inside must be answered.
struct Capabilities {
  std::set<std::string> dtypes = {"f16", "bf16", "f32", "f64", "f16_f32", "bf16_f32"};  // DTypeTag
  std::set<std::string> data_formats = {"NHWC", "NCHW"};
  std::set<std::string> paddings = {"SAME", "VALID", "EXPLICIT"};
  bool asymmetric_padding = true;  // before != after on an axis, SAME's odd totals included
  bool per_axis_strides = true;    // stride of rows != stride of columns
  bool non_square = true;          // image or filter with height != width
  bool dilation = true;
  bool stride_with_dilation = true;
  bool groups = true;
  bool zero_sizes = true;                                                // a tensor without elements
  std::int64_t max_elements = std::numeric_limits<std::int64_t>::max();  // of one tensor
  std::int64_t max_work = std::numeric_limits<std::int64_t>::max();      // multiply-adds of one call
  std::string unavailable;  // not empty: covers nothing, and why ("not installed: type ..")

  friend bool operator==(const Capabilities&, const Capabilities&) = default;
};

/// Why `capabilities` do not cover `problem`, or nothing where they do.
std::optional<std::string> WhyUnsupported(const Capabilities& capabilities, const Problem& problem);

/// What a candidate promises about its arithmetic, in the words of --class and the policy switches.
struct Declaration {
  std::map<std::string, std::string> accuracy_class;  // DTypeTag -> "order", "wide:f32", ...; absent: the default
  std::string pad;                                    // "", "skip", "multiply" or "either"
  bool ftz = false;
  bool daz = false;
  bool saturate = false;
  bool zero_skip = false;
  bool deterministic = false;  // same inputs, same bits

  friend bool operator==(const Declaration&, const Declaration&) = default;
};

struct Greeting {
  std::string name;
  std::string version = {};
  std::map<std::string, std::string> libraries = {};  // name -> version of what it is built on
  Capabilities capabilities = {};
  Declaration declaration = {};
  bool validates = false;  // answers kRejected to wrong arguments (Candidate::TryArguments)
};

/// What became of one call. Everything but kResult carries a message.
enum class AnswerKind : std::uint8_t {
  kResult,
  kUnsupported,  // "I do not do this"
  kRejected,     // "these arguments are wrong"
  kError,        // it gave up, or broke a rule of the call (wrote outside its buffer, changed its inputs)
  kDied,         // signal, exit, time or memory limit, broken protocol
};

struct Answer {
  AnswerKind kind = AnswerKind::kResult;
  std::string message = {};
  std::string detail = {};  // more lines for the report, such as a stack trace
  /// For kResult: filter_backprop in HWIO and the problem's result dtype. Elements never written hold PoisonBits.
  Tensor result = {};

  static Answer Of(Tensor result) { return {.result = std::move(result)}; }
  static Answer Of(AnswerKind kind, std::string message) { return {.kind = kind, .message = std::move(message)}; }
};

/// Something that computes conv2d_backprop_filter. One instance is used by one thread at a time.
class Candidate {
 public:
  virtual ~Candidate() = default;
  virtual const Greeting& greeting() const = 0;
  /// Tensors have the problem's shapes and dtype; `problem` lies within the greeting's capabilities.
  virtual Answer FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) = 0;
  /// A call whose arguments may be anything; the tensors' bytes belong to the dtypes and shapes in `arguments`.
  /// Who accepts it answers kResult, with a tensor that says nothing.
  virtual Answer TryArguments(const OpArguments& arguments, const Tensor& input, const Tensor& out_backprop);
};

/// TryArguments of a candidate that leaves refusing to Validate.
Answer ValidateAndRun(Candidate& candidate, const OpArguments& arguments, const Tensor& input,
                      const Tensor& out_backprop);

/// Makes one more instance of the same candidate, e.g. one for each worker thread.
using CandidateFactory = std::function<std::unique_ptr<Candidate>()>;

}  // namespace wgrad
