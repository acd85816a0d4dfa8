// JSON values: what is built comes back from its text, and what is refused says where.
#include "io/json.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "core/random.h"

namespace wgrad::io {
namespace {

Json Parsed(std::string_view text) {
  const Result<Json> json = Parse(text);
  EXPECT_TRUE(json.ok()) << text << "\n" << (json.ok() ? "" : json.error().message);
  return json.ok() ? *json : Json();
}

// The message of the error that `text` gives.
std::string Refusal(std::string_view text, const Limits& limits = {}) {
  const Result<Json> json = Parse(text, limits);
  EXPECT_FALSE(json.ok()) << text;
  return json.ok() ? "" : json.error().message;
}

TEST(Json, BuildsWithIndexingAndInitializers) {
  Json json;
  json["name"] = "openblas";
  json["counts"]["cases"] = 812;
  json["element"] = Json::MakeArray({0, 1, 2, 3});
  json["nothing"] = nullptr;
  json["yes"] = true;
  json["ratio"] = 0.5;
  json["list"].Append(Json::MakeObject({{"a", 1}}));
  EXPECT_EQ(json.Dump(),
            R"({"name":"openblas","counts":{"cases":812},"element":[0,1,2,3],"nothing":null,"yes":true,"ratio":0.5,)"
            R"("list":[{"a":1}]})");
}

TEST(Json, KeepsTheOrderOfMembers) { EXPECT_EQ(Parsed(R"({"b":1,"a":2,"c":3})").Dump(), R"({"b":1,"a":2,"c":3})"); }

TEST(Json, KeepsIntegersOf64BitsExactly) {
  const Json json = Parsed("[18446744073709551615, 9223372036854775807, -9223372036854775808, 9007199254740993]");
  EXPECT_EQ(*json.GetUint64("/0"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json.At("/0")->type(), Json::Type::kUint64);
  EXPECT_EQ(*json.GetInt64("/1"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(*json.GetInt64("/2"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(json.Dump(), "[18446744073709551615,9223372036854775807,-9223372036854775808,9007199254740993]");
  EXPECT_EQ(Json(std::uint64_t{5}), Json(5));
  EXPECT_FALSE(json.GetInt64("/0").ok());
  EXPECT_FALSE(json.GetUint64("/2").ok());
  EXPECT_FALSE(json.GetDouble("/3").ok());
}

TEST(Json, WritesDoublesThatReadBackTheSame) {
  std::int64_t compared = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto value = std::bit_cast<double>(SplitMix64(17, i));
    if (!std::isfinite(value)) continue;
    const Json back = Parsed(Json(value).Dump());
    ASSERT_EQ(back.type(), Json::Type::kDouble);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(*back.GetDouble()), std::bit_cast<std::uint64_t>(value));
    ++compared;
  }
  EXPECT_GT(compared, 1900);
  EXPECT_EQ(Json(1.0).Dump(), "1.0");
  EXPECT_EQ(Json(-0.0).Dump(), "-0.0");
  EXPECT_EQ(Json(5e-324).Dump(), "5e-324");
}

TEST(JsonDeathTest, HasNoInfinitiesAndNoNaN) {
  EXPECT_DEATH(Json(std::numeric_limits<double>::infinity()), "no infinities");
  EXPECT_DEATH(Json(std::nan("")), "no NaN");
}

TEST(Json, EscapesStringsAndReplacesWhatIsNoUtf8) {
  using namespace std::string_literals;
  const std::string text = "quote\" back\\ line\n tab\t zero\0 \x7f caf\xc3\xa9"s;
  EXPECT_EQ(Parsed(Json(text).Dump()), Json(text));
  EXPECT_EQ(Json("\x01").Dump(), R"("\u0001")");
  EXPECT_EQ(Parsed(Json("a\xff"
                        "b\xed\xa0\x80")
                       .Dump()),
            Json("a\xEF\xBF\xBD"
                 "b\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
  EXPECT_EQ(Parsed(R"("\ud83d\ude00")"), Json("\xF0\x9F\x98\x80"));
}

TEST(Json, IndentsAndKeepsShortContainersOnALine) {
  const Json json = Json::MakeObject({{"element", Json::MakeArray({0, 1, 2, 3})},
                                      {"empty", Json::MakeObject()},
                                      {"nested", Json::MakeArray({Json::MakeArray({1}), 2})}});
  EXPECT_EQ(json.Dump(2), R"({
  "element": [0, 1, 2, 3],
  "empty": {},
  "nested": [
    [1],
    2
  ]
})");
  EXPECT_EQ(Parsed(json.Dump(2)), json);
}

TEST(Json, ReadsByPointer) {
  const Json json = Parsed(R"({"a/b": {"~": [10, {"x": "y"}]}, "": 7})");
  EXPECT_EQ(*json.GetInt64("/a~1b/~0/0"), 10);
  EXPECT_EQ(*json.GetString("/a~1b/~0/1/x"), "y");
  EXPECT_EQ(*json.GetInt64("/"), 7);
  EXPECT_EQ(*json.GetInt64(PointerStep("a/b") + PointerStep("~") + PointerStep(0)), 10);
  for (const char* absent : {"/a", "/a~1b/~0/2", "/a~1b/~0/-", "/a~1b/~0/+0", "/a~1b/~0/0/0", "x"}) {
    EXPECT_FALSE(json.Has(absent)) << absent;
  }
}

TEST(Json, NamesPointerAndValueWhereATypeIsWrong) {
  const Json json = Parsed(R"({"a": [1, "x", -2, 2.5, null, {}]})");
  EXPECT_EQ(json.GetString("/a/0").error().message, "at /a/0: expected a string, found the number 1");
  EXPECT_EQ(json.GetBool("/a/1").error().message, "at /a/1: expected true or false, found the string \"x\"");
  EXPECT_EQ(json.GetUint64("/a/2").error().message,
            "at /a/2: expected an integer from 0 to 2^64 - 1, found the number -2");
  EXPECT_EQ(json.GetInt64("/a/3").error().message,
            "at /a/3: expected an integer from -2^63 to 2^63 - 1, found the number 2.5");
  EXPECT_EQ(json.GetDouble("/a/4").error().message, "at /a/4: expected a number that a double holds, found null");
  EXPECT_EQ(json.GetArray("/a/5").error().message, "at /a/5: expected an array, found an object of 0");
  EXPECT_EQ(json.GetObject("/b").error().message, "at /b: expected an object, found nothing");
  EXPECT_EQ(json.GetArray().error().message, "at the top: expected an array, found an object of 1");
  EXPECT_EQ(json.GetArray().error().code, ErrorCode::kBadText);
}

TEST(JsonParse, RefusesWhatIsNoJson) {
  const std::string_view texts[] = {"",      "nul",     "[1,]",     "{\"a\":}",          "[1] 2",     "{'a':1}", "01",
                                    "[1 2]", "\"open",  "NaN",      "Infinity",          "1e999",     "\"\t\"",  "+1",
                                    "[",     "\"\\x\"", "// c\n 1", "\"\\ud800 alone\"", "{\"a\" 1}", "]",       ".5"};
  std::size_t refused = 0;
  for (const std::string_view text : texts) {
    const std::string message = Refusal(text);
    EXPECT_EQ(message.substr(0, 11), "JSON, byte ") << message;
    ++refused;
  }
  EXPECT_EQ(refused, std::size(texts));
}

TEST(JsonParse, SaysByteLineAndPointer) {
  const std::string message = Refusal("{\"a\": [1,\n  {\"b\": tru}]}");
  EXPECT_EQ(message.substr(0, 37), "JSON, byte 22, line 2, at /a/1/b: syn") << message;
}

TEST(JsonParse, RefusesAKeyTwice) {
  EXPECT_EQ(Refusal("{\"a\": {\"k\": 1,\n\"k\": 2}}"),
            "JSON, byte 18, line 2, at /a/k: the key \"k\" stands twice in one object");
  EXPECT_EQ(Parsed(R"([{"k":1},{"k":2}])").Dump(), R"([{"k":1},{"k":2}])");
}

TEST(JsonParse, RefusesInvalidUtf8AndZeroBytes) {
  for (const char* text : {"\"\xff\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xc3\""}) {
    EXPECT_NE(Refusal(text).find("UTF-8"), std::string::npos) << Refusal(text);
  }
  EXPECT_EQ(Refusal(std::string_view("[]\0[]", 5)), "JSON, byte 3, line 1, at the top: a zero byte");
}

TEST(JsonParse, RefusesIntegersBeyond64Bits) {
  EXPECT_EQ(Refusal("[18446744073709551616]"),
            "JSON, byte 22, line 1, at /0: the integer 18446744073709551616 does not fit 64 bits");
  EXPECT_NE(Refusal("-9223372036854775809").find("does not fit"), std::string::npos);
}

TEST(JsonParse, HoldsTheLimitOfDepth) {
  const Limits limits{.max_bytes = 1000, .max_depth = 3};
  EXPECT_TRUE(Parse("[[[]]]", limits).ok());
  EXPECT_EQ(Refusal("[[[[]]]]", limits), "JSON, byte 4, line 1, at /0/0/0: nested deeper than the limit of 3 levels");
  EXPECT_EQ(Parse("[[[{}]]]", limits).error().code, ErrorCode::kTooLarge);
  const std::string hostile(1000000, '[');
  EXPECT_EQ(Parse(hostile).error().code, ErrorCode::kTooLarge);
}

TEST(JsonParse, HoldsTheLimitOfBytes) {
  const Limits limits{.max_bytes = 4, .max_depth = 3};
  EXPECT_TRUE(Parse("1234", limits).ok());
  EXPECT_EQ(Refusal("12345", limits), "JSON of 5 bytes is over the limit of 4");
}

TEST(JsonParse, SurvivesDamageAtEveryByte) {
  const std::string text = R"({"a":[1,-2.5e3,"x\u00e9\n",null,true],"b":{"c":{}}})";
  std::int64_t tried = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    EXPECT_FALSE(Parse(text.substr(0, at)).ok()) << at;
    for (const char byte : {'\0', '"', '\\', '}', ']', '\xff', '9'}) {
      std::string damaged = text;
      damaged[at] = byte;
      const Result<Json> json = Parse(damaged);
      if (json.ok()) {
        EXPECT_EQ(Parsed(json->Dump()), *json);
      }
      ++tried;
    }
  }
  EXPECT_EQ(tried, static_cast<std::int64_t>(7 * text.size()));
}

}  // namespace
}  // namespace wgrad::io
