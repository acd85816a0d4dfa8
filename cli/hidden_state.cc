#include "cli/hidden_state.h"

#include <array>
#include <memory>
#include <string>

#include "cli/interrupt.h"
#include "oracle/repeat.h"

namespace wgrad::cli {
namespace {

// Malloc fills new memory with the complement of the value and freed memory with the value.
constexpr std::array kPerturbations = {128, 64};
constexpr int kFreshProcesses = 3;

}  // namespace

void CompareProcesses(const OpenedCandidate& candidate, std::vector<oracle::CaseVerdict>& verdicts) {
  std::vector<std::unique_ptr<Candidate>> perturbed;
  std::vector<oracle::Instance> always;
  int fresh_left = kFreshProcesses;
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
    oracle::CompareInstances(instances, verdict);
    verdict.first_result.reset();
  }
}

}  // namespace wgrad::cli
