// The parts of an http or https URL that decide where a request and its credentials go.
#pragma once

#include <string>

#include "queries/base/result.h"

namespace outcomed {

struct HttpUrl {
  std::string text;    // The whole URL without its fragment.
  std::string scheme;  // "http" or "https".
  std::string host;    // Lower case; IPv6 addresses in brackets.
  std::string port;    // Always set, in digits.

  // Errors are ErrorKind::invalid and show nothing of the text: a mistyped URL may hold a password
  // at any place. User and password in a URL are refused; they belong into secret references.
  static Result<HttpUrl> parse(const std::string& text);
  // What a Location header means, read relative to this URL.
  [[nodiscard]] Result<HttpUrl> resolve(const std::string& location) const;
  [[nodiscard]] Result<HttpUrl> with_host(const std::string& name) const;

  // "https://example.org:443": equal exactly where scheme, host and port are.
  [[nodiscard]] std::string origin() const { return scheme + "://" + host + ":" + port; }
  // The value of the Host header: the port only where it is not the scheme's own.
  [[nodiscard]] std::string authority() const;
  // This machine, by name or address; nothing is looked up.
  [[nodiscard]] bool is_loopback() const;
};

}  // namespace outcomed
