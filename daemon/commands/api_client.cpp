#include "daemon/commands/api_client.h"

#include <nlohmann/json.hpp>
#include <ostream>

namespace outcomed {
namespace {

// Where a daemon that listens everywhere is reached.
std::string reachable(const std::string& listen) {
  const auto colon = listen.rfind(':');
  const std::string host = listen.substr(0, colon);
  if (colon == std::string::npos || (!host.empty() && host != "0.0.0.0" && host != "[::]"))
    return listen;
  return "127.0.0.1" + listen.substr(colon);
}

}  // namespace

Result<std::optional<std::string>> ask_daemon(const HttpConfig& config, HttpClient& http,
                                              const std::string& path, std::ostream& notes) {
  HttpRequest request;
  request.url = "http://" + reachable(config.listen) + path;
  request.timeout = 5s;
  auto response = http.send(request);
  if (!response) {
    if (response.error().kind == ErrorKind::unavailable) return std::optional<std::string>();
    return std::move(response).error();
  }
  // The daemon's API answers with JSON objects, but for a Host that it doesn't know and for faults.
  if (!response->body.starts_with('{') && response->status != 421 && response->status < 500) {
    notes << "note: at " << config.listen
          << " (http.listen) answers another program, so no running daemon was asked\n";
    return std::optional<std::string>();
  }
  // What isn't there is the caller's mistake, in the words that reading the file would have.
  if (response->status == 404) {
    const auto body = nlohmann::json::parse(response->body, nullptr, false);
    if (body.is_object() && body.value("errorType", nlohmann::json()) == "not_found") {
      const auto text = body.find("error");
      if (text != body.end() && text->is_string()) {
        return Error{ErrorKind::invalid, text->get<std::string>()};
      }
    }
  }
  if (response->status != 200) return error_of_status(*response).while_doing("the daemon's API");
  return std::optional(std::move(response->body));
}

}  // namespace outcomed
