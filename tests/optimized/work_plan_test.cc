#include "optimized/work_plan.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/case.h"

namespace wgrad::optimized {
namespace {

constexpr const char* kProblems[] = {
    "n1_i5x5_c2_k3x3_o3_same_f32",           "n2_i56x56_c64_k3x3_o64_same_f32",
    "n8_i7x7_c512_k3x3_o512_same_f32",       "n8_i56x56_c64_k1x1_o256_valid_nchw_f32",
    "n3_i9x8_c96_k3x4_o64_g8_same_f32",      "n2_i30x31_c37_k5x7_o19_s2x1_same_nchw_f32",
    "n4_i14x14_c100_k3x3_o100_g100_same_f32"};

Problem Parse(const char* text) { return ParseProblem(text).value(); }
WorkPlan PlanFor(const Problem& problem) { return WorkPlan(problem, problem.data_format(), sizeof(float)); }
WorkPlan PlanFor(const char* text) { return PlanFor(Parse(text)); }

TEST(WorkPlan, CoversEachColumnAndPositionOnce) {
  for (const char* text : kProblems) {
    const Problem problem = Parse(text);
    const WorkPlan plan = PlanFor(problem);
    std::int64_t covered = 0;
    PositionRange last_range;
    for (std::int64_t index = 0; index < plan.unit_count(); ++index) {
      const WorkUnit unit = plan.unit(index);
      covered += unit.columns.count * unit.positions.count;
      EXPECT_GT(unit.columns.count, 0) << text;
      EXPECT_LT(unit.columns.group, problem.groups()) << text;
      EXPECT_EQ(unit.positions.first, unit.part == 0 ? 0 : last_range.first + last_range.count) << text;
      last_range = unit.positions;
    }
    const std::int64_t columns = problem.rows().filter * problem.columns().filter * problem.input_depth();
    EXPECT_EQ(covered, columns * problem.positions()) << text;
  }
}

TEST(WorkPlan, TilesCoverARangeInOrder) {
  for (const char* text : kProblems) {
    const WorkPlan plan = PlanFor(text);
    PositionRange rest = plan.unit(plan.unit_count() - 1).positions;
    int tiles = 0;
    while (rest.count > 0) {
      const PositionRange tile = plan.NextTile(rest);
      ASSERT_EQ(tile.first, rest.first) << text;
      ASSERT_GT(tile.count, 0) << text;
      ASSERT_LE(tile.count, rest.count) << text;
      rest = {rest.first + tile.count, rest.count - tile.count};
      ++tiles;
    }
    EXPECT_GT(tiles, 0) << text;
  }
}

TEST(WorkPlan, KeepsSmallProblemsInOnePieceAndLargeOnesDivisible) {
  EXPECT_EQ(PlanFor("n1_i5x5_c2_k3x3_o3_same_f32").unit_count(), 1);
  for (const char* text : {"n8_i224x224_c3_k7x7_o64_s2x2_same_f32", "n8_i7x7_c512_k3x3_o512_same_f32",
                           "n8_i14x14_c1024_k1x1_o2048_s2x2_same_f32", "n8_i56x56_c64_k1x1_o256_valid_nchw_f32"}) {
    EXPECT_GE(PlanFor(text).unit_count(), 4) << text;
  }
}

TEST(WorkPlan, KeepsPartialResultsSmall) {
  // One result of 128 MiB: no second one beside it.
  EXPECT_EQ(PlanFor("n64_i8x8_c512_k1x1_o65536_valid_f32").parts(), 1);
  EXPECT_GT(PlanFor("n64_i8x8_c512_k1x1_o64_valid_f32").parts(), 1);
}

}  // namespace
}  // namespace wgrad::optimized
