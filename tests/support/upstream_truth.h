// What the provider behind a recorded gateway really answered (attempts.jsonl.gz), and when each
// phase of the recording was (requests.jsonl.gz).
#pragma once

#include <map>
#include <string>
#include <vector>

namespace outcomed::testing {

struct UpstreamAttempt {
  double at = 0;        // Unix seconds.
  std::string model;    // The group that consumers ask for, not the provider's name.
  bool failed = false;  // 500, 503 or no answer in time; a 4xx is an answer.
};

// Empty when the file can't be read.
std::vector<UpstreamAttempt> read_upstream_attempts(const std::string& path);

struct PhaseSpan {
  double begin = 0;  // Unix seconds, of the first request's start and the last one's end.
  double end = 0;
};
std::map<std::string, PhaseSpan> read_phases(const std::string& requests_path);

}  // namespace outcomed::testing
