#include "candidates/process/messages.h"

#include <array>
#include <utility>

#include "core/case.h"
#include "core/check.h"
#include "core/problem.h"

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

// TensorFlow's arguments, tensors apart.
io::Json ArgumentsOf(const OpArguments& arguments) {
  return io::Json::MakeObject({{"filter_sizes", ListOf(arguments.filter_sizes)},
                               {"strides", ListOf(arguments.strides)},
                               {"padding", std::get<std::string>(arguments.padding)},
                               {"explicit_paddings", ListOf(arguments.explicit_paddings)},
                               {"use_cudnn_on_gpu", arguments.use_cudnn_on_gpu},
                               {"data_format", arguments.data_format},
                               {"dilations", ListOf(arguments.dilations)}});
}

// What follows from the arguments, for adapters that do not want to compute it again.
io::Json DerivedFrom(const Problem& problem) {
  return io::Json::MakeObject({{"groups", problem.groups()},
                               {"pad_top", problem.rows().pad_before},
                               {"pad_bottom", problem.rows().pad_after},
                               {"pad_left", problem.columns().pad_before},
                               {"pad_right", problem.columns().pad_after}});
}

Result<Tensor> TakeResult(Frame frame, const Problem& problem, ResultLayout layout) {
  if (frame.tensors.size() != 1 || frame.tensors[0].name != "filter_backprop") {
    return NotProtocol("a result must carry one tensor, filter_backprop");
  }
  Tensor& tensor = frame.tensors[0].tensor;
  const Tensor due(problem.result_dtype(), ResultShape(problem, layout));
  if (tensor.dtype() != due.dtype() || tensor.shape() != due.shape()) {
    return NotProtocol("filter_backprop is " + ShapeText(tensor) + ", due is " + ShapeText(due));
  }
  return layout == ResultLayout::kHwio ? std::move(tensor) : ToHwio(problem, layout, tensor);
}

}  // namespace

OutgoingFrame EncodeRequest(std::int64_t id, const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
  io::Json header = io::Json::MakeObject({{"kind", "request"},
                                          {"operation", "filter_gradient"},
                                          {"id", id},
                                          {"problem", Format(problem)},
                                          {"dtype", NameOf(problem.dtype())},
                                          {"result_dtype", NameOf(problem.result_dtype())},
                                          {"arguments", ArgumentsOf(problem.arguments())},
                                          {"derived", DerivedFrom(problem)}});
  return EncodeFrame(std::move(header), {{"input", &input}, {"out_backprop", &out_backprop}});
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

OutgoingFrame EncodeAnswer(std::int64_t id, const Answer& answer) {
  const auto kind = static_cast<std::size_t>(answer.kind);
  WGRAD_CHECK(kind < kAnswerKinds.size(), "a child cannot answer that it died");
  io::Json header = io::Json::MakeObject({{"kind", kAnswerKinds[kind]}, {"id", id}});
  if (answer.kind == AnswerKind::kResult) return EncodeFrame(std::move(header), {{"filter_backprop", &answer.result}});
  header["message"] = io::ToValidUtf8(answer.message);
  return EncodeFrame(std::move(header));
}

Result<Answer> DecodeAnswer(Frame frame, std::int64_t id, const Problem& problem, ResultLayout layout) {
  const auto kind_name = frame.header.GetString("/kind");
  const auto answered_id = frame.header.GetInt64("/id");
  if (!kind_name.ok()) return kind_name.error();
  if (!answered_id.ok()) return answered_id.error();
  if (*answered_id != id) {
    return NotProtocol("the answer's id is " + std::to_string(*answered_id) + ", the request's " + std::to_string(id));
  }
  if (*kind_name == "result") {
    Result<Tensor> result = TakeResult(std::move(frame), problem, layout);
    if (!result.ok()) return result.error();
    return Answer::Of(std::move(result).value());
  }
  for (std::size_t kind = 1; kind < kAnswerKinds.size(); ++kind) {
    if (*kind_name != kAnswerKinds[kind]) continue;
    const auto message = frame.header.GetString("/message");
    if (!message.ok()) return message.error();
    return Answer::Of(static_cast<AnswerKind>(kind), *message);
  }
  return NotProtocol("the answer's kind must be result, unsupported, rejected or error, got \"" + *kind_name + "\"");
}

}  // namespace wgrad::candidates
