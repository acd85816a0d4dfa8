#include "cli/campaign.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <utility>

#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/terminal.h"

namespace wgrad::cli {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPoll = std::chrono::milliseconds(5);
constexpr auto kGrace = std::chrono::seconds(2);

class SharedCampaign {
 public:
  SharedCampaign(CampaignPlan plan, CampaignState state)
      : plan_(std::move(plan)),
        source_(plan_.space, {.seed = plan_.seed, .deterministic = plan_.deterministic}),
        state_(std::move(state)),
        next_(state_.next),
        workers_(plan_.jobs) {}

  void Work() {
    fuzz::Coverage coverage(plan_.space);
    Counts counts;
    try {
      const std::unique_ptr<Candidate> candidate = plan_.make_candidate();
      for (std::uint64_t index = next_++; !MustStop(index); index = next_++) {
        Count(index, RunCase(index, *candidate), coverage, counts);
      }
    } catch (const std::bad_alloc&) {
      Break("memory ran out");
    } catch (const std::exception& exception) {
      Break(exception.what());
    }
    const std::lock_guard lock(mutex_);
    state_.coverage.Merge(coverage);
    state_.unsupported += counts.unsupported;
    state_.blind += counts.blind;
    state_.known += counts.known;
    --workers_;
  }

  bool finished() const { return workers_ == 0; }
  std::int64_t done() const { return done_; }

  std::optional<oracle::CaseVerdict> Collect(CampaignState& state) {
    const std::lock_guard lock(mutex_);
    state = state_;
    state.internal_error = internal_error_;
    state.finished = !failure_ || Interrupted() || !internal_error_.empty();
    // Cases after the failing one that others had begun are run again, so that none is left out.
    state.next = failure_ ? failed_at_ + 1 : std::min<std::uint64_t>(next_, Limit());
    return failure_;
  }

 private:
  struct Counts {
    std::int64_t unsupported = 0, blind = 0, known = 0;
  };

  std::uint64_t Limit() const {
    return plan_.cases == 0 ? std::numeric_limits<std::uint64_t>::max() : static_cast<std::uint64_t>(plan_.cases);
  }

  bool MustStop(std::uint64_t index) const {
    const bool late = plan_.deadline != Clock::time_point() && Clock::now() >= plan_.deadline;
    return Interrupted() || broken_ || late || index >= Limit() || index > failed_at_;
  }

  oracle::CaseVerdict RunCase(std::uint64_t index, Candidate& candidate) const {
    const Case c = source_.Draw(index);
    const oracle::Judging judging = oracle::Resolve(c.problem, plan_.choice, candidate.greeting().declaration).value();
    return oracle::Examine(c, candidate, judging);
  }

  void Count(std::uint64_t index, const oracle::CaseVerdict& verdict, fuzz::Coverage& coverage, Counts& counts) {
    // Ctrl-C reaches the children of a terminal too: their death says nothing then.
    if (verdict.outcome == oracle::Outcome::kDied && Interrupted()) return;
    ++done_;
    if (verdict.outcome == oracle::Outcome::kUnsupported) {
      ++counts.unsupported;
      return;
    }
    coverage.Add(verdict);
    if (verdict.outcome == oracle::Outcome::kBlind) ++counts.blind;
    if (!IsWrong(verdict.outcome)) return;
    if (!plan_.is_failure(verdict)) {
      ++counts.known;
      return;
    }
    const std::lock_guard lock(mutex_);
    if (failure_ && index > failed_at_) return;
    failure_ = verdict;
    failed_at_ = index;
  }

  void Break(const std::string& what) {
    const std::lock_guard lock(mutex_);
    if (internal_error_.empty()) internal_error_ = what;
    broken_ = true;
  }

  const CampaignPlan plan_;
  const fuzz::CaseSource source_;
  std::mutex mutex_;  // guards state_, failure_, internal_error_
  CampaignState state_;
  std::optional<oracle::CaseVerdict> failure_;
  std::string internal_error_;
  std::atomic<std::uint64_t> failed_at_{std::numeric_limits<std::uint64_t>::max()};
  std::atomic<std::uint64_t> next_;
  std::atomic<std::int64_t> done_{0};
  std::atomic<int> workers_;
  std::atomic<bool> broken_{false};
};

// Waits for the workers, showing how far they are.
void Await(const SharedCampaign& shared, CampaignProgress& progress) {
  while (!shared.finished() && !Interrupted()) {
    progress.Show(shared.done());
    std::this_thread::sleep_for(kPoll);
  }
  progress.Clear();
  if (!Interrupted()) return;
  KillChildren();
  const auto grace = Clock::now() + kGrace;
  while (!shared.finished() && Clock::now() < grace) std::this_thread::sleep_for(kPoll);
}

}  // namespace

std::optional<oracle::CaseVerdict> RunUntilFailure(const CampaignPlan& plan, CampaignState& state) {
  const Clock::time_point start = Clock::now();
  CampaignProgress progress({plan.cases, plan.deadline, static_cast<std::int64_t>(state.next), state.seconds},
                            IsTerminal(STDERR_FILENO));
  const auto shared = std::make_shared<SharedCampaign>(plan, state);
  std::vector<std::thread> workers;
  for (int worker = 0; worker < plan.jobs; ++worker) workers.emplace_back([shared] { shared->Work(); });
  Await(*shared, progress);
  const bool all_done = shared->finished();
  for (std::thread& worker : workers) {
    if (all_done) {
      worker.join();
    } else {
      worker.detach();
    }
  }
  const double seconds = state.seconds + std::chrono::duration<double>(Clock::now() - start).count();
  std::optional<oracle::CaseVerdict> failure = shared->Collect(state);
  state.seconds = seconds;
  return failure;
}

}  // namespace wgrad::cli
