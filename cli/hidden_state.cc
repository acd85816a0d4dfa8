#include "cli/hidden_state.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>

#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "oracle/repeat.h"

namespace wgrad::cli {
namespace {

// Malloc fills new memory with the complement of the value and freed memory with the value.
constexpr std::array kPerturbations = {128, 64};
constexpr int kFreshProcesses = 3;

// Says what goes on where starting processes takes long.
class SlowStartNote {
 public:
  explicit SlowStartNote(std::ptrdiff_t cases) : cases_(cases) {}
  void AfterCase() {
    ++done_;
    const auto now = std::chrono::steady_clock::now();
    if (now - said_ < std::chrono::seconds(3) || done_ == cases_) return;
    said_ = now;
    PrintNote("again in fresh processes: " + std::to_string(done_) + "/" + std::to_string(cases_) + " cases");
  }

 private:
  std::ptrdiff_t cases_;
  std::ptrdiff_t done_ = 0;
  std::chrono::steady_clock::time_point said_ = std::chrono::steady_clock::now();
};

void CompareAll(const OpenedCandidate& candidate, std::vector<oracle::CaseVerdict>& verdicts) {
  std::vector<std::unique_ptr<Candidate>> perturbed;
  std::vector<oracle::Instance> always;
  int fresh_left = kFreshProcesses;
  SlowStartNote note(
      std::ranges::count_if(verdicts, [](const auto& verdict) { return verdict.first_result.has_value(); }));
  for (oracle::CaseVerdict& verdict : verdicts) {
    if (!verdict.first_result || Interrupted()) continue;
    if (perturbed.empty()) {
      for (const int value : kPerturbations) {
        perturbed.push_back(candidate.make_perturbed(value));
        always.push_back({"under MALLOC_PERTURB_=" + std::to_string(value), perturbed.back().get()});
      }
    }
    std::vector<oracle::Instance> instances = always;
    std::unique_ptr<Candidate> fresh;
    if (fresh_left-- > 0) {
      fresh = candidate.make_perturbed(0);
      instances.push_back({"in a fresh process", fresh.get()});
    }
    const oracle::CaseVerdict before = verdict;
    oracle::CompareInstances(instances, verdict);
    // An interrupt kills children: their death says nothing then.
    if (Interrupted()) verdict = before;
    verdict.first_result.reset();
    note.AfterCase();
  }
}

}  // namespace

void CompareProcesses(const OpenedCandidate& candidate, std::vector<oracle::CaseVerdict>& verdicts) {
  std::atomic<bool> done{false};
  std::thread worker([&] {
    CompareAll(candidate, verdicts);
    done = true;
  });
  while (!done) {
    if (Interrupted()) KillChildren();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  worker.join();
}

}  // namespace wgrad::cli
