#include "daemon/commands/api_client.h"

namespace outcomed {

Result<std::optional<std::string>> ask_daemon(const HttpConfig& config, HttpClient& http,
                                              const std::string& path) {
  HttpRequest request;
  request.url = "http://" + config.listen + path;
  request.timeout = 5s;
  auto response = http.send(request);
  if (!response) {
    if (response.error().kind == ErrorKind::unavailable) return std::optional<std::string>();
    return std::move(response).error();
  }
  if (response->status != 200) return error_of_status(*response).while_doing("the daemon's API");
  return std::optional(std::move(response->body));
}

}  // namespace outcomed
