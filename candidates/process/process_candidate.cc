#include "candidates/process/process_candidate.h"

#include <mutex>
#include <utility>

namespace wgrad::candidates {
namespace {

// Enough for the answer to a call with wrong arguments, whose size nobody knows.
constexpr std::int64_t kRawAnswerBytes = std::int64_t{64} << 20;
constexpr std::size_t kQuotedHeader = 200;

Result<StartedProcess> StartAndGreet(const Command& command, const ProcessLimits& limits, const SharedFile& shared) {
  Result<std::unique_ptr<Process>> started = Process::Start(command, shared);
  if (!started.ok()) return started.error();
  std::unique_ptr<Process> process = std::move(started).value();
  const Result<Frame> frame = process->Greet(limits);
  if (!frame.ok()) return frame.error();
  Result<ProcessGreeting> greeting = DecodeGreeting(*frame);
  if (greeting.ok()) return StartedProcess{std::move(process), std::move(greeting).value()};
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

// The child that was started to hear a greeting, for the first who wants one.
class Spare {
 public:
  Spare(std::unique_ptr<Process> process, SharedFile shared)
      : process_(std::move(process)), shared_(std::move(shared)) {}

  /// Null from the second time on, and where the child has not lived that long.
  std::unique_ptr<Process> Take(SharedFile& shared) {
    const std::lock_guard lock(mutex_);
    if (process_ == nullptr || !process_->alive()) return nullptr;
    shared = std::move(shared_);
    return std::move(process_);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<Process> process_;
  SharedFile shared_;
};

std::unique_ptr<Candidate> MakeCandidate(const Command& command, const ProcessLimits& limits,
                                         const ProcessGreeting& greeting, Spare* spare) {
  Result<SharedFile> created = SharedFile::Create();
  // Without memory to share everything goes through the pipes.
  SharedFile shared = created.ok() ? std::move(created).value() : SharedFile(Descriptor());
  std::unique_ptr<Process> started = spare == nullptr ? nullptr : spare->Take(shared);
  return std::make_unique<ProcessCandidate>(command, limits, greeting, std::move(shared), std::move(started));
}

}  // namespace

Result<OpenedProcess> OpenProcess(const Command& command, const ProcessLimits& limits) {
  Result<SharedFile> created = SharedFile::Create();
  if (!created.ok()) return created.error();
  SharedFile shared = std::move(created).value();
  Result<StartedProcess> greeted = StartAndGreet(command, limits, shared);
  if (!greeted.ok()) return greeted.error();
  StartedProcess started = std::move(greeted).value();
  const auto spare = std::make_shared<Spare>(std::move(started.process), std::move(shared));
  const ProcessGreeting& greeting = started.greeting;
  OpenedProcess opened;
  opened.greeting = greeting;
  opened.make = [=] { return MakeCandidate(command, limits, greeting, spare.get()); };
  opened.make_perturbed = [=](int perturb) {
    const Command changed = perturb == 0 ? command : command.With("MALLOC_PERTURB_", std::to_string(perturb));
    return MakeCandidate(changed, limits, greeting, nullptr);
  };
  return opened;
}

Result<OpenedVariants> OpenVariants(const Command& command, const ProcessLimits& limits, const std::string& variant) {
  OpenedVariants variants;
  {
    Result<OpenedProcess> first = OpenProcess(command, limits);
    if (!first.ok()) return first.error();
    variants.known = first->greeting.variants;
    if (variants.known.empty()) {
      if (variant.empty()) variants.opened.push_back(std::move(first).value());
      return variants;
    }
  }
  for (const std::string& known : variants.known) {
    if (!variant.empty() && variant != known) continue;
    Result<OpenedProcess> opened = OpenProcess(command.With("WGRAD_VARIANT", known), limits);
    if (!opened.ok()) return opened.error();
    variants.opened.push_back(std::move(opened).value());
    variants.opened.back().variant = known;
  }
  return variants;
}

ProcessCandidate::ProcessCandidate(Command command, ProcessLimits limits, ProcessGreeting expected, SharedFile shared,
                                   std::unique_ptr<Process> started)
    : command_(std::move(command)),
      limits_(limits),
      expected_(std::move(expected)),
      shared_(std::move(shared)),
      process_(std::move(started)) {}

Answer ProcessCandidate::FilterGradient(const Problem& problem, const Tensor& input, const Tensor& out_backprop) {
  if (const Status status = EnsureRunning(); !status.ok()) return Died(status.error());
  const std::int64_t id = next_id_++;
  const Result<OutgoingFrame> request = EncodeRequest(id, problem, input, out_backprop, channel());
  if (!request.ok()) return Died(request.error());
  FrameDecoder decoder(AnswerLimits(problem), expected_.wire, channel().shared);
  Result<Frame> frame = process_->Ask(*request, std::move(decoder), limits_);
  if (!frame.ok()) return Died(frame.error());
  Frame answer = std::move(frame).value();
  return Finished(DecodeAnswer(answer, id, problem, expected_.result_layout), answer);
}

Answer ProcessCandidate::TryArguments(const OpArguments& arguments, const Tensor& input, const Tensor& out_backprop) {
  if (!expected_.greeting.validates) return Candidate::TryArguments(arguments, input, out_backprop);
  if (const Status status = EnsureRunning(); !status.ok()) return Died(status.error());
  const std::int64_t id = next_id_++;
  FrameDecoder decoder(FrameLimits{.tensors = 1, .tensor_bytes = kRawAnswerBytes, .allow_i32 = true}, expected_.wire);
  Result<Frame> frame =
      process_->Ask(EncodeRawRequest(id, arguments, input, out_backprop, channel()), std::move(decoder), limits_);
  if (!frame.ok()) return Died(frame.error());
  Frame answer = std::move(frame).value();
  return Finished(DecodeRawAnswer(answer, id), answer);
}

Status ProcessCandidate::EnsureRunning() {
  if (process_ != nullptr) return Ok();
  const auto never_again = [this](int deaths, const std::string& when) {
    return Error{ErrorCode::kUnavailable, "died: not started again after " + std::to_string(deaths) +
                                              " deaths in a row " + when + ", the last one: " + last_failure_};
  };
  if (failed_starts_ >= kMaxFailedStarts) return never_again(failed_starts_, "at its start");
  if (deaths_ >= kMaxDeaths) return never_again(deaths_, "without an answer between");
  Result<StartedProcess> started = StartAndGreet(command_, limits_, shared_);
  if (!started.ok()) {
    ++failed_starts_;
    last_failure_ = started.error().message;
    return started.error();
  }
  failed_starts_ = 0;
  process_ = std::move(started).value().process;
  return Ok();
}

Answer ProcessCandidate::Finished(Result<Answer> decoded, const Frame& frame) {
  if (!decoded.ok()) {
    const std::string header = frame.header.Dump().substr(0, kQuotedHeader);
    return Died(process_->BreakOff(decoded.error().message + "; the header was " + header));
  }
  Answer answer = std::move(decoded).value();
  deaths_ = 0;
  const bool refused = answer.kind == AnswerKind::kError || answer.kind == AnswerKind::kRejected;
  if (refused && expected_.restart_after_error) process_.reset();
  return answer;
}

Answer ProcessCandidate::Died(const Error& error) {
  if (process_ != nullptr) {
    process_.reset();
    ++deaths_;
    last_failure_ = error.message;
  }
  const bool told = error.message.starts_with("died: ");
  return Answer::Of(AnswerKind::kDied, told ? error.message : "died: " + error.message);
}

}  // namespace wgrad::candidates
