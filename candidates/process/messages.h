// What the frames between wgrad and a candidate's process say: greeting, request, answer. docs/protocol.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "candidates/process/frame.h"
#include "core/candidate.h"
#include "core/op_arguments.h"
#include "core/result.h"
#include "io/json.h"

namespace wgrad::candidates {

inline constexpr std::int64_t kProtocolVersion = 1;

/// What a process says of itself before its first request.
struct ProcessGreeting {
  Greeting greeting;
  std::vector<std::string> variants;  // further names under which it computes in another way; may be empty
  ResultLayout result_layout = ResultLayout::kHwio;
};

/// Reads the fields of a greeting, or of a plugin's capabilities. A field left out means that everything can be done
/// and nothing is promised; `name` stands in for a missing name. Errors (kBadText): an unknown field, or a value that
/// is none of the field's, with both.
Result<ProcessGreeting> ParseCapabilities(const io::Json& fields, const std::string& name);

OutgoingFrame EncodeGreeting(const ProcessGreeting& greeting);
OutgoingFrame EncodeStartError(const std::string& message);
/// Errors: kBadText for a frame that is no greeting, kUnavailable with the child's sentence for a start error.
Result<ProcessGreeting> DecodeGreeting(const Frame& frame);

/// A request as the child sees it. The tensors' dtypes and shapes are part of `arguments`.
struct Request {
  std::string operation;
  std::int64_t id = 0;
  OpArguments arguments;
  Tensor input;
  Tensor out_backprop;
};

/// A request for "filter_gradient". The tensors outlive the frame.
OutgoingFrame EncodeRequest(std::int64_t id, const Problem& problem, const Tensor& input, const Tensor& out_backprop);
/// Errors (kBadText): not a request, with the field.
Result<Request> DecodeRequest(Frame frame);

/// The result of `answer` is HWIO and outlives the frame. kDied is no answer of a child's.
OutgoingFrame EncodeAnswer(std::int64_t id, const Answer& answer);
/// The answer to request `id` for `problem`, its result turned into HWIO. Errors (kBadText): what in it is not the
/// protocol's, e.g. "the answer's id is 4, the request's 5".
Result<Answer> DecodeAnswer(Frame frame, std::int64_t id, const Problem& problem, ResultLayout layout);

}  // namespace wgrad::candidates
