// Space: which problems a run may draw.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/candidate.h"
#include "core/case.h"
#include "core/result.h"

namespace wgrad::fuzz {

inline constexpr std::int64_t kDefaultMaxSize = 130;      // just above the largest block that tails are drawn around
inline constexpr std::int64_t kDefaultMaxWork = 100'000;  // multiply-adds of one call
inline constexpr std::int64_t kMaxSize = 100'000;

struct SpaceLimits {
  std::string dtype = {};                   // a DTYPE word; empty: all that the candidate has
  std::int64_t max_size = kDefaultMaxSize;  // of an axis: batch, image, filter, depths
  std::int64_t max_work = kDefaultMaxWork;  // multiply-adds of one call
};

/// Problems within a candidate's capabilities and within limits.
struct Space {
  Capabilities capabilities = {};
  std::vector<DTypePair> dtypes = {};
  std::int64_t max_size = kDefaultMaxSize;
  std::int64_t max_work = kDefaultMaxWork;
};

/// Errors (kInvalidArgument): "no case satisfies ..", naming what leaves nothing.
Result<Space> MakeSpace(const Capabilities& capabilities, const SpaceLimits& limits);

}  // namespace wgrad::fuzz
