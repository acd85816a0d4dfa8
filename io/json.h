// Json: a JSON value of our own, with a parser that holds limits and a writer. Objects keep the order of their members,
// integers of 64 bits are kept exactly, keys are unique. The parsing library behind it stays inside json_parse.cc.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/result.h"

namespace wgrad::io {

struct JsonMember;

class Json {
 public:
  enum class Type : std::uint8_t { kNull, kBool, kInt64, kUint64, kDouble, kString, kArray, kObject };
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;

  Json();  // null
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  // Values convert to Json where they are written: report["seed"] = seed, Json::MakeArray({1, "two", 3.5}).
  Json(std::nullptr_t);                                     // NOLINT(google-explicit-constructor)
  template <std::same_as<bool> B>                           // not from pointers
  Json(B value) : Json(Tag{}, static_cast<bool>(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::signed_integral I>
  Json(I value) : Json(Tag{}, static_cast<std::int64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::unsigned_integral U>
  requires(!std::same_as<U, bool>) Json(U value)
      : Json(Tag{}, static_cast<std::uint64_t>(value)) {}  // NOLINT(google-explicit-constructor)
  Json(double value);            // finite; JSON has no other  NOLINT(google-explicit-constructor)
  Json(const char* value);       // NOLINT(google-explicit-constructor)
  Json(std::string_view value);  // NOLINT(google-explicit-constructor)
  Json(std::string value);       // NOLINT(google-explicit-constructor)

  static Json MakeArray(std::initializer_list<Json> items = {});
  static Json MakeObject(std::initializer_list<JsonMember> members = {});  // keys must differ

  /// The member `key` of an object, added as null where absent. A null value becomes an object first.
  Json& operator[](std::string_view key);
  /// Adds a member that the object is known not to have: operator[] without its search, for large objects.
  Json& AddNewMember(std::string key, Json value);
  /// Adds an element to an array. A null value becomes an array first.
  void Append(Json value);

  /// An integer up to 2^63 - 1 is kInt64, a larger one kUint64, whatever C++ type or text it came from.
  Type type() const { return static_cast<Type>(state_.index()); }
  bool IsNull() const { return type() == Type::kNull; }
  bool IsString() const { return type() == Type::kString; }
  bool IsArray() const { return type() == Type::kArray; }
  bool IsObject() const { return type() == Type::kObject; }

  /// The member of an object; nullptr where absent, or where this is no object.
  const Json* Find(std::string_view key) const;
  /// The value at a JSON pointer (RFC 6901) below this one: "" is this, "/a/0" its member a's first element. nullptr
  /// where there is none.
  const Json* At(std::string_view pointer) const;
  bool Has(std::string_view pointer) const { return At(pointer) != nullptr; }

  // Each reads the value at `pointer` below this one. The Error (kBadText) names the pointer, what stands there and
  // what is due: "at /cases/3/seed: expected an integer from 0 to 2^64 - 1, found the string \"x\"".
  Result<bool> GetBool(std::string_view pointer = "") const;
  Result<std::int64_t> GetInt64(std::string_view pointer = "") const;
  Result<std::uint64_t> GetUint64(std::string_view pointer = "") const;
  Result<double> GetDouble(std::string_view pointer = "") const;  // also an integer that a double holds exactly
  Result<std::string> GetString(std::string_view pointer = "") const;
  Result<const Array*> GetArray(std::string_view pointer = "") const;    // lives as long as this value
  Result<const Object*> GetObject(std::string_view pointer = "") const;  // lives as long as this value

  /// JSON text. `indent` 0: one line. Otherwise lines indented by that many spaces a level, where a container of plain
  /// values that fits a line stays on it. Doubles come out shortest such that they read back the same; bytes that are
  /// no UTF-8 as U+FFFD.
  std::string Dump(int indent = 0) const;

  friend bool operator==(const Json& a, const Json& b);

 private:
  struct Tag {};
  Json(Tag, bool value);
  Json(Tag, std::int64_t value);
  Json(Tag, std::uint64_t value);

  std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Array, Object> state_;
};

struct JsonMember {
  std::string key;
  Json value;

  friend bool operator==(const JsonMember& a, const JsonMember& b);
};

/// What a text may cost.
struct Limits {
  std::size_t max_bytes = std::size_t{16} << 20;
  std::size_t max_depth = 64;   // containers inside containers
  bool large_integers = false;  // integers beyond 64 bits are taken, as the nearest double
};

/// Reads one JSON text. Refused besides what is no JSON: invalid UTF-8, a key twice in an object, an integer beyond 64
/// bits, a number beyond double's range, anything over `limits`. The Error (kBadText, or kTooLarge for limits) says
/// byte, line and JSON pointer.
Result<Json> Parse(std::string_view text, const Limits& limits = {});

/// One step of a JSON pointer, with ~ and / escaped: PointerStep("a/b") is "/a~1b".
std::string PointerStep(std::string_view key);
std::string PointerStep(std::size_t index);

/// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string ToValidUtf8(std::string_view text);

}  // namespace wgrad::io
