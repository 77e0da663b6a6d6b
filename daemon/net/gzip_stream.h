// Decodes a gzip body as it arrives. libcurl's own decoder takes a gzip body that ends early for a
// whole one, which would turn half a scrape into a healthy-looking reading.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

class GzipStream {
 public:
  using Sink = std::function<Status(std::string_view)>;

  GzipStream();
  ~GzipStream();

  // Hands decoded pieces of at most 32 KiB to `sink` and stops at its first error. Several gzip
  // members one after the other are one body. Errors of the stream itself are ErrorKind::corrupt.
  Status feed(std::string_view piece, const Sink& sink);
  // True where nothing was fed, or all that was fed ended with a whole member.
  [[nodiscard]] bool is_whole() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace outcomed
