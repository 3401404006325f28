// How every layer reports failure: a Status, or an Expected<T> that holds a value or a Status.
//
// The codes separate who has to act: the user (invalid argument, unsupported), the machine (environment) or us
// (internal). They have the same numbers as gemmc_status in include/gemmc/gemmc.h and are only ever appended to.
// A message is one line: what is wrong, the value found, the value allowed, and the node's name where there is one.
// Values of these types belong to one thread at a time; they hold no shared state.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace gemmc {

enum class StatusCode : int {
  kOk = 0,
  kInvalidArgument = 1,  // the description, model, operand or option is wrong
  kUnsupported = 2,      // right, but not built yet or impossible on this target
  kEnvironment = 3,      // disk, memory, CPU, a missing tool
  kInternal = 4,         // a fault of gemmc's own
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  // Whatever the message quotes, it becomes one line: control characters as \xNN, an endless one cut.
  Status(StatusCode code, const std::string& message);

  static Status ok() { return {}; }
  static Status invalid(const std::string& message) { return {StatusCode::kInvalidArgument, message}; }
  static Status unsupported(const std::string& message) { return {StatusCode::kUnsupported, message}; }
  static Status environment(const std::string& message) { return {StatusCode::kEnvironment, message}; }
  static Status internal(const std::string& message) { return {StatusCode::kInternal, message}; }

  bool is_ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

  // The same failure with the node's name appended, "... (node 'fc1')", unless that is empty or already there.
  Status with_node(const std::string& node) const;

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

template <typename T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}
  Expected(Status status) : status_(std::move(status)) { assert(!status_.is_ok()); }

  explicit operator bool() const { return value_.has_value(); }
  bool is_ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace gemmc

// Leaves the enclosing function with the failure of `expression` (a Status), if it is one.
#define GEMMC_RETURN_IF_ERROR(expression)                                         \
  do {                                                                            \
    if (::gemmc::Status status_ = (expression); !status_.is_ok()) return status_; \
  } while (false)
