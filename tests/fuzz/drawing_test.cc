// What is drawn: inside the space, reproducibly, with every region and every awkward size among it.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>

#include "fuzz/arbitrary_problem.h"
#include "fuzz/case_source.h"
#include "fuzz/coverage.h"
#include "fuzz/problem_draft.h"
#include "fuzz/regions.h"
#include "fuzz/shrink_problem.h"
#include "fuzz/space.h"

namespace wgrad::fuzz {
namespace {

Space WholeSpace(std::int64_t max_size = kDefaultMaxSize) {
  return MakeSpace(Capabilities(), {.max_size = max_size}).value();
}

TEST(Space, HasNoCaseWhereNothingIsLeft) {
  Capabilities capabilities;
  capabilities.dtypes = {"bf16", "f32"};
  EXPECT_EQ(MakeSpace(capabilities, {.dtype = "f64"}).error().message,
            "no case satisfies --dtype f64: the candidate's dtypes are bf16, f32");
  EXPECT_EQ(MakeSpace(capabilities, {.max_size = 0}).error().message, "no case satisfies --max-size 0: the least is 1");
  EXPECT_EQ(MakeSpace(capabilities, {.max_work = 0}).error().message, "no case satisfies --max-work 0: the least is 1");
  EXPECT_EQ(MakeSpace(capabilities, {.dtype = "bf16"})->dtypes.size(), 1u);
  capabilities.data_formats = {};
  EXPECT_TRUE(
      MakeSpace(capabilities, {}).error().message.starts_with("no case satisfies the candidate's capabilities: "));
}

TEST(Drawing, DependsOnSeedAndIndexAlone) {
  const CaseSource forth(WholeSpace(), {.seed = 5, .deterministic = true});
  const CaseSource back(WholeSpace(), {.seed = 5, .deterministic = true});
  const CaseSource other(WholeSpace(), {.seed = 6, .deterministic = true});
  std::map<std::uint64_t, std::string> drawn;
  for (std::uint64_t index = 0; index < 300; ++index) drawn[index] = Format(forth.Draw(index));
  int compared = 0, different = 0;
  for (std::uint64_t index = 300; index-- > 0; ++compared) {
    EXPECT_EQ(Format(back.Draw(index)), drawn[index]);
    different += Format(other.Draw(index)) != drawn[index] ? 1 : 0;
  }
  EXPECT_EQ(compared, 300);
  EXPECT_GT(different, 295);
}

// What a seed means must not differ between machines, nor change unnoticed.
TEST(Drawing, FirstCasesStayWhatTheyAre) {
  const CaseSource source(WholeSpace(), {.seed = 1, .deterministic = true});
  EXPECT_EQ(Format(source.Draw(0)), "n1_i3x2_c1_k3x1_o1_s1x3_d1x3_same_f16_f32/special/427371841");
  EXPECT_EQ(Format(source.Draw(1)), "n1_i10x9_c5_k4x4_o3_s1x2_d1x2_same_bf16/int_a/585157262");
  EXPECT_EQ(Format(source.Draw(2)), "n3_i2x6_c17_k1x2_o4_s2x3_same_f16/stair/599947625");
}

TEST(Drawing, StaysInsideCapabilitiesAndLimits) {
  Capabilities narrow;
  narrow.dtypes = {"f16", "f32"};
  narrow.data_formats = {"NCHW"};
  narrow.paddings = {"VALID", "EXPLICIT"};
  narrow.asymmetric_padding = narrow.stride_with_dilation = narrow.groups = narrow.zero_sizes = false;
  Capabilities square;
  square.dtypes = {"f64"};
  square.per_axis_strides = square.non_square = square.dilation = false;
  square.max_work = 5000;
  int drawn = 0;
  for (const Capabilities& capabilities : {narrow, square}) {
    const Space space = MakeSpace(capabilities, {.max_size = 20, .max_work = 20'000}).value();
    const CaseSource source(space, {});
    for (std::uint64_t index = 0; index < 1000; ++index, ++drawn) {
      const Problem problem = source.Draw(index).problem;
      EXPECT_EQ(WhyUnsupported(capabilities, problem), std::nullopt) << Format(problem);
      EXPECT_LE(problem.multiply_adds(), std::min<std::int64_t>(20'000, capabilities.max_work));
      const ProblemDraft draft = DraftOf(problem);
      EXPECT_LE(std::max({draft.batch, draft.rows.input, draft.columns.input, draft.rows.filter, draft.columns.filter,
                          problem.input_depth(), problem.out_depth()}),
                20)
          << Format(problem);
    }
  }
  EXPECT_EQ(drawn, 2000);
}

// A window that must fit and work that is too much: halving the image again and again would lead nowhere.
TEST(Drawing, EndsWhereWindowsMustFitIntoLittleWork) {
  Capabilities capabilities;
  capabilities.paddings = {"VALID"};
  const Space space = MakeSpace(capabilities, {.max_work = 8}).value();
  const CaseSource source(space, {});
  for (std::uint64_t index = 0; index < 300; ++index) EXPECT_LE(source.Draw(index).problem.multiply_adds(), 8);
}

TEST(Drawing, MeetsEveryRegionAndMostTails) {
  const CaseSource source(WholeSpace(), {.seed = 3});
  std::vector<int> met(Regions().size());
  std::set<std::int64_t> depths;
  for (std::uint64_t index = 0; index < 4000; ++index) {
    const Problem problem = source.Draw(index).problem;
    for (std::size_t region = 0; region < met.size(); ++region)
      met[region] += Regions()[region].contains(problem) ? 1 : 0;
    depths.insert(problem.out_depth());
  }
  for (std::size_t region = 0; region < met.size(); ++region) EXPECT_GE(met[region], 20) << Regions()[region].name;
  for (const std::int64_t tail : {0, 1, 2, 3, 5, 7, 9, 13, 15, 17, 31, 33, 63, 65})
    EXPECT_TRUE(depths.contains(tail)) << tail;
}

// Steering alone: most of what a region makes of a plain problem lies inside it.
TEST(Regions, NamesAreDifferentAndTapsInPaddingAreRight) {
  std::set<std::string_view> names;
  for (const Region& region : Regions()) EXPECT_TRUE(names.insert(region.name).second) << region.name;
  EXPECT_GE(names.size(), 28u);
  int compared = 0;
  for (std::uint64_t index = 0; index < 500; ++index) {
    const Problem problem = CaseSource(WholeSpace(12), {.seed = 9}).Draw(index).problem;
    const Axis& axis = problem.rows();
    for (std::int64_t k = 0; k < axis.filter; ++k, ++compared) {
      bool sees = false;
      for (std::int64_t o = 0; o < axis.output; ++o) {
        const std::int64_t at = o * axis.stride + k * axis.dilation - axis.pad_before;
        sees = sees || (at >= 0 && at < axis.input);
      }
      EXPECT_EQ(TapSeesOnlyPadding(axis, k), !sees) << Format(problem) << " " << k;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(ProblemDraft, IsTheInverseOfAProblem) {
  rc::check("a draft of a problem makes it again", [] {
    const Problem problem = *ArbitraryProblem(WholeSpace());
    RC_ASSERT(ToProblem(DraftOf(problem)) == problem);
  });
}

TEST(PlainerProblems, EndAtTheSingleProduct) {
  int chains = 0, steps = 0;
  for (std::uint64_t index = 0; index < 200; ++index, ++chains) {
    const Problem problem = CaseSource(WholeSpace(), {.seed = 4}).Draw(index).problem;
    const Problem plainest = ShrinkProblem(problem, [&](const Problem&) { return ++steps < 1'000'000; });
    ProblemDraft single;
    single.dtypes = {problem.dtype(), problem.result_dtype()};
    EXPECT_EQ(plainest, ToProblem(single)) << Format(problem) << " ends at " << Format(plainest);
  }
  EXPECT_EQ(chains, 200);
  EXPECT_LT(steps, 200 * 300);
}

TEST(Coverage, CountsWhatItIsGiven) {
  Coverage coverage(WholeSpace());
  EXPECT_EQ(coverage.Pairs().seen, 0);
  const auto add = [&](const std::string& text) {
    oracle::CaseVerdict verdict;
    verdict.c = ParseCase(text).value();
    verdict.statistics.elements = 10;
    verdict.statistics.terms = 100;
    verdict.statistics.covered_terms = 40;
    coverage.Add(verdict);
  };
  add("n1_i4x4_c5_k2x2_o3_same_f32/int_a/1");
  const std::int64_t arguments = static_cast<std::int64_t>(Arguments().size());
  EXPECT_EQ(coverage.Pairs().seen, arguments * (arguments - 1) / 2);
  EXPECT_EQ(coverage.Triples().seen, arguments * (arguments - 1) * (arguments - 2) / 6);
  add("n1_i4x4_c5_k2x2_o3_same_f32/int_a/2");
  EXPECT_EQ(coverage.Pairs().seen, arguments * (arguments - 1) / 2);
  add("n1_i4x4_c5_k2x2_o3_same_f32/normal/2");  // one argument differs: as many new pairs as there are others
  EXPECT_EQ(coverage.Pairs().seen, arguments * (arguments - 1) / 2 + arguments - 1);
  EXPECT_EQ(coverage.cases(), 3);
  EXPECT_EQ(coverage.elements(), 30);
  EXPECT_EQ(coverage.covered_terms(), 120);
  EXPECT_EQ(coverage.fillings()[static_cast<std::size_t>(Filling::kIntA)], 2);
  EXPECT_EQ(coverage.Tails().seen, 2);  // depth 5, out depth 3
  EXPECT_EQ(coverage.Tails().total, 48);
  const auto region = [&](std::string_view name) {
    const auto found = std::ranges::find(Regions(), name, &Region::name);
    return coverage.regions()[static_cast<std::size_t>(found - Regions().begin())];
  };
  EXPECT_EQ(region("same_odd_total"), 3);
  EXPECT_EQ(region("channel_tail"), 3);
  EXPECT_EQ(region("depthwise"), 0);
  EXPECT_EQ(static_cast<std::int64_t>(coverage.MissingPairs().size()), coverage.Pairs().total - coverage.Pairs().seen);
  Coverage sum(WholeSpace());
  sum.Merge(coverage);
  sum.Merge(coverage);
  EXPECT_EQ(sum.cases(), 6);
  EXPECT_EQ(sum.Pairs().seen, coverage.Pairs().seen);
}

}  // namespace
}  // namespace wgrad::fuzz
