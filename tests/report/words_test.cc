// Numbers and tables as the reports write them.
#include "report/words.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "report/table.h"

namespace wgrad::report::internal {
namespace {

TEST(Words, GroupsThousands) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1000), "1,000");
  EXPECT_EQ(Grouped(-123456), "-123,456");
  EXPECT_EQ(Grouped(std::numeric_limits<std::int64_t>::max()), "9,223,372,036,854,775,807");
  EXPECT_EQ(Quantity(1, "case"), "1 case");
  EXPECT_EQ(Quantity(0, "case"), "0 cases");
}

TEST(Words, NeverShowsARatioBesideOneAsOne) {
  EXPECT_EQ(Ratio(1), "1");
  EXPECT_EQ(Ratio(1.0001), "1.0001");
  EXPECT_EQ(Ratio(0.99999), "0.99999");
  EXPECT_EQ(Ratio(0), "0");
  EXPECT_EQ(Ratio(0.03125), "0.0312");
  EXPECT_EQ(Ratio(1234.5), "1,235");
  EXPECT_EQ(Ratio(999.7), "1,000");
  EXPECT_EQ(Ratio(1e-5), "1.00e-05");
  EXPECT_EQ(Ratio(1e12), "1.00e+12");
  EXPECT_EQ(Ratio(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(Ratio(std::nan("")), "-");
}

TEST(Words, ShowsOnlyAllAsHundredPercent) {
  EXPECT_EQ(Percent(1), "100.0 %");
  EXPECT_EQ(Percent(0.99999), "99.9 %");
  EXPECT_EQ(Percent(0.5), "50.0 %");
  EXPECT_EQ(Percent(0.0001), "<0.1 %");
  EXPECT_EQ(Percent(0), "0.0 %");
}

TEST(Words, NamesDurations) {
  EXPECT_EQ(Duration(0.123), "0.12 s");
  EXPECT_EQ(Duration(12.34), "12.3 s");
  EXPECT_EQ(Duration(192), "3 min 12 s");
  EXPECT_EQ(Duration(7380), "2 h 3 min");
}

TEST(Words, WritesBitsAsWideAsTheDType) {
  EXPECT_EQ(HexBits(DType::kFloat16, 0x3c), "0x003c");
  EXPECT_EQ(HexBits(DType::kBFloat16, 0xff80), "0xff80");
  EXPECT_EQ(HexBits(DType::kFloat32, 0x3f800000), "0x3f800000");
  EXPECT_EQ(HexBits(DType::kFloat64, 1), "0x0000000000000001");
}

TEST(Words, DescribesTheAchievedDepth) {
  EXPECT_EQ(DepthSentence(0, 12), "shows no rounding error, longest sum 12");
  EXPECT_EQ(DepthSentence(1, 12544), "behaves like a single rounding, longest sum 12,544");
  EXPECT_EQ(DepthSentence(37, 0), "behaves like a chain of 37 roundings");
}

TEST(Words, KeepsForeignWordsOnOneLine) { EXPECT_EQ(OneLine("a\nb\x1b[31m\xff"), "a b [31m\xEF\xBF\xBD"); }

TEST(Table, AlignsColumnsAndTrimsLines) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft});
  table.AddRow({{"name"}, {"count"}, {}, {"note"}});
  table.AddRow({{"a·b"}, {"1,000"}, {}, {"first"}});
  table.AddRow({{"long name"}, {"7"}});
  table.AddNote(1, {"a note as long as it likes"});
  EXPECT_EQ(table.Render(1, Paint(false)),
            " name       count  note\n"
            " a·b        1,000  first\n"
            " long name      7\n"
            "            a note as long as it likes\n");
}

}  // namespace
}  // namespace wgrad::report::internal
