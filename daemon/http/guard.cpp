#include "daemon/http/guard.h"

#include <algorithm>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

std::size_t count_headers(const HttpRequestIn& request, std::string_view name) {
  return static_cast<std::size_t>(
      std::count_if(request.headers.begin(), request.headers.end(),
                    [&](const auto& header) { return header.first == name; }));
}

bool is_json_type(std::string_view content_type) {
  const std::string type = lower_case(content_type.substr(0, content_type.find_first_of("; ")));
  return type == "application/json";
}

}  // namespace

std::string host_of(std::string_view authority) {
  if (authority.starts_with('[')) {
    return lower_case(authority.substr(1, authority.find(']') - 1));
  }
  std::string host = lower_case(authority.substr(0, authority.find(':')));
  if (host.ends_with('.')) host.pop_back();
  return host;
}

HostList::HostList(const std::vector<std::string>& names) {
  for (const std::string& name : names) names_.push_back(host_of(name));
}

bool HostList::allows(std::string_view host_header, std::string_view near_address) const {
  const std::string host = host_of(host_header);
  if (host.empty()) return false;
  if (host == "localhost" || host == near_address) return true;
  return std::find(names_.begin(), names_.end(), host) != names_.end();
}

std::optional<HttpReply> refuse_framing(const HttpRequestIn& request) {
  const auto lengths = count_headers(request, "content-length");
  const auto codings = count_headers(request, "transfer-encoding");
  if (lengths + codings > 1) {
    return HttpReply::text(400, "say the length of the body once");
  }
  if (codings == 1 && lower_case(request.header("transfer-encoding")) != "chunked") {
    return HttpReply::text(400, "the only transfer encoding is chunked");
  }
  if (count_headers(request, "host") > 1) return HttpReply::text(400, "send one Host header");
  return std::nullopt;
}

std::optional<HttpReply> refuse_cross_site(const HttpRequestIn& request) {
  const std::string_view site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin" && site != "none") {
    return HttpReply::text(403, "requests from other sites' pages are refused");
  }
  if (const std::string_view origin = request.header("origin"); !origin.empty()) {
    const auto scheme = origin.find("://");
    if (scheme == std::string_view::npos ||
        lower_case(origin.substr(scheme + 3)) != lower_case(request.header("host"))) {
      return HttpReply::text(403, "requests from other sites' pages are refused");
    }
  }
  if (!request.body.empty() && !is_json_type(request.header("content-type"))) {
    return HttpReply::text(415, "send the body as application/json");
  }
  return std::nullopt;
}

}  // namespace outcomed
