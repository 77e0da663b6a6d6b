// A small HttpClient on POSIX sockets for tests against real servers on this machine: http only,
// one connection a request, Content-Length, chunked or read to the end. No credentials, no
// redirects.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string>
#include <string_view>

#include "queries/base/http_client.h"

namespace outcomed::testing {

class PlainHttpClient final : public HttpClient {
 public:
  Result<HttpResponse> send(const HttpRequest& request) override {
    Exchange exchange(request);
    return exchange.run();
  }

 private:
  class Exchange {
   public:
    explicit Exchange(const HttpRequest& request) : request_(request) {}
    ~Exchange() {
      if (fd_ >= 0) close(fd_);
    }
    Result<HttpResponse> run() {
      if (Status sent = send_request(); !sent) return std::move(sent).error();
      if (Status head = read_head(); !head) return std::move(head).error();
      Status body =
          response_.header("transfer-encoding") == "chunked" ? read_chunks() : read_plain();
      if (!body) return std::move(body).error();
      return std::move(response_);
    }

   private:
    static Error lost(const char* what) { return {ErrorKind::unavailable, what}; }

    Status send_request() {
      std::string_view rest = std::string_view(request_.url).substr(sizeof("http://") - 1);
      const std::string_view authority = rest.substr(0, rest.find('/'));
      const std::string_view path = rest.substr(authority.size());
      sockaddr_in address{};
      address.sin_family = AF_INET;
      address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      const int port = std::atoi(std::string(authority.substr(authority.find(':') + 1)).c_str());
      address.sin_port = htons(static_cast<std::uint16_t>(port));
      fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const timeval limit{request_.timeout.count() / 1000, request_.timeout.count() % 1000 * 1000};
      setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
      if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        return lost("connection refused");
      }
      std::string text = request_.method + ' ' + std::string(path) +
                         " HTTP/1.1\r\nHost: " + std::string(authority) +
                         "\r\nConnection: close\r\n";
      for (const auto& [name, value] : request_.headers) text += name + ": " + value + "\r\n";
      text +=
          "Content-Length: " + std::to_string(request_.body.size()) + "\r\n\r\n" + request_.body;
      for (std::string_view left = text; !left.empty();) {
        const ssize_t sent = ::send(fd_, left.data(), left.size(), MSG_NOSIGNAL);
        if (sent <= 0) return lost("connection lost while sending");
        left.remove_prefix(static_cast<std::size_t>(sent));
      }
      return ok();
    }

    // Adds to in_; false at the end of the connection.
    bool receive() {
      const std::size_t before = in_.size();
      in_.resize(before + 64 * 1024);
      const ssize_t got = recv(fd_, in_.data() + before, in_.size() - before, 0);
      in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
      return got > 0;
    }
    bool take_line(std::string& line) {
      std::size_t end = 0;
      while ((end = in_.find("\r\n")) == std::string::npos) {
        if (!receive()) return false;
      }
      line = in_.substr(0, end);
      in_.erase(0, end + 2);
      return true;
    }

    Status read_head() {
      std::string line;
      if (!take_line(line) || line.size() < 12) return lost("no answer");
      response_.status = std::atoi(line.c_str() + 9);
      while (take_line(line)) {
        if (line.empty()) return ok();
        const auto colon = line.find(':');
        std::string name = line.substr(0, colon);
        std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
        const auto value = line.find_first_not_of(' ', colon + 1);
        response_.headers.emplace_back(name, value == std::string::npos ? "" : line.substr(value));
      }
      return lost("connection lost in the head of the answer");
    }

    Status deliver(std::string_view piece) {
      taken_ += static_cast<std::int64_t>(piece.size());
      if (taken_ > request_.max_bytes) return Error{ErrorKind::too_large, "answer too large"};
      if (request_.on_body && response_.status / 100 == 2) return request_.on_body(piece);
      response_.body += piece;
      return ok();
    }
    Status deliver_exactly(std::size_t size) {
      while (size > 0) {
        if (in_.empty() && !receive()) return Error{ErrorKind::corrupt, "body cut off"};
        const std::size_t now = std::min(size, in_.size());
        if (Status status = deliver(std::string_view(in_).substr(0, now)); !status) return status;
        in_.erase(0, now);
        size -= now;
      }
      return ok();
    }
    Status read_plain() {
      const std::string length(response_.header("content-length"));
      if (!length.empty()) return deliver_exactly(std::strtoull(length.c_str(), nullptr, 10));
      do {
        if (Status status = deliver(in_); !status) return status;
        in_.clear();
      } while (receive());
      return ok();
    }
    Status read_chunks() {
      std::string line;
      while (take_line(line)) {
        const std::size_t size = std::strtoull(line.c_str(), nullptr, 16);
        if (Status status = deliver_exactly(size); !status) return status;
        if (!take_line(line)) break;  // The line end behind a chunk.
        if (size == 0) return ok();
      }
      return Error{ErrorKind::corrupt, "body cut off"};
    }

    const HttpRequest& request_;
    HttpResponse response_;
    int fd_ = -1;
    std::string in_;
    std::int64_t taken_ = 0;
  };
};

}  // namespace outcomed::testing
