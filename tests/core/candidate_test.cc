// What a candidate declares: each capability, and the layouts of results.
#include "core/candidate.h"

#include <gtest/gtest.h>

namespace wgrad {
namespace {

std::string Why(const Capabilities& capabilities, const char* problem) {
  return WhyUnsupported(capabilities, ParseProblem(problem).value()).value_or("");
}

TEST(Capabilities, CoverEverythingUnlessTheySayOtherwise) {
  for (const char* problem : {"n2_i5x7_c6_k3x2_o4_s2x1_d1x3_g2_pt1b2l3r4_nchw_bf16_f32", "n0_i5x7_c6_k3x2_o4_same_f64",
                              "n1_i4x4_c1_k2x2_o0_valid_f16"}) {
    EXPECT_EQ(Why(Capabilities{}, problem), "");
  }
}

struct CapabilityCase {
  void (*restrict_to)(Capabilities&);
  const char* outside;
  const char* inside;
  const char* reason;
};

TEST(Capabilities, ExcludeExactlyWhatTheySay) {
  const CapabilityCase table[] = {
      {[](auto& c) { c.dtypes = {"f32"}; }, "n1_i4x4_c1_k2x2_o1_same_f64", "n1_i4x4_c1_k2x2_o1_same_f32", "dtype f64"},
      {[](auto& c) { c.dtypes = {"f16"}; }, "n1_i4x4_c1_k2x2_o1_same_f16_f32", "n1_i4x4_c1_k2x2_o1_same_f16",
       "dtype f16_f32"},
      {[](auto& c) { c.data_formats = {"NHWC"}; }, "n1_i4x4_c1_k2x2_o1_same_nchw_f32", "n1_i4x4_c1_k2x2_o1_same_f32",
       "data_format NCHW"},
      {[](auto& c) {
         c.paddings = {"SAME", "VALID"};
       },
       "n1_i4x4_c1_k2x2_o1_pt0b0l0r0_f32", "n1_i4x4_c1_k2x2_o1_valid_f32", "padding EXPLICIT"},
      {[](auto& c) { c.asymmetric_padding = false; }, "n1_i4x4_c1_k2x2_o1_same_f32", "n1_i4x4_c1_k3x3_o1_same_f32",
       "asymmetric padding"},
      {[](auto& c) { c.asymmetric_padding = false; }, "n1_i4x4_c1_k2x2_o1_pt0b0l0r1_f32",
       "n1_i4x4_c1_k2x2_o1_pt2b2l1r1_f32", "asymmetric padding"},
      {[](auto& c) { c.per_axis_strides = false; }, "n1_i4x4_c1_k2x2_o1_s2x1_same_f32",
       "n1_i4x4_c1_k2x2_o1_s2x2_same_f32", "strides that differ"},
      {[](auto& c) { c.non_square = false; }, "n1_i4x5_c1_k2x2_o1_same_f32", "n1_i4x4_c1_k2x2_o1_same_f32",
       "not square"},
      {[](auto& c) { c.non_square = false; }, "n1_i4x4_c1_k2x1_o1_same_f32", "n1_i4x4_c1_k2x2_o1_s2x1_same_f32",
       "not square"},
      {[](auto& c) { c.dilation = false; }, "n1_i4x4_c1_k2x2_o1_d1x2_same_f32", "n1_i4x4_c1_k2x2_o1_s1x2_same_f32",
       "dilation"},
      {[](auto& c) { c.stride_with_dilation = false; }, "n1_i4x4_c1_k2x2_o1_s2x1_d1x2_same_f32",
       "n1_i4x4_c1_k2x2_o1_d2x2_same_f32", "stride together with dilation"},
      {[](auto& c) { c.groups = false; }, "n1_i4x4_c2_k2x2_o2_g2_same_f32", "n1_i4x4_c2_k2x2_o2_same_f32", "groups"},
      {[](auto& c) { c.zero_sizes = false; }, "n0_i4x4_c1_k2x2_o1_same_f32", "n1_i4x4_c1_k2x2_o1_same_f32",
       "without elements"},
      {[](auto& c) { c.zero_sizes = false; }, "n1_i4x4_c1_k5x2_o1_valid_f32", "n1_i4x4_c1_k4x2_o1_valid_f32",
       "without elements"},
      {[](auto& c) { c.zero_sizes = false; }, "n1_i4x4_c1_k0x2_o1_same_f32", "n1_i4x4_c1_k1x2_o1_same_f32",
       "without elements"},
  };
  for (const CapabilityCase& row : table) {
    Capabilities capabilities;
    row.restrict_to(capabilities);
    EXPECT_NE(Why(capabilities, row.outside).find(row.reason), std::string::npos) << row.outside;
    EXPECT_NE(Why(capabilities, row.outside), "");
    EXPECT_EQ(Why(capabilities, row.inside), "") << row.inside;
  }
}

TEST(ResultLayout, NamesRoundTrip) {
  for (const auto layout : {ResultLayout::kHwio, ResultLayout::kOihw, ResultLayout::kOhwi}) {
    EXPECT_EQ(ResultLayoutFromName(NameOf(layout)), layout);
  }
  EXPECT_EQ(ResultLayoutFromName("iohw"), std::nullopt);
}

TEST(ToHwio, BringsEveryElementToItsPlaceInEveryDType) {
  int compared = 0;
  for (const char* tag : {"f16", "bf16", "f32", "f64"}) {
    const Problem problem = ParseProblem(std::string("n1_i9x9_c6_k3x2_o4_g2_same_") + tag).value();
    for (const auto layout : {ResultLayout::kHwio, ResultLayout::kOihw, ResultLayout::kOhwi}) {
      Tensor result(problem.result_dtype(), ResultShape(problem, layout));
      // Each element holds a number made of its four indices, written in the order of the layout.
      const auto& shape = result.shape();
      std::int64_t at = 0;
      for (std::int64_t a = 0; a < shape[0]; ++a) {
        for (std::int64_t b = 0; b < shape[1]; ++b) {
          for (std::int64_t c = 0; c < shape[2]; ++c) {
            for (std::int64_t d = 0; d < shape[3]; ++d) {
              const std::int64_t hwio = layout == ResultLayout::kHwio   ? ((a * 4 + b) * 4 + c) * 4 + d
                                        : layout == ResultLayout::kOihw ? ((c * 4 + d) * 4 + b) * 4 + a
                                                                        : ((b * 4 + c) * 4 + d) * 4 + a;
              result.set_bits(at++, static_cast<std::uint64_t>(hwio));
            }
          }
        }
      }
      const Tensor moved = ToHwio(problem, layout, result);
      ASSERT_EQ(moved.shape(), problem.filter_sizes());
      for (std::int64_t kh = 0; kh < 3; ++kh) {
        for (std::int64_t kw = 0; kw < 2; ++kw) {
          for (std::int64_t ic = 0; ic < 3; ++ic) {
            for (std::int64_t oc = 0; oc < 4; ++oc) {
              ASSERT_EQ(moved.bits(problem.FilterOffset(kh, kw, ic, oc)),
                        static_cast<std::uint64_t>(((kh * 4 + kw) * 4 + ic) * 4 + oc));
              ++compared;
            }
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 4 * 3 * 72);
}

}  // namespace
}  // namespace wgrad
