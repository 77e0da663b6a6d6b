#include "tests/support/client_truth.h"

#include <nlohmann/json.hpp>

#include "tests/support/gzip_lines.h"

namespace outcomed::testing {
namespace {

// From what the client saw: status, and the words of a refusal. Not from the gateway's own classes.
std::string class_of(int status, const std::string& message) {
  switch (status) {
    case 200:
      return "";
    case 400:
      return "invalid_request";
    case 401:
      return "authentication";
    case 404:
      return "model_not_found";
    case 408:
      return "deadline_exceeded";
    case 429:
      return message.find("No deployments available") != std::string::npos ? "router_refusal"
                                                                           : "rate_limited";
    default:
      return status >= 500 ? "provider_unavailable" : "status " + std::to_string(status);
  }
}

}  // namespace

std::vector<ClientRequest> read_client_requests(const std::string& path) {
  std::vector<ClientRequest> requests;
  for (const std::string& text : read_gzip_lines(path)) {
    const auto line = nlohmann::json::parse(text);
    const std::string message =
        line.at("message").is_null() ? "" : line.at("message").get<std::string>();
    requests.push_back({line.at("end"), line.at("model"), class_of(line.at("status"), message)});
  }
  return requests;
}

Truth truth_between(const std::vector<ClientRequest>& requests, double from, double to) {
  Truth truth;
  for (const ClientRequest& request : requests) {
    if (request.end <= from || request.end > to) continue;
    ++truth.n[request.model];
    if (!request.error_class.empty()) ++truth.k[{request.model, request.error_class}];
  }
  return truth;
}

}  // namespace outcomed::testing
