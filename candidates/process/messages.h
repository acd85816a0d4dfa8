// What the frames between wgrad and a candidate's process say: greeting, request, answer. docs/protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "candidates/process/frame.h"
#include "candidates/process/shared_file.h"
#include "core/candidate.h"
#include "core/op_arguments.h"
#include "core/result.h"
#include "io/json.h"

namespace wgrad::candidates {

inline constexpr std::int64_t kProtocolVersion = 1;

/// Most elements of a tensor on a line of JSON.
inline constexpr std::int64_t kMaxLineElements = 10'000;
/// A request of which one tensor has this many elements goes through shared memory, where there is some.
inline constexpr std::int64_t kSharedElements = 1'000'000;

/// What a process says of itself before its first request.
struct ProcessGreeting {
  Greeting greeting;
  std::vector<std::string> variants;  // further names under which it computes in another way; may be empty
  ResultLayout result_layout = ResultLayout::kHwio;
  bool restart_after_error = false;
  bool shared_memory = false;
  Wire wire = Wire::kFrames;
};

/// How the tensors of a conversation travel.
struct Channel {
  Wire wire = Wire::kFrames;
  SharedFile* shared = nullptr;  // null: nothing is shared
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
  std::optional<std::int64_t> result_at;  // where in the shared file the result may be put
};

/// A request for "filter_gradient". The tensors outlive the frame. Errors (kUnavailable): the shared file cannot grow.
Result<OutgoingFrame> EncodeRequest(std::int64_t id, const Problem& problem, const Tensor& input,
                                    const Tensor& out_backprop, const Channel& channel);
/// A request whose arguments may be anything.
OutgoingFrame EncodeRawRequest(std::int64_t id, const OpArguments& arguments, const Tensor& input,
                               const Tensor& out_backprop, const Channel& channel);
/// Errors (kBadText): not a request, with the field.
Result<Request> DecodeRequest(Frame frame);

/// The result of `answer` is HWIO and outlives the frame; it is put at `request.result_at` of `shared` where both are
/// there. kDied is no answer of a child's.
OutgoingFrame EncodeAnswer(const Request& request, const Answer& answer, SharedFile* shared);
/// The answer to request `id` for `problem`, its result turned into HWIO; takes the frame's tensors. Errors (kBadText):
/// what in it is not the protocol's, e.g. "the answer's id is 4, the request's 5".
Result<Answer> DecodeAnswer(Frame& frame, std::int64_t id, const Problem& problem, ResultLayout layout);
/// The answer to a raw request: a result may have any dtype and shape.
Result<Answer> DecodeRawAnswer(Frame& frame, std::int64_t id);

}  // namespace wgrad::candidates
