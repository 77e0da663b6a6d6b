#include "daemon/net/curl_setup.h"

#include <algorithm>

namespace outcomed {
namespace {

// Keeps the first failure, so that a chain of options is checked once.
class CurlOptionSetter {
 public:
  explicit CurlOptionSetter(CURL* easy) : easy_(easy) {}
  template <class T>
  CurlOptionSetter& set(CURLoption option, T value) {
    if (code_ == CURLE_OK) code_ = curl_easy_setopt(easy_, option, value);
    return *this;
  }
  [[nodiscard]] Status status() const {
    if (code_ == CURLE_OK) return ok();
    return Error{ErrorKind::unavailable,
                 std::string("libcurl can't be set up: ") + curl_easy_strerror(code_)};
  }

 private:
  CURL* easy_;
  CURLcode code_ = CURLE_OK;
};

Status append_line(CurlList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) return Error{ErrorKind::unavailable, "out of memory"};
  static_cast<void>(list.release());  // Its nodes are part of the longer list now.
  list.reset(longer);
  return ok();
}

bool has_header(const HttpRequest& request, std::string_view name) {
  const auto same = [&](const auto& header) { return same_header_name(header.first, name); };
  return std::any_of(request.headers.begin(), request.headers.end(), same) ||
         std::any_of(request.access.headers.begin(), request.access.headers.end(), same);
}

bool has_own_certificate_name(const Attempt& attempt) {
  return attempt.url.scheme == "https" && !attempt.request.access.server_name.empty();
}

Status collect_headers(const Attempt& attempt, TransferLists& lists) {
  const HttpRequest& request = attempt.request;
  std::vector<std::string> lines;
  for (const auto& [name, value] : request.headers) {
    auto line = header_line(name, value);
    if (!line) return std::move(line).error();
    lines.push_back(*std::move(line));
  }
  for (const Secret& line : attempt.credentials.lines) lines.push_back(line.reveal());
  // By hand: with CURLOPT_ACCEPT_ENCODING libcurl would decode, less strictly than GzipStream.
  // On one machine it costs the server more to compress an answer than to hand it over.
  const bool stays_here = attempt.url.is_loopback() && request.access.proxy_url.empty();
  if (!has_header(request, "accept-encoding")) {
    lines.emplace_back(stays_here ? "Accept-Encoding: identity" : "Accept-Encoding: gzip");
  }
  // With a certificate name of its own, libcurl's idea of the host is that name.
  if (has_own_certificate_name(attempt) && !has_header(request, "host")) {
    lines.push_back("Host: " + attempt.url.authority());
  }
  // Left to itself, libcurl calls every body a web form, and waits up to a second for leave to send
  // a large one.
  if (!has_header(request, "content-type")) lines.emplace_back("Content-Type:");
  if (!has_header(request, "expect")) lines.emplace_back("Expect:");
  for (const std::string& line : lines) {
    if (auto added = append_line(lists.headers, line); !added) return added;
  }
  for (const Secret& line : attempt.credentials.proxy_lines) {
    if (auto added = append_line(lists.proxy_headers, line.reveal()); !added) return added;
  }
  return ok();
}

Status set_method(CurlOptionSetter& options, const HttpRequest& request) {
  const bool bodyless = request.method == "GET" || request.method == "HEAD";
  if (bodyless && !request.body.empty()) {
    return Error{ErrorKind::invalid, "a " + request.method + " request has no body; use POST"};
  }
  if (request.method == "GET") {
    options.set(CURLOPT_HTTPGET, 1L);
  } else if (request.method == "HEAD") {
    options.set(CURLOPT_NOBODY, 1L);
  } else {
    options.set(CURLOPT_POST, 1L)
        .set(CURLOPT_POSTFIELDS, request.body.c_str())
        .set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()))
        .set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  return ok();
}

Status set_target(CurlOptionSetter& options, const Attempt& attempt, TransferLists& lists) {
  const HttpAccess& access = attempt.request.access;
  std::string url = attempt.url.text;
  if (has_own_certificate_name(attempt)) {
    // libcurl checks the certificate against the host of the URL: the URL gets that name, and the
    // connection is led back to the real host.
    auto renamed = attempt.url.with_host(access.server_name);
    if (!renamed) return std::move(renamed).error().while_doing("server_name");
    url = renamed->text;
    auto added = append_line(lists.connect_to, "::" + attempt.url.host + ":" + attempt.url.port);
    if (!added) return added;
  }
  std::string proxy;  // Empty: none, where an unset option would ask the environment.
  if (!access.proxy_url.empty()) {
    auto parsed = HttpUrl::parse(access.proxy_url);
    if (!parsed) return std::move(parsed).error().while_doing("proxy_url");
    proxy = parsed->origin();  // With its port: libcurl's own default for proxies is 1080.
  }
  options.set(CURLOPT_URL, url.c_str())
      .set(CURLOPT_CONNECT_TO, lists.connect_to.get())
      .set(CURLOPT_PROXY, proxy.c_str())
      .set(CURLOPT_NOPROXY, "")
      .set(CURLOPT_PROTOCOLS_STR, "http,https")
      .set(CURLOPT_FOLLOWLOCATION, 0L)
      .set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  return ok();
}

void set_tls(CurlOptionSetter& options, const HttpAccess& access) {
  const auto least = static_cast<long>(CURL_SSLVERSION_TLSv1_2);
  options.set(CURLOPT_SSL_VERIFYPEER, 1L)
      .set(CURLOPT_SSL_VERIFYHOST, 2L)
      .set(CURLOPT_SSLVERSION, least)
      .set(CURLOPT_PROXY_SSLVERSION, least)
      .set(CURLOPT_CA_CACHE_TIMEOUT, 0L);
  if (!access.ca_file.empty()) {
    // The directory of the system's authorities would stay trusted beside the file.
    const char* nowhere = nullptr;
    options.set(CURLOPT_CAINFO, access.ca_file.c_str())
        .set(CURLOPT_CAPATH, nowhere)
        .set(CURLOPT_PROXY_CAINFO, access.ca_file.c_str())
        .set(CURLOPT_PROXY_CAPATH, nowhere);
  }
  if (!access.cert_file.empty()) {
    options.set(CURLOPT_SSLCERT, access.cert_file.c_str())
        .set(CURLOPT_SSLKEY, access.key_file.c_str())
        .set(CURLOPT_KEYPASSWD, "");  // Else OpenSSL asks the terminal for the one of the key.
  }
}

void set_credentials(CurlOptionSetter& options, const Credentials& credentials) {
  if (!credentials.basic) return;
  options.set(CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC))
      .set(CURLOPT_USERNAME, credentials.user.c_str())
      .set(CURLOPT_PASSWORD, credentials.password.reveal().c_str());
}

void set_limits(CurlOptionSetter& options, const Attempt& attempt) {
  const Duration connect = std::clamp<Duration>(attempt.options.connect_timeout, 1ms, 24h);
  options.set(CURLOPT_NOSIGNAL, 1L)
      .set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect.count()))
      // A name look-up that hangs must not hold us when the request is given up.
      .set(CURLOPT_QUICK_EXIT, 1L)
      .set(CURLOPT_MAXLIFETIME_CONN, 300L)
      .set(CURLOPT_USERAGENT, attempt.options.user_agent.c_str());
}

ErrorKind kind_of(CURLcode code, std::string_view message) {
  switch (code) {
    case CURLE_OPERATION_TIMEDOUT:
      return ErrorKind::timeout;
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CACERT_BADFILE:  // Of the files that the configuration names.
    case CURLE_SSL_CERTPROBLEM:
      return ErrorKind::invalid;
    case CURLE_UNSUPPORTED_PROTOCOL:  // "Received HTTP/0.9": what came is not HTTP.
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_PARTIAL_FILE:
      return ErrorKind::corrupt;
    case CURLE_RECV_ERROR:  // A lost connection, unless it is broken framing.
      return message.find("chunked-encoding") != std::string_view::npos ? ErrorKind::corrupt
                                                                        : ErrorKind::unavailable;
    default:
      return ErrorKind::unavailable;
  }
}

}  // namespace

Status set_up_transfer(CURL* easy, const Attempt& attempt, TransferLists& lists) {
  CurlOptionSetter options(easy);
  if (auto done = set_target(options, attempt, lists); !done) return done;
  if (auto done = set_method(options, attempt.request); !done) return done;
  if (auto done = collect_headers(attempt, lists); !done) return done;
  options.set(CURLOPT_HTTPHEADER, lists.headers.get())
      .set(CURLOPT_PROXYHEADER, lists.proxy_headers.get())
      .set(CURLOPT_HEADEROPT, static_cast<long>(CURLHEADER_SEPARATE));
  set_credentials(options, attempt.credentials);
  set_tls(options, attempt.request.access);
  set_limits(options, attempt);
  return options.status();
}

Error error_of_curl(CURLcode code, std::string_view curl_message) {
  std::string text(curl_message.substr(0, 200));
  if (text.empty()) text = curl_easy_strerror(code);
  // libcurl up to 8.5 says so of a header line above 100 KiB, later ones have a code of their own.
  // Memory that is really short throws std::bad_alloc here long before libcurl notices.
  constexpr auto kTooLarge = static_cast<CURLcode>(100);
  if (code == CURLE_OUT_OF_MEMORY || code == kTooLarge) {
    return {ErrorKind::too_large, "a header of the answer is too large"};
  }
  for (char& c : text) {
    if (c < 0x20 || c == 0x7f) c = ' ';
  }
  return {kind_of(code, curl_message), std::move(text)};
}

}  // namespace outcomed
