#include "daemon/http/admission.h"

#include <fmt/core.h>

#include <charconv>

namespace outcomed {

bool announces_body(const HttpRequestIn& request) {
  const std::string_view length = request.header("content-length");
  return !request.header("transfer-encoding").empty() || (!length.empty() && length != "0");
}

std::variant<const HttpRoute*, HttpReply> Admission::admit(HttpRequestIn& request,
                                                           std::string_view target,
                                                           std::string_view version,
                                                           std::string_view near_address) const {
  if (auto bad = refuse_framing(request)) return *std::move(bad);
  const std::string_view host = request.header("host");
  // Browsers always send it; simple probes speak HTTP/1.0 without.
  const bool may_lack_host = version == "HTTP/1.0" && host.empty();
  if (!may_lack_host && !hosts_.allows(host, near_address)) {
    return HttpReply::text(421, "this Host is not ours; add its name to http.allowed_hosts");
  }
  auto parsed = parse_target(target);
  if (!parsed) return HttpReply::text(400, parsed.error().message);
  request.path = std::move(parsed->path);
  request.query = std::move(parsed->query);
  const auto found = routes_.find(request.method, request.path);
  if (const auto* miss = std::get_if<HttpRoutes::Miss>(&found)) {
    if (miss->status == 404) return HttpReply::text(404, "there is nothing here");
    HttpReply reply = HttpReply::text(miss->status, "allowed here: " + miss->allow);
    reply.headers.emplace_back("Allow", miss->allow);
    return reply;
  }
  if (auto bad = refuse_length(request.header("content-length"))) return *std::move(bad);
  return std::get<const HttpRoute*>(found);
}

std::optional<HttpReply> Admission::refuse_whole(const HttpRequestIn& request) const {
  if (request.method == "POST") return refuse_cross_site(request);
  return std::nullopt;
}

std::optional<HttpReply> Admission::refuse_length(std::string_view length) const {
  if (length.empty()) return std::nullopt;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  if (error == std::errc::invalid_argument || end != length.data() + length.size()) {
    return HttpReply::text(400, "Content-Length is not a number");
  }
  if (error == std::errc() && bytes <= max_body_) return std::nullopt;
  return too_large();
}

HttpReply Admission::too_large() const {
  return HttpReply::text(413, fmt::format("the body is above {} bytes", max_body_));
}

}  // namespace outcomed
