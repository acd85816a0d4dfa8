// SplitMix64 against values published with the algorithm.
#include "core/random.h"

#include <gtest/gtest.h>

#include <set>

namespace wgrad {
namespace {

TEST(SplitMix64, GivesThePublishedStreamOfSeedZero) {
  EXPECT_EQ(SplitMix64(0, 0), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(SplitMix64(0, 1), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(SplitMix64(0, 2), 0x06C45D188009454Fu);
}

TEST(SplitMix64, GivesThePublishedStreamOfSeed1234567) {
  const std::uint64_t stream[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                  4593380528125082431u, 16408922859458223821u};
  for (std::uint64_t index = 0; index < 5; ++index) EXPECT_EQ(SplitMix64(1234567, index), stream[index]);
}

TEST(SplitMix64, WrapsAroundInSeedAndIndex) {
  // Element i of seed s is element 0 of the seed i steps on, also past 2^64.
  constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15u;
  const std::uint64_t last = ~std::uint64_t{0};
  for (const std::uint64_t index : {std::uint64_t{1}, std::uint64_t{1000}, last}) {
    EXPECT_EQ(SplitMix64(last, index), SplitMix64(last + index * kStep, 0));
  }
}

TEST(DeriveSeed, KeepsStreamsApart) {
  std::set<std::uint64_t> seeds;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    seeds.insert(seed);
    for (std::uint64_t stream = 0; stream < 100; ++stream) seeds.insert(DeriveSeed(seed, stream));
  }
  EXPECT_EQ(seeds.size(), 100u * 101u);
}

}  // namespace
}  // namespace wgrad
