// A request as handlers see it, and what they answer. (HttpRequest and HttpResponse are the
// client's side, in queries/base.)
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queries/base/result.h"

namespace outcomed {

using TextPairList = std::vector<std::pair<std::string, std::string>>;

struct HttpRequestIn {
  std::string method;  // GET, HEAD (answered by the handlers of GET) or POST.
  std::string path;    // Decoded; begins with '/'; no "." or ".." segments, no control characters.
  TextPairList query;  // Decoded, in order, names may repeat.
  TextPairList headers;  // Names in lower case.
  std::string body;
  std::string peer;  // Address of the other side, without port.

  // The first one of that name; empty where there is none.
  [[nodiscard]] std::string_view header(std::string_view lower_case_name) const;
  [[nodiscard]] std::optional<std::string> parameter(std::string_view name) const;
};

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  TextPairList headers;  // Replace the server's own of the same name (Content-Security-Policy, …).

  static HttpReply text(int status, std::string sentence);  // A newline is added.
  static HttpReply json(std::string body, int status = 200);
};

// Called by the server's threads, several at once. Must be quick: a handler that blocks holds up
// the other connections of its thread. What it throws becomes a 500.
using HttpHandler = std::function<HttpReply(const HttpRequestIn&)>;

struct HttpTarget {
  std::string path;
  TextPairList query;
};

// Splits and decodes "/api/v1/episodes?rule=a%20b". '+' is a blank in the query only.
Result<HttpTarget> parse_target(std::string_view raw);

}  // namespace outcomed
