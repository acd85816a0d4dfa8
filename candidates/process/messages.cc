#include "candidates/process/messages.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/case.h"
#include "core/check.h"
#include "core/problem.h"
#include "io/op_arguments_json.h"

namespace wgrad::candidates {
namespace {

constexpr std::array<const char*, 4> kAnswerKinds = {"result", "unsupported", "rejected", "error"};

Error NotProtocol(const std::string& what) { return {ErrorCode::kBadText, what}; }

io::Json ListOf(const std::vector<std::int64_t>& numbers) {
  io::Json list = io::Json::MakeArray();
  for (const std::int64_t number : numbers) list.Append(number);
  return list;
}

Status ReadNumbers(const io::Json& header, const char* pointer, std::vector<std::int64_t>& numbers) {
  const auto list = header.GetArray(pointer);
  if (!list.ok()) return list.error();
  numbers.clear();
  for (const io::Json& item : **list) {
    const auto number = item.GetInt64();
    if (!number.ok()) return NotProtocol(std::string(pointer) + ": " + number.error().message);
    numbers.push_back(*number);
  }
  return Ok();
}

Status ReadText(const io::Json& header, const char* pointer, std::string& text) {
  auto value = header.GetString(pointer);
  if (!value.ok()) return value.error();
  text = std::move(value).value();
  return Ok();
}

std::string ShapeText(const Tensor& tensor) {
  return std::string(NameOf(tensor.dtype())) + ListOf(tensor.shape()).Dump();
}

// What follows from the arguments, for adapters that do not want to compute it again.
io::Json DerivedFrom(const Problem& problem) {
  return io::Json::MakeObject({{"groups", problem.groups()},
                               {"pad_top", problem.rows().pad_before},
                               {"pad_bottom", problem.rows().pad_after},
                               {"pad_left", problem.columns().pad_before},
                               {"pad_right", problem.columns().pad_after}});
}

Result<Tensor> TakeOneTensor(Frame& frame) {
  if (frame.tensors.size() == 1 && frame.tensors[0].name == "filter_backprop") {
    return std::move(frame.tensors[0].tensor);
  }
  return NotProtocol("a result must carry one tensor, filter_backprop");
}

Result<Tensor> TakeResult(Frame& frame, const Problem& problem, ResultLayout layout) {
  Result<Tensor> taken = TakeOneTensor(frame);
  if (!taken.ok()) return taken;
  Tensor tensor = std::move(taken).value();
  const DType dtype = problem.result_dtype();
  const std::vector<std::int64_t> shape = ResultShape(problem, layout);
  if (tensor.dtype() != dtype || tensor.shape() != shape) {
    return NotProtocol("filter_backprop is " + ShapeText(tensor) + ", due is " + std::string(NameOf(dtype)) +
                       ListOf(shape).Dump());
  }
  if (layout == ResultLayout::kHwio) return tensor;
  return ToHwio(problem, layout, tensor);
}

// Where a request's tensors and its result lie in the shared file.
struct SharedPlaces {
  std::int64_t out_backprop_at = 0;  // input is at 0
  std::int64_t result_at = 0;
  std::int64_t end = 0;
};

SharedPlaces PlacesFor(const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
  SharedPlaces places;
  places.out_backprop_at = AlignShared(static_cast<std::int64_t>(input.byte_count()));
  places.result_at = AlignShared(places.out_backprop_at + static_cast<std::int64_t>(out_backprop.byte_count()));
  places.end = places.result_at + problem.filter_count() * static_cast<std::int64_t>(SizeOf(problem.result_dtype()));
  return places;
}

bool IsLarge(const Problem& problem) {
  return std::max({problem.input_count(), problem.out_backprop_count(), problem.filter_count()}) >= kSharedElements;
}

// The inputs as they are, and a result that shows which elements were never written.
void FillShared(const Problem& problem, const SharedPlaces& places, const Tensor& input, const Tensor& out_backprop,
                std::span<std::byte> shared) {
  const auto copy = [&shared](const Tensor& tensor, std::int64_t offset) {
    if (tensor.byte_count() != 0) std::memcpy(shared.data() + offset, tensor.data(), tensor.byte_count());
  };
  copy(input, 0);
  copy(out_backprop, places.out_backprop_at);
  const std::uint64_t poison = PoisonBits(problem.result_dtype());
  const auto size = static_cast<std::int64_t>(SizeOf(problem.result_dtype()));
  for (std::int64_t at = places.result_at; at < places.end; at += size) {
    std::memcpy(shared.data() + at, &poison, static_cast<std::size_t>(size));
  }
}

// `{"kind", "id", "message"}` and what may stand beside them, of an answer that is no result.
Result<Answer> DecodeRefusal(const Frame& frame, AnswerKind kind) {
  Answer answer{.kind = kind};
  if (const Status status = ReadText(frame.header, "/message", answer.message); !status.ok()) return status.error();
  if (frame.header.Has("/error_kind")) {
    std::string error_kind;
    if (const Status status = ReadText(frame.header, "/error_kind", error_kind); !status.ok()) return status.error();
    answer.message = error_kind + ": " + answer.message;
  }
  if (frame.header.Has("/detail")) {
    if (const Status status = ReadText(frame.header, "/detail", answer.detail); !status.ok()) return status.error();
  }
  return answer;
}

Result<AnswerKind> DecodeAnswerKind(const Frame& frame, std::int64_t id) {
  const auto kind_name = frame.header.GetString("/kind");
  const auto answered_id = frame.header.GetInt64("/id");
  if (!kind_name.ok()) return kind_name.error();
  if (!answered_id.ok()) return answered_id.error();
  if (*answered_id != id) {
    return NotProtocol("the answer's id is " + std::to_string(*answered_id) + ", the request's " + std::to_string(id));
  }
  for (std::size_t kind = 0; kind < kAnswerKinds.size(); ++kind) {
    if (*kind_name == kAnswerKinds[kind]) return static_cast<AnswerKind>(kind);
  }
  return NotProtocol("the answer's kind must be result, unsupported, rejected or error, got \"" + *kind_name + "\"");
}

}  // namespace

Result<OutgoingFrame> EncodeRequest(std::int64_t id, const Problem& problem, const Tensor& input,
                                    const Tensor& out_backprop, const Channel& channel) {
  io::Json header = io::Json::MakeObject({{"kind", "request"},
                                          {"operation", "filter_gradient"},
                                          {"id", id},
                                          {"problem", Format(problem)},
                                          {"dtype", NameOf(problem.dtype())},
                                          {"result_dtype", NameOf(problem.result_dtype())},
                                          {"arguments", io::AttributesToJson(problem.arguments())},
                                          {"derived", DerivedFrom(problem)}});
  TensorReference input_reference{"input", &input};
  TensorReference out_backprop_reference{"out_backprop", &out_backprop};
  if (channel.shared != nullptr && IsLarge(problem)) {
    const SharedPlaces places = PlacesFor(problem, input, out_backprop);
    if (const Status status = channel.shared->Reserve(places.end); !status.ok()) return status.error();
    const auto shared = channel.shared->At(0, places.end);
    if (!shared) return Error{ErrorCode::kUnavailable, "cannot map shared memory"};
    FillShared(problem, places, input, out_backprop, *shared);
    input_reference.shared_at = 0;
    out_backprop_reference.shared_at = places.out_backprop_at;
    header["result_at"] = places.result_at;
  }
  return EncodeFrame(std::move(header), {input_reference, out_backprop_reference}, channel.wire);
}

OutgoingFrame EncodeRawRequest(std::int64_t id, const OpArguments& arguments, const Tensor& input,
                               const Tensor& out_backprop, const Channel& channel) {
  io::Json header = io::Json::MakeObject({{"kind", "request"},
                                          {"operation", "filter_gradient"},
                                          {"id", id},
                                          {"arguments", io::AttributesToJson(arguments)}});
  return EncodeFrame(std::move(header),
                     {{"input", &input, std::nullopt, arguments.dtype},
                      {"out_backprop", &out_backprop, std::nullopt, arguments.out_backprop_dtype}},
                     channel.wire);
}

Result<Request> DecodeRequest(Frame frame) {
  if (frame.tensors.size() != 2 || frame.tensors[0].name != "input" || frame.tensors[1].name != "out_backprop") {
    return NotProtocol("a request must carry the tensors input and out_backprop");
  }
  Request request;
  request.input = std::move(frame.tensors[0].tensor);
  request.out_backprop = std::move(frame.tensors[1].tensor);
  OpArguments& arguments = request.arguments;
  arguments.dtype = NameOf(request.input.dtype());
  arguments.out_backprop_dtype = NameOf(request.out_backprop.dtype());
  arguments.input_shape = request.input.shape();
  arguments.out_backprop_shape = request.out_backprop.shape();
  const auto id = frame.header.GetInt64("/id");
  if (!id.ok()) return id.error();
  request.id = *id;
  if (frame.header.Has("/result_at")) {
    const auto result_at = frame.header.GetInt64("/result_at");
    if (!result_at.ok()) return result_at.error();
    request.result_at = *result_at;
  }
  std::string padding;
  for (const Status& status : {ReadText(frame.header, "/operation", request.operation),
                               ReadText(frame.header, "/result_dtype", arguments.result_dtype),
                               ReadText(frame.header, "/arguments/padding", padding),
                               ReadText(frame.header, "/arguments/data_format", arguments.data_format),
                               ReadNumbers(frame.header, "/arguments/filter_sizes", arguments.filter_sizes),
                               ReadNumbers(frame.header, "/arguments/strides", arguments.strides),
                               ReadNumbers(frame.header, "/arguments/explicit_paddings", arguments.explicit_paddings),
                               ReadNumbers(frame.header, "/arguments/dilations", arguments.dilations)}) {
    if (!status.ok()) return status.error();
  }
  arguments.padding = padding;
  return request;
}

OutgoingFrame EncodeAnswer(const Request& request, const Answer& answer, SharedFile* shared) {
  const auto kind = static_cast<std::size_t>(answer.kind);
  WGRAD_CHECK(kind < kAnswerKinds.size(), "a child cannot answer that it died");
  io::Json header = io::Json::MakeObject({{"kind", kAnswerKinds[kind]}, {"id", request.id}});
  if (answer.kind == AnswerKind::kResult) {
    TensorReference result{"filter_backprop", &answer.result};
    const auto bytes = static_cast<std::int64_t>(answer.result.byte_count());
    if (const auto place =
            shared != nullptr && request.result_at ? shared->At(*request.result_at, bytes) : std::nullopt) {
      if (bytes != 0) std::memcpy(place->data(), answer.result.data(), answer.result.byte_count());
      result.shared_at = request.result_at;
    }
    return EncodeFrame(std::move(header), {result});
  }
  header["message"] = io::ToValidUtf8(answer.message);
  if (!answer.detail.empty()) header["detail"] = io::ToValidUtf8(answer.detail);
  return EncodeFrame(std::move(header));
}

Result<Answer> DecodeAnswer(Frame& frame, std::int64_t id, const Problem& problem, ResultLayout layout) {
  const Result<AnswerKind> kind = DecodeAnswerKind(frame, id);
  if (!kind.ok()) return kind.error();
  if (*kind != AnswerKind::kResult) return DecodeRefusal(frame, *kind);
  Result<Tensor> result = TakeResult(frame, problem, layout);
  if (!result.ok()) return result.error();
  return Answer::Of(std::move(result).value());
}

Result<Answer> DecodeRawAnswer(Frame& frame, std::int64_t id) {
  const Result<AnswerKind> kind = DecodeAnswerKind(frame, id);
  if (!kind.ok()) return kind.error();
  if (*kind != AnswerKind::kResult) return DecodeRefusal(frame, *kind);
  Result<Tensor> result = TakeOneTensor(frame);
  if (!result.ok()) return result.error();
  return Answer::Of(std::move(result).value());
}

}  // namespace wgrad::candidates
