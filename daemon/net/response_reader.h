// Turns header lines and body pieces, as they arrive, into one HttpResponse within its limits.
#pragma once

#include <optional>
#include <string_view>

#include "daemon/net/gzip_stream.h"
#include "queries/base/http_client.h"

namespace outcomed {

constexpr std::int64_t kMaxHeaderBytes = 64 * 1024;

// One reader for each exchange. Not thread-safe. `request` must outlive it.
class ResponseReader {
 public:
  explicit ResponseReader(const HttpRequest& request) : request_(request) {}

  // One line as libcurl hands it over, line end included: status lines (of interim answers and of a
  // proxy's CONNECT too), headers, the empty line, trailers. All of them count to the limit.
  Status take_header(std::string_view line);
  Status take_body(std::string_view piece);
  // What is left to say once the other side has ended the answer.
  Status finish() const;

  [[nodiscard]] HttpResponse& response() { return response_; }

 private:
  void start_answer(std::string_view status_line);
  void add_header(std::string_view line);
  Status end_headers();
  Status pass_on(std::string_view decoded);

  const HttpRequest& request_;
  HttpResponse response_;
  bool headers_ended_ = false;
  std::int64_t header_bytes_ = 0;
  std::int64_t wire_bytes_ = 0;
  std::int64_t decoded_bytes_ = 0;
  std::optional<GzipStream> gzip_;
};

}  // namespace outcomed
