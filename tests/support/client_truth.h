// What the clients of a recorded gateway really got (requests.jsonl.gz), by model and error class.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace outcomed::testing {

struct ClientRequest {
  double end = 0;  // Unix seconds.
  std::string model;
  std::string error_class;  // Empty: served.
};

// Empty when the file can't be read.
std::vector<ClientRequest> read_client_requests(const std::string& path);

struct Truth {
  std::map<std::string, std::int64_t> n;                          // By model.
  std::map<std::pair<std::string, std::string>, std::int64_t> k;  // By model and class.
  friend bool operator==(const Truth&, const Truth&) = default;
};

// Requests that ended in (from, to], Unix seconds.
Truth truth_between(const std::vector<ClientRequest>& requests, double from, double to);

}  // namespace outcomed::testing
