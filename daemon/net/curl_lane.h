// One connection cache and the one transfer that may use it at a time.
#pragma once

#include <curl/curl.h>

#include <chrono>
#include <memory>
#include <string>

#include "daemon/net/credentials.h"
#include "daemon/net/curl_client.h"
#include "daemon/net/response_reader.h"
#include "daemon/net/url.h"

namespace outcomed {

// One request to one URL, without redirects or repetition.
struct Attempt {
  const HttpRequest& request;
  const CurlOptions& options;
  Duration timeout;  // Of the whole exchange, which ends at `deadline`.
  std::chrono::steady_clock::time_point deadline;
  HttpUrl url;
  Credentials credentials;
};

// Not thread-safe.
class CurlLane {
 public:
  // Null where libcurl has no memory left.
  static std::unique_ptr<CurlLane> open();

  Result<HttpResponse> perform(const Attempt& attempt);

  std::string last_origin;

 private:
  struct EasyCloser {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct MultiCloser {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  CurlLane() = default;
  Status drive(const Attempt& attempt, const char* curl_message);

  // The order matters: the easy handle goes first, the multi handle owns the connections.
  std::unique_ptr<CURLM, MultiCloser> multi_;
  std::unique_ptr<CURL, EasyCloser> easy_;
};

}  // namespace outcomed
