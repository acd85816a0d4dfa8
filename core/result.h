// Result<T> and Error: how a function says that its caller handed it something wrong.
// A broken invariant of our own is WGRAD_CHECK's matter (core/check.h), a wrong candidate a Verdict's.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "core/check.h"

namespace wgrad {

enum class ErrorCode {
  kInvalidArgument,  // arguments that the operator refuses; `rule` names the rule of docs/spec.md
  kBadText,          // a text that does not follow its grammar
  kNotFound,         // an unknown name, or a file that is not there
  kBadFile,          // a file that is damaged or holds something else
  kTooLarge,         // sizes beyond a limit or beyond this machine's memory
  kUnavailable,      // something of the system's (a process, a library) did not work
};

/// What a caller did wrong: one sentence that names the field, the value and the rule.
struct Error {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  int rule = 0;  // number of the rule V<n> in docs/spec.md, 0 where none applies

  friend bool operator==(const Error&, const Error&) = default;
};

/// A value, or the Error that prevented it.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor): reads as a value
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor): reads as an error

  bool ok() const { return std::holds_alternative<T>(state_); }
  const Error& error() const {
    WGRAD_CHECK(!ok(), "error() of a Result that holds a value");
    return std::get<Error>(state_);
  }
  const T& value() const& {
    WGRAD_CHECK(ok(), ok() ? "" : std::get<Error>(state_).message.c_str());
    return std::get<T>(state_);
  }
  /// By value: `for (x : F().value())` must not refer to what is gone.
  T value() && {
    WGRAD_CHECK(ok(), ok() ? "" : std::get<Error>(state_).message.c_str());
    return std::get<T>(std::move(state_));
  }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> state_;
};

/// Success, or an Error.
using Status = Result<std::monostate>;
inline Status Ok() { return Status(std::monostate{}); }

}  // namespace wgrad
