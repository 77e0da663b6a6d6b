#include "daemon/http/routes.h"

namespace outcomed {
namespace {

bool covers(const HttpRoute& route, std::string_view path) {
  return route.is_prefix ? path.starts_with(route.path) : path == route.path;
}

bool is_closer(const HttpRoute& a, const HttpRoute* b) {
  if (b == nullptr) return true;
  if (a.is_prefix != b->is_prefix) return b->is_prefix;
  return a.path.size() > b->path.size();
}

}  // namespace

HttpRoutes& HttpRoutes::get(std::string path, HttpHandler handler) {
  routes_.push_back({"GET", std::move(path), false, std::move(handler)});
  return *this;
}

HttpRoutes& HttpRoutes::post(std::string path, HttpHandler handler) {
  routes_.push_back({"POST", std::move(path), false, std::move(handler)});
  return *this;
}

HttpRoutes& HttpRoutes::get_below(std::string prefix, HttpHandler handler) {
  routes_.push_back({"GET", std::move(prefix), true, std::move(handler)});
  return *this;
}

std::variant<const HttpRoute*, HttpRoutes::Miss> HttpRoutes::find(std::string_view method,
                                                                  std::string_view path) const {
  if (method == "HEAD") method = "GET";
  const HttpRoute* best = nullptr;
  bool has_get = false;
  bool has_post = false;
  for (const HttpRoute& route : routes_) {
    if (!covers(route, path)) continue;
    (route.method == "GET" ? has_get : has_post) = true;
    if (route.method == method && is_closer(route, best)) best = &route;
  }
  if (best != nullptr) return best;
  if (!has_get && !has_post) return Miss{};
  std::string allow = has_get ? "GET, HEAD" : "";
  if (has_post) allow += has_get ? ", POST" : "POST";
  return Miss{405, std::move(allow)};
}

}  // namespace outcomed
