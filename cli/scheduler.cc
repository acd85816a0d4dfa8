#include "cli/scheduler.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <thread>

#include "cli/interrupt.h"

namespace wgrad::cli {
namespace {

constexpr auto kPoll = std::chrono::milliseconds(20);
constexpr auto kGrace = std::chrono::seconds(2);

// What the workers share with each other and with the main thread. Workers hold it too, so that one that is left
// behind after an interrupt never finds it gone.
class SharedRun {
 public:
  explicit SharedRun(Plan plan) : plan_(std::move(plan)), verdicts_(plan_.tasks.size()), workers_(plan_.jobs) {}

  void Work() {
    try {
      const std::unique_ptr<Candidate> candidate = plan_.make_candidate();
      for (std::size_t at = next_++; at < plan_.tasks.size() && !MustStop(at); at = next_++) RunTask(at, *candidate);
    } catch (const std::bad_alloc&) {
      Break("memory ran out");
    } catch (const std::exception& exception) {
      Break(exception.what());
    }
    --workers_;
  }

  bool finished() const { return workers_ == 0; }
  void ShowProgress() { plan_.progress->Show(); }

  RunOutcome Collect() {
    const std::lock_guard lock(mutex_);
    plan_.progress->Clear();
    RunOutcome outcome;
    outcome.interrupted = Interrupted();
    outcome.internal_error = internal_error_;
    for (std::size_t at = 0; at < verdicts_.size() && at <= last_task_; ++at) {
      std::move(verdicts_[at].begin(), verdicts_[at].end(), std::back_inserter(outcome.verdicts));
      verdicts_[at].clear();
    }
    return outcome;
  }

 private:
  // Tasks after the first failing one are dropped under fail_fast, those before it are finished: the result is the
  // same for any number of workers.
  bool MustStop(std::size_t task) const { return Interrupted() || broken_ || task > last_task_; }

  void RunTask(std::size_t at, Candidate& candidate) {
    const Task& task = plan_.tasks[at];
    if (task.call) {
      Record(at, oracle::ExamineArguments(*task.call, candidate));
      return;
    }
    bool wrong = false;
    for (const Filling filling : task.fillings) {
      if (MustStop(at)) return;
      const oracle::CaseVerdict verdict =
          oracle::Examine({*task.problem, filling, plan_.seed}, candidate, task.judging, filling == task.sampled);
      wrong = wrong || verdict.outcome == oracle::Outcome::kFail;
      if (!Record(at, verdict)) return;
    }
    const bool has_coded = std::count(task.fillings.begin(), task.fillings.end(), Filling::kCoded) != 0;
    if (!wrong || has_coded || MustStop(at)) return;
    plan_.progress->ExpectOneMore();
    Record(at, oracle::Examine({*task.problem, Filling::kCoded, plan_.seed}, candidate, task.judging));
  }

  // Whether the task goes on.
  bool Record(std::size_t at, const oracle::CaseVerdict& verdict) {
    // Ctrl-C reaches the children of a terminal too: their death says nothing then.
    if (verdict.outcome == oracle::Outcome::kDied && Interrupted()) return false;
    const bool failed = plan_.is_failure(verdict);
    const std::lock_guard lock(mutex_);
    verdicts_[at].push_back(verdict);
    plan_.progress->CountCase(verdict.statistics.elements, failed);
    if (!failed || !plan_.fail_fast) return true;
    last_task_ = std::min(last_task_.load(), at);
    return false;
  }

  void Break(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (internal_error_.empty()) internal_error_ = what;
    broken_ = true;
  }

  const Plan plan_;
  std::mutex mutex_;  // guards verdicts_, internal_error_ and the lowering of last_task_
  std::vector<std::vector<oracle::CaseVerdict>> verdicts_;
  std::string internal_error_;
  std::atomic<std::size_t> last_task_{std::numeric_limits<std::size_t>::max()};
  std::atomic<std::size_t> next_{0};
  std::atomic<int> workers_;
  std::atomic<bool> broken_{false};
};

}  // namespace

RunOutcome RunPlan(Plan plan) {
  const int jobs = plan.jobs;
  const auto run = std::make_shared<SharedRun>(std::move(plan));
  std::vector<std::thread> workers;
  for (int worker = 0; worker < jobs; ++worker) workers.emplace_back([run] { run->Work(); });
  while (!run->finished() && !Interrupted()) {
    run->ShowProgress();
    std::this_thread::sleep_for(kPoll);
  }
  if (Interrupted()) {
    KillChildren();
    const auto deadline = std::chrono::steady_clock::now() + kGrace;
    while (!run->finished() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(kPoll);
  }
  const bool all_done = run->finished();
  for (std::thread& worker : workers) {
    if (all_done) {
      worker.join();
    } else {
      worker.detach();
    }
  }
  return run->Collect();
}

}  // namespace wgrad::cli
