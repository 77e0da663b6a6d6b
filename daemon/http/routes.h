// Which handler answers which path. Filled before the server starts, then only read.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemon/http/message.h"

namespace outcomed {

struct HttpRoute {
  std::string method;  // GET or POST.
  std::string path;
  bool is_prefix = false;
  HttpHandler handler;
};

class HttpRoutes {
 public:
  HttpRoutes& get(std::string path, HttpHandler handler);
  HttpRoutes& post(std::string path, HttpHandler handler);
  // Every path that begins with `prefix`; the longest prefix wins, an exact path wins over all.
  HttpRoutes& get_below(std::string prefix, HttpHandler handler);

  struct Miss {
    int status = 404;   // Or 405,
    std::string allow;  // with "GET, HEAD" and the like.
  };
  // HEAD finds the handlers of GET.
  [[nodiscard]] std::variant<const HttpRoute*, Miss> find(std::string_view method,
                                                          std::string_view path) const;
  [[nodiscard]] const std::vector<HttpRoute>& all() const { return routes_; }

 private:
  std::vector<HttpRoute> routes_;
};

}  // namespace outcomed
