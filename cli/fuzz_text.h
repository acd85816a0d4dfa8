// What `wgrad fuzz` prints: each finding, and what a run covered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/campaign.h"
#include "fuzz/shrink.h"

namespace wgrad::cli {

/// A failure, shrunk and saved.
struct Finding {
  oracle::CaseVerdict failure;    // as it was found
  std::uint64_t case_number = 0;  // from 1, in the order of the seed
  fuzz::Shrunk shrunk;
  std::string saved_as;  // path
};

/// The line that shows a failure again: `what` is a case or a file.
std::string ReplayLine(const std::string& what, const std::string& candidate, const oracle::CaseVerdict& verdict);

/// `candidate` is the words that the user names it by.
std::string FindingText(const Finding& finding, const std::string& candidate, bool color);

/// Cases, elements and time; where `whole` also what of the argument space they met.
std::string CoverageText(const CampaignState& state, bool whole);

}  // namespace wgrad::cli
