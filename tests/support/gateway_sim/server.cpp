#include "tests/support/gateway_sim/server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <microhttpd.h>
#include <netinet/in.h>

#include <cstring>

namespace outcomed::sim {
namespace {

std::string_view header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value == nullptr ? std::string_view() : value;
}

MHD_Result on_request(void* self, MHD_Connection* connection, const char* path, const char* method,
                      const char*, const char*, std::size_t* upload, void** seen) {
  static int marker;
  if (*seen == nullptr) {  // The headers have come; a body may follow and is not read.
    *seen = &marker;
    return MHD_YES;
  }
  if (*upload != 0) {
    *upload = 0;
    return MHD_YES;
  }
  Server::Answer answer = static_cast<Server*>(self)->answer(
      method, path, header(connection, "Host"), header(connection, "Authorization"),
      header(connection, "Accept"));
  MHD_Response* response = MHD_create_response_from_buffer(answer.body.size(), answer.body.data(),
                                                           MHD_RESPMEM_MUST_COPY);
  if (!answer.type.empty()) MHD_add_response_header(response, "Content-Type", answer.type.c_str());
  if (!answer.location.empty()) {
    MHD_add_response_header(response, "Location", answer.location.c_str());
  }
  const MHD_Result queued =
      MHD_queue_response(connection, static_cast<unsigned>(answer.status), response);
  MHD_destroy_response(response);
  return queued;
}

}  // namespace

Server::Server(Gateway& gateway, std::string key, std::function<std::int64_t()> now)
    : gateway_(gateway), key_(std::move(key)), now_(std::move(now)) {}

Server::~Server() {
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

Result<std::unique_ptr<Server>> Server::start(Gateway& gateway, std::uint16_t port, std::string key,
                                              std::function<std::int64_t()> now) {
  std::unique_ptr<Server> server(new Server(gateway, std::move(key), std::move(now)));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server->daemon_ = MHD_start_daemon(
      MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG, port, nullptr, nullptr, on_request,
      server.get(), MHD_OPTION_SOCK_ADDR, reinterpret_cast<sockaddr*>(&address), MHD_OPTION_END);
  if (server->daemon_ == nullptr) {
    return Error{ErrorKind::unavailable,
                 fmt::format("can't listen on 127.0.0.1:{}: {}", port, std::strerror(errno))};
  }
  return server;
}

std::uint16_t Server::port() const {
  return MHD_get_daemon_info(daemon_, MHD_DAEMON_INFO_BIND_PORT)->port;
}

Server::Answer Server::answer(std::string_view method, std::string_view path, std::string_view host,
                              std::string_view authorization, std::string_view accept) {
  const std::lock_guard lock(mutex_);
  gateway_.advance_to_unix(now_());
  if (!gateway_.up()) return {503, "text/plain", {}, "starting\n"};
  if (method != "GET") return {405, "application/json", {}, "{\"detail\":\"Method Not Allowed\"}"};
  if (path == "/health/readiness") {
    return {200,
            "application/json",
            {},
            fmt::format("{{\"status\":\"connected\",\"litellm_version\":\"{}\"}}",
                        gateway_.traits().version)};
  }
  if (path == "/metrics") return {307, {}, fmt::format("http://{}/metrics/", host), {}};
  if (path != "/metrics/") return {404, "application/json", {}, "{\"detail\":\"Not Found\"}"};
  if (!key_.empty() && authorization != "Bearer " + key_) {
    gateway_.note_refused_scrape();
    return {401,
            "application/json",
            {},
            "{\"detail\":\"Unauthorized access to metrics endpoint. To allow unauthenticated "
            "access, set 'litellm_settings.require_auth_for_metrics_endpoint: false' in your "
            "proxy_config.yaml.\"}"};
  }
  const bool openmetrics = accept.find("application/openmetrics-text") != std::string_view::npos;
  Answer answer;
  if (openmetrics) answer.type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
  gateway_.write_page(answer.body, openmetrics);
  return answer;
}

}  // namespace outcomed::sim
