// What outcomed says about itself on /metrics. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "queries/base/result.h"
#include "queries/base/time.h"

namespace outcomed {

class Metrics {
 public:
  // `started`: for process_start_time_seconds.
  Metrics(std::string_view version, Timestamp started);
  ~Metrics();

  void ticked(Duration took, Duration late, std::uint64_t missed);
  void fetched(const std::string& source, Duration took, std::uint64_t buckets);
  void fetch_failed(const std::string& source, ErrorKind kind);
  void watermark(const std::string& source, Timestamp at);
  void problem(const std::string& source, const std::string& what);
  void alerts(std::string_view phase, std::size_t count);
  void episode(std::string_view change);
  void outbox(const std::string& receiver, std::size_t rows, Duration oldest);
  void delivered(const std::string& receiver, std::string_view result, Duration took);
  void committed(bool success);
  void reloaded(bool success, Timestamp now);
  void warned();

  // The page in Prometheus' text format, process_* included.
  [[nodiscard]] std::string page() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

}  // namespace outcomed
