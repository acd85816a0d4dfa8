// Where a run takes place.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "report/cpu_info.h"
#include "report/report.h"

namespace wgrad::report {
namespace {

TEST(Environment, NamesVersionAndProcessorOfThisMachine) {
  const Environment environment = CurrentEnvironment();
  EXPECT_EQ(std::count(environment.version.begin(), environment.version.end(), '.'), 2) << environment.version;
  EXPECT_FALSE(environment.processor.empty());
}

TEST(Environment, HoldsTheVariablesThatChangeResultsAndNoOthers) {
  ASSERT_EQ(setenv("ONEDNN_MAX_CPU_ISA", "AVX2", 1), 0);
  ASSERT_EQ(setenv("OMP_NUM_THREADS", "3", 1), 0);
  ASSERT_EQ(setenv("WGRAD_ENVIRONMENT_TEST", "1", 1), 0);
  const Environment environment = CurrentEnvironment();
  EXPECT_EQ(environment.variables.at("ONEDNN_MAX_CPU_ISA"), "AVX2");
  EXPECT_EQ(environment.variables.at("OMP_NUM_THREADS"), "3");
  EXPECT_EQ(environment.variables.count("WGRAD_ENVIRONMENT_TEST"), 0u);
  EXPECT_EQ(environment.variables.count("PATH"), 0u);
}

TEST(CpuInfo, ReadsNameAndRelevantInstructionSets) {
  const internal::CpuInfo info = internal::ParseCpuInfo(
      "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Fancy CPU @ 2.10GHz\nflags\t\t: fpu sse4_2 fma avx avx2 avx512f "
      "zz\n"
      "vmx flags\t: f16c\nprocessor\t: 1\nmodel name\t: Another\nflags\t\t: amx_bf16\n");
  EXPECT_EQ(info.processor, "Fancy CPU @ 2.10GHz");
  EXPECT_EQ(info.instruction_sets, "sse4_2 avx fma avx2 avx512f");
}

TEST(CpuInfo, ReadsArmFeaturesAndSurvivesWithoutAName) {
  const internal::CpuInfo info = internal::ParseCpuInfo("Features\t: fp asimd sve bf16\n");
  EXPECT_EQ(info.processor, "unknown");
  EXPECT_EQ(info.instruction_sets, "asimd bf16 sve");
  EXPECT_EQ(internal::ParseCpuInfo("").instruction_sets, "");
}

}  // namespace
}  // namespace wgrad::report
