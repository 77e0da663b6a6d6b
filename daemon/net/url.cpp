#include "daemon/net/url.h"

#include <curl/curl.h>

#include <memory>

#include "queries/base/ascii.h"

namespace outcomed {
namespace {

struct UrlCloser {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using UrlHandle = std::unique_ptr<CURLU, UrlCloser>;

// Empty where the URL has no such part.
std::string url_part(const UrlHandle& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  std::string copy;
  if (curl_url_get(url.get(), part, &text, flags) == CURLUE_OK && text != nullptr) copy = text;
  curl_free(text);
  return copy;
}

Error no_url(const char* reason) {
  return {ErrorKind::invalid, std::string("not a usable URL: ") + reason};
}

Result<HttpUrl> parts_of(const UrlHandle& url) {
  if (!url_part(url, CURLUPART_USER).empty() || !url_part(url, CURLUPART_PASSWORD).empty()) {
    return no_url("it holds a user or password; use basic_auth with a secret reference");
  }
  curl_url_set(url.get(), CURLUPART_FRAGMENT, nullptr, 0);
  HttpUrl parts;
  parts.text = url_part(url, CURLUPART_URL);
  parts.scheme = url_part(url, CURLUPART_SCHEME);
  parts.host = lower_case(url_part(url, CURLUPART_HOST));
  parts.port = url_part(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (parts.scheme != "http" && parts.scheme != "https") {
    return no_url("the scheme must be http or https");
  }
  if (parts.host.empty() || parts.text.empty()) return no_url("it names no host");
  return parts;
}

UrlHandle url_handle(const std::string& text) {
  UrlHandle url(curl_url());
  if (!url || text.find('\0') != std::string::npos ||
      curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return nullptr;
  }
  return url;
}

}  // namespace

Result<HttpUrl> HttpUrl::parse(const std::string& text) {
  const UrlHandle url = url_handle(text);
  if (!url) return no_url("it must read like https://host:port/path");
  return parts_of(url);
}

Result<HttpUrl> HttpUrl::resolve(const std::string& location) const {
  const UrlHandle url = url_handle(text);
  // Setting a relative reference on a handle that holds a URL resolves it (RFC 3986, section 5).
  if (!url || location.empty() ||
      curl_url_set(url.get(), CURLUPART_URL, location.c_str(), CURLU_URLENCODE) != CURLUE_OK) {
    return no_url("the Location header can't be read");
  }
  return parts_of(url);
}

Result<HttpUrl> HttpUrl::with_host(const std::string& name) const {
  const bool bare_ipv6 = name.find(':') != std::string::npos && name.front() != '[';
  const std::string host_text = bare_ipv6 ? "[" + name + "]" : name;
  const UrlHandle url = url_handle(text);
  if (!url || curl_url_set(url.get(), CURLUPART_HOST, host_text.c_str(), 0) != CURLUE_OK) {
    return no_url("the server name is not a host name");
  }
  return parts_of(url);
}

std::string HttpUrl::authority() const {
  const bool usual = port == (scheme == "https" ? "443" : "80");
  return usual ? host : host + ":" + port;
}

bool HttpUrl::is_loopback() const {
  const bool is_ipv4 = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "[::1]" || (is_ipv4 && host.starts_with("127."));
}

}  // namespace outcomed
