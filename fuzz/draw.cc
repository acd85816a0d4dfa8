#include "fuzz/draw.h"

#include <algorithm>

namespace wgrad::fuzz {
namespace {

constexpr std::int64_t kBlocks[] = {4, 8, 16, 32, 64, 128};
constexpr std::int64_t kPrimes[] = {5, 7, 11, 13, 19, 23, 29, 37, 41, 53, 61, 73, 89, 97, 101, 113};

std::vector<std::int64_t> AwkwardSizes() {
  std::vector<std::int64_t> sizes(std::begin(kPrimes), std::end(kPrimes));
  for (const std::int64_t block : kBlocks) {
    for (std::int64_t size = block - 1; size <= block + 1; ++size) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace

std::int64_t Draw::Small() {
  static constexpr Weighted<std::int64_t> kSizes[] = {{6, 1}, {5, 2}, {4, 3}, {2, 4}, {1, 5}, {1, 6}, {1, 7}};
  return std::min(Of(kSizes), max_size_);
}

std::int64_t Draw::Awkward() {
  static const std::vector<std::int64_t> sizes = AwkwardSizes();
  // Small blocks are met more often: the largest of them is drawn among first.
  const auto last = static_cast<std::int64_t>(sizes.size()) - 1;
  const std::int64_t size = sizes[static_cast<std::size_t>(Between(0, Between(0, last)))];
  return std::min(size, max_size_);
}

std::int64_t Draw::Step() {
  static constexpr Weighted<std::int64_t> kSteps[] = {{6, 2}, {3, 3}, {1, 4}, {1, 5}};
  return Of(kSteps);
}

}  // namespace wgrad::fuzz
