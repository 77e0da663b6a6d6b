// A connection that sends whatever a test wants and reads one answer at a time.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace outcomed::testing {

struct RawAnswer {
  int status = 0;  // 0: the connection ended without one.
  std::string head;
  std::map<std::string, std::string> headers;  // Names in lower case.
  std::string body;
};

class RawClient {
 public:
  explicit RawClient(std::uint16_t port) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() {
    if (fd_ >= 0) close(fd_);
  }
  RawClient(RawClient&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), connected_(other.connected_) {}
  RawClient& operator=(RawClient&&) = delete;

  [[nodiscard]] bool connected() const { return connected_; }

  // False once the other side has closed.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }

  // Reads one answer; `is_head` for answers to HEAD, which have no body.
  RawAnswer read(bool is_head = false) {
    RawAnswer answer;
    std::size_t end = 0;
    while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
      if (!more()) return answer;
    }
    answer.head = buffer_.substr(0, end + 2);
    buffer_.erase(0, end + 4);
    answer.status = std::atoi(answer.head.c_str() + answer.head.find(' '));
    parse_headers(answer);
    if (answer.status == 100) return read(is_head);
    const std::size_t length =
        is_head ? 0
                : static_cast<std::size_t>(std::atoll(answer.headers["content-length"].c_str()));
    while (buffer_.size() < length && more()) {
    }
    answer.body = buffer_.substr(0, length);
    buffer_.erase(0, length);
    return answer;
  }

  RawAnswer ask(std::string_view bytes) {
    send(bytes);
    return read();
  }

  // True when the other side closes within ten seconds without saying more.
  bool is_closed() { return buffer_.empty() && !more() && !timed_out_; }
  // True when something (or the end) is there to read, or comes within `wait_ms`.
  [[nodiscard]] bool has_news(int wait_ms = 0) const {
    pollfd poll_fd{fd_, POLLIN, 0};
    return poll(&poll_fd, 1, wait_ms) > 0;
  }
  void close_now() {
    close(fd_);
    fd_ = -1;
  }

 private:
  bool more() {
    pollfd poll_fd{fd_, POLLIN, 0};
    if (poll(&poll_fd, 1, 10'000) <= 0) {
      timed_out_ = true;
      return false;
    }
    char bytes[65536];
    const ssize_t got = recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) return false;
    buffer_.append(bytes, static_cast<std::size_t>(got));
    return true;
  }

  static void parse_headers(RawAnswer& answer) {
    std::size_t at = answer.head.find("\r\n") + 2;
    while (at < answer.head.size()) {
      const std::size_t end = answer.head.find("\r\n", at);
      const std::string line = answer.head.substr(at, end - at);
      const std::size_t colon = line.find(':');
      std::string name = line.substr(0, colon);
      for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      const std::size_t value = line.find_first_not_of(' ', colon + 1);
      answer.headers[name] = value == std::string::npos ? "" : line.substr(value);
      at = end + 2;
    }
  }

  int fd_ = -1;
  bool connected_ = false;
  bool timed_out_ = false;
  std::string buffer_;
};

inline RawAnswer ask(std::uint16_t port, std::string_view bytes) {
  RawClient client(port);
  return client.ask(bytes);
}

}  // namespace outcomed::testing
