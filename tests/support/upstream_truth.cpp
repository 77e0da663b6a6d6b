#include "tests/support/upstream_truth.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/support/gzip_lines.h"

namespace outcomed::testing {
namespace {

// The recordings' own set-up: which provider model stands behind which group.
std::string group_of(const std::string& provider_model) {
  if (provider_model == "gpt-4o-mini") return "capped";
  if (provider_model.starts_with("gpt-4o")) return "gpt-4o";
  if (provider_model == "deepseek-chat") return "flaky";
  if (provider_model == "judge-1") return "judge";
  if (provider_model == "qwen3-32b") return "private/qwen";
  return provider_model;
}

}  // namespace

std::vector<UpstreamAttempt> read_upstream_attempts(const std::string& path) {
  std::vector<UpstreamAttempt> attempts;
  for (const std::string& text : read_gzip_lines(path)) {
    const auto line = nlohmann::json::parse(text);
    const std::string answer = line.at("answer");
    attempts.push_back({line.at("at"), group_of(line.at("model")),
                        answer == "500" || answer == "503" || answer == "slow"});
  }
  return attempts;
}

std::map<std::string, PhaseSpan> read_phases(const std::string& requests_path) {
  std::map<std::string, PhaseSpan> phases;
  for (const std::string& text : read_gzip_lines(requests_path)) {
    const auto line = nlohmann::json::parse(text);
    const double begin = line.at("start");
    const double end = line.at("end");
    const auto [found, is_new] = phases.emplace(line.at("phase"), PhaseSpan{begin, end});
    found->second.begin = std::min(found->second.begin, begin);
    found->second.end = std::max(found->second.end, end);
  }
  return phases;
}

}  // namespace outcomed::testing
