// A call either yields a value or says what went wrong. Mirrors the subset of
// std::expected (C++23) that we use, so an alias can replace it later.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace outcomed {

enum class ErrorKind {
  invalid,       // The request or the configuration is wrong; repeating it is useless.
  unavailable,   // Nobody answered: refused, no route, name not found, connection lost, 5xx.
  timeout,       // No complete answer before the deadline.
  rejected,      // The other side understood and said no (4xx).
  unauthorized,  // 401 or 403.
  throttled,     // 429.
  corrupt,       // The answer is not what its protocol promises (truncated, not JSON, HTML).
  too_large,     // The answer passed its byte limit.
  partial,       // The answer is well formed and says itself that data is missing.
  unsupported,   // A feature that this side doesn't have (native histograms, old server).
};

std::string_view to_string(ErrorKind kind);

struct Error {
  ErrorKind kind = ErrorKind::invalid;
  std::string message;

  // Adds what the caller was doing: "query p95: GET /api/v1/query: timed out".
  [[nodiscard]] Error while_doing(std::string_view task) && {
    return {kind, std::string(task) + ": " + std::move(message)};
  }
  // True when the same call may succeed later without anyone changing anything.
  [[nodiscard]] bool is_transient() const {
    return kind == ErrorKind::unavailable || kind == ErrorKind::timeout ||
           kind == ErrorKind::throttled;
  }
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  [[nodiscard]] bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;
inline Status ok() { return std::monostate{}; }

}  // namespace outcomed
