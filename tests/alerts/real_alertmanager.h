// A real Alertmanager on free ports of 127.0.0.1, ended with its object.
#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "queries/base/http_client.h"
#include "tests/alerts/peer_process.h"

namespace outcomed::testing {

// True as soon as `condition` is; false after 20 seconds.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return true;
}

inline std::uint16_t free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ::bind(fd, reinterpret_cast<sockaddr*>(&address), size);
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(fd);
  return ntohs(address.sin_port);
}

class RealAlertmanager {
 public:
  // `config`: JSON, which is YAML.
  RealAlertmanager(const std::string& program, const nlohmann::json& config, HttpClient& client)
      : url_(fmt::format("http://127.0.0.1:{}", free_port())),
        client_(client),
        process_({OUTCOMED_SOURCE_DIR "/tests/support/alertmanager.sh", program,
                  "--config.file=" + folder_.write("am.yml", config.dump()),
                  "--storage.path=" + folder_.path("data"),
                  "--web.listen-address=" + url_.substr(7), "--cluster.listen-address="},
                 folder_.path("log")) {}

  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] std::string log() const { return folder_.read("log"); }
  bool ready() {
    return eventually([&] {
      const auto answer = get("/-/ready");
      return answer && answer->status == 200;
    });
  }
  // Alerts that fire, by the label `model`.
  std::map<std::string, nlohmann::json> firing() {
    std::map<std::string, nlohmann::json> found;
    const auto answer = get("/api/v2/alerts");
    if (!answer) return found;
    for (const auto& item : nlohmann::json::parse(answer->body, nullptr, false)) {
      found[item["labels"]["model"]] = item;
    }
    return found;
  }

 private:
  Result<HttpResponse> get(const std::string& path) {
    HttpRequest request;
    request.url = url_ + path;
    return client_.send(request);
  }

  std::string url_;
  HttpClient& client_;
  ScratchFolder folder_;
  PeerProcess process_;
};

}  // namespace outcomed::testing
