// Decides what is done with a request once its head is read, and once its body is.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/http/guard.h"
#include "daemon/http/routes.h"

namespace outcomed {

class Admission {
 public:
  Admission(HttpRoutes routes, const std::vector<std::string>& host_names, std::size_t max_body)
      : routes_(std::move(routes)), hosts_(host_names), max_body_(max_body) {}

  // `request` has method, headers and peer; path and query are filled in from `target`, the text
  // between method and version. `near_address` is the one the connection came in on.
  std::variant<const HttpRoute*, HttpReply> admit(HttpRequestIn& request, std::string_view target,
                                                  std::string_view version,
                                                  std::string_view near_address) const;
  // What is checked when the body is there.
  [[nodiscard]] std::optional<HttpReply> refuse_whole(const HttpRequestIn& request) const;
  [[nodiscard]] HttpReply too_large() const;
  [[nodiscard]] std::size_t max_body() const { return max_body_; }

 private:
  [[nodiscard]] std::optional<HttpReply> refuse_length(std::string_view length) const;

  HttpRoutes routes_;
  HostList hosts_;
  std::size_t max_body_;
};

// True when a body follows the head.
bool announces_body(const HttpRequestIn& request);

}  // namespace outcomed
