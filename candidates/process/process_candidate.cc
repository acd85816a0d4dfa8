#include "candidates/process/process_candidate.h"

#include <utility>

namespace wgrad::candidates {
namespace {

struct Started {
  std::unique_ptr<Process> process;
  ProcessGreeting greeting;
};

Result<Started> StartAndGreet(const std::vector<std::string>& command, const ProcessLimits& limits) {
  Result<std::unique_ptr<Process>> started = Process::Start(command);
  if (!started.ok()) return started.error();
  std::unique_ptr<Process> process = std::move(started).value();
  const Result<Frame> frame = process->Greet(limits);
  if (!frame.ok()) return frame.error();
  Result<ProcessGreeting> greeting = DecodeGreeting(*frame);
  if (greeting.ok()) return Started{std::move(process), std::move(greeting).value()};
  if (greeting.error().code == ErrorCode::kUnavailable) return greeting.error();
  return process->BreakOff(greeting.error().message);
}

// Room for the result and a little more, so that a shape that differs a little is told from a flood.
FrameLimits AnswerLimits(const Problem& problem) {
  FrameLimits limits;
  limits.tensors = 1;
  const auto result_bytes = problem.filter_count() * static_cast<std::int64_t>(SizeOf(problem.result_dtype()));
  limits.tensor_bytes = result_bytes + 4096;
  return limits;
}

}  // namespace

Result<ProcessGreeting> OpenProcess(const std::vector<std::string>& command, const ProcessLimits& limits) {
  Result<Started> started = StartAndGreet(command, limits);
  if (!started.ok()) return started.error();
  return std::move(started).value().greeting;
}

ProcessCandidate::ProcessCandidate(std::vector<std::string> command, ProcessLimits limits, ProcessGreeting expected)
    : command_(std::move(command)), limits_(limits), expected_(std::move(expected)) {}

Answer ProcessCandidate::FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
  if (const Status status = EnsureRunning(); !status.ok()) return Died(status.error());
  const std::int64_t id = next_id_++;
  Result<Frame> frame = process_->Ask(EncodeRequest(id, problem, input, out_backprop), AnswerLimits(problem), limits_);
  if (!frame.ok()) return Died(frame.error());
  Result<Answer> answer = DecodeAnswer(std::move(frame).value(), id, problem, expected_.result_layout);
  if (!answer.ok()) return Died(process_->BreakOff(answer.error().message));
  return std::move(answer).value();
}

Status ProcessCandidate::EnsureRunning() {
  if (process_ != nullptr) return Ok();
  if (failed_starts_ >= kMaxFailedStarts) {
    return Error{ErrorCode::kUnavailable, "died: not started again after " + std::to_string(failed_starts_) +
                                              " deaths in a row at its start, the last one: " + last_failure_};
  }
  Result<Started> started = StartAndGreet(command_, limits_);
  if (!started.ok()) {
    ++failed_starts_;
    last_failure_ = started.error().message;
    return started.error();
  }
  failed_starts_ = 0;
  process_ = std::move(started).value().process;
  return Ok();
}

Answer ProcessCandidate::Died(const Error& error) {
  process_.reset();
  const bool told = error.message.starts_with("died: ");
  return Answer::Of(AnswerKind::kDied, told ? error.message : "died: " + error.message);
}

}  // namespace wgrad::candidates
