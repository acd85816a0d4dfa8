// JUnit XML: well-formed whatever the messages hold, and read by the names that continuous-integration systems know.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/report/examples.h"

namespace wgrad::report {
namespace {

using oracle::Outcome;

// What is wrong with a text as XML, for the little XML that these reports use; nothing where it is well-formed.
class XmlCheck {
 public:
  explicit XmlCheck(std::string_view text) : text_(text) {}

  std::optional<std::string> Problem() {
    if (!Take("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")) return "no declaration";
    while (!text_.empty()) {
      const std::optional<std::string> problem = text_.front() == '<' ? Tag() : CharacterData('<');
      if (problem) return problem;
    }
    if (!open_.empty()) return "open at the end: " + open_.back();
    return elements_ == 0 ? std::optional<std::string>("no element") : std::nullopt;
  }

 private:
  bool Take(std::string_view prefix) {
    if (!text_.starts_with(prefix)) return false;
    text_.remove_prefix(prefix.size());
    return true;
  }

  std::string Name() {
    const std::size_t end = std::min(text_.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), text_.size());
    std::string name(text_.substr(0, end));
    text_.remove_prefix(end);
    return name;
  }

  std::optional<std::string> Tag() {
    if (Take("</")) {
      const std::string name = Name();
      if (open_.empty() || open_.back() != name || !Take(">")) return "end of " + name;
      open_.pop_back();
      return std::nullopt;
    }
    Take("<");
    const std::string name = Name();
    if (name.empty() || (open_.empty() && elements_ > 0)) return "start of " + name;
    ++elements_;
    while (Take(" ")) {
      if (Name().empty() || !Take("=\"")) return "attribute of " + name;
      if (const auto problem = CharacterData('"')) return problem;
      if (!Take("\"")) return "attribute of " + name + " has no end";
    }
    if (Take("/>")) return std::nullopt;
    open_.push_back(name);
    return Take(">") ? std::nullopt : std::optional<std::string>("tag of " + name + " has no end");
  }

  std::optional<std::string> CharacterData(char end) {
    while (!text_.empty() && text_.front() != end) {
      const char c = text_.front();
      const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n';
      if (c == '<' || c == '>' || control) return "a bare character " + std::to_string(static_cast<int>(c));
      if (c == '&' && !TakeReference()) return "a bare &";
      if (c != '&') text_.remove_prefix(1);
    }
    return std::nullopt;
  }
  bool TakeReference() {
    for (const char* reference : {"&amp;", "&lt;", "&gt;", "&quot;", "&#9;", "&#10;", "&#13;"}) {
      if (Take(reference)) return true;
    }
    return false;
  }

  std::string_view text_;
  std::vector<std::string> open_;
  int elements_ = 0;
};

TEST(XmlCheck, FindsWhatIsNotWellFormed) {
  const std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  EXPECT_FALSE(XmlCheck(head + "<a><b c=\"1\"/>x</a>").Problem());
  for (const char* bad :
       {"", "<a>", "<a></b>", "<a>&</a>", "<a b=1/>", "<a b=\"<\"/>", "<a>\x01</a>", "<a/><a/>", "<a>></a>"}) {
    EXPECT_TRUE(XmlCheck(head + bad).Problem()) << bad;
  }
}

constexpr const char* kCase = "n2_i5x7_c6_k3x2_o4_same_f32/normal/1";

TEST(JUnit, HasAnElementForEachOutcome) {
  CheckReport report =
      ReportOf("mine", {PassingCase(kCase), OtherCase(kCase, Outcome::kDied, "killed by signal 11"),
                        OtherCase(kCase, Outcome::kRejected, "no"), OtherCase(kCase, Outcome::kUnsupported, "groups"),
                        OtherCase(kCase, Outcome::kBlind, "no term would be missed"),
                        OtherCase(kCase, Outcome::kFail, "changed its inputs")});
  report.environment.variables.clear();
  CandidateReport& candidate = report.candidates[0];
  candidate.greeting.libraries.clear();
  candidate.known_cases = {5};
  candidate.counts.failed = 0;
  candidate.counts.known = 1;
  EXPECT_EQ(ToJUnit(report), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="wgrad check mine" tests="6" failures="1" errors="1" skipped="3" time="12.340">
  <testsuite name="mine" tests="6" failures="1" errors="1" skipped="3" time="0.250">
    <properties>
      <property name="wgrad" value="0.1.0"/>
      <property name="processor" value="Example Processor"/>
      <property name="instruction_sets" value="avx2 fma"/>
      <property name="policy" value="pad either"/>
      <property name="seed" value="1"/>
    </properties>
    <testcase name="n2_i5x7_c6_k3x2_o4_same_f32/normal/1" classname="mine" time="0.250"/>
    <testcase name="n2_i5x7_c6_k3x2_o4_same_f32/normal/1" classname="mine" time="0.000"><error message="killed by signal 11" type="died">DIED  n2_i5x7_c6_k3x2_o4_same_f32  filling normal, seed 1
  killed by signal 11
  see it again:  wgrad check mine --problem n2_i5x7_c6_k3x2_o4_same_f32 --filling normal --seed 1
</error></testcase>
    <testcase name="n2_i5x7_c6_k3x2_o4_same_f32/normal/1" classname="mine" time="0.000"><failure message="no" type="rejected">REJECTED  n2_i5x7_c6_k3x2_o4_same_f32  filling normal, seed 1
  no
  see it again:  wgrad check mine --problem n2_i5x7_c6_k3x2_o4_same_f32 --filling normal --seed 1
</failure></testcase>
    <testcase name="n2_i5x7_c6_k3x2_o4_same_f32/normal/1" classname="mine" time="0.000"><skipped message="unsupported: groups"/></testcase>
    <testcase name="n2_i5x7_c6_k3x2_o4_same_f32/normal/1" classname="mine" time="0.000"><skipped message="blind: no term would be missed"/></testcase>
    <testcase name="n2_i5x7_c6_k3x2_o4_same_f32/normal/1" classname="mine" time="0.000"><skipped message="known to fail: changed its inputs"/></testcase>
  </testsuite>
</testsuites>
)");
}

TEST(JUnit, IsWellFormedWhateverTheMessagesHold) {
  const std::string hostile = "<&>\"' ]]> \x01\x1b[31m\n\t\r \xff \xEF\xBF\xBE caf\xC3\xA9";
  CheckReport report = ReportOf(hostile, {FailingCase(kCase), OtherCase(kCase, Outcome::kDied, hostile),
                                          OtherCase(kCase, Outcome::kUnsupported, hostile)});
  report.environment.variables["TF_X"] = hostile;
  report.candidates.push_back(report.candidates[0]);
  const std::string xml = ToJUnit(report);
  const std::optional<std::string> problem = XmlCheck(xml).Problem();
  EXPECT_FALSE(problem) << *problem << "\n" << xml;
  EXPECT_EQ(xml.find('\xff'), std::string::npos);
  EXPECT_EQ(xml.find("\xEF\xBF\xBE"), std::string::npos);
  EXPECT_NE(xml.find("filter_backprop"), std::string::npos);
}

}  // namespace
}  // namespace wgrad::report
