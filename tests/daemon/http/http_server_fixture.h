// A server with handlers for each trouble, over real sockets.
#pragma once

#include <fcntl.h>
#include <gmock/gmock.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "daemon/http/server.h"
#include "tests/daemon/http/raw_client.h"
#include "tests/support/fake_clock.h"

namespace outcomed::testing {

inline constexpr std::size_t kMaxBody = 1024 * 1024;

inline std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

inline std::string post(const std::string& body) {
  return "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
         "Content-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

// Holds handlers until a test lets them go.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for(int waiting) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= waiting; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

inline std::size_t open_files() {
  std::size_t count = 0;
  for (int fd = 0; fd < 4096; ++fd) count += fcntl(fd, F_GETFD) >= 0 ? 1U : 0U;
  return count;
}

class HttpServerTest : public ::testing::Test {
 protected:
  HttpServerTest() {
    options_.listen = "127.0.0.1:0";
    options_.on_handler_error = [this](const std::string& what) {
      const std::lock_guard lock(mutex_);
      errors_.push_back(what);
    };
    routes_.get("/healthz", [](const HttpRequestIn&) { return HttpReply::text(200, "ok"); })
        .post("/echo", [](const HttpRequestIn& request) { return HttpReply::json(request.body); })
        .get_below("/show/",
                   [](const HttpRequestIn& request) {
                     std::string text = request.method + " " + request.path + " from " +
                                        request.peer +
                                        " x=" + std::string(request.header("x-test"));
                     for (const auto& [name, value] : request.query)
                       text += " " + name + "=" + value;
                     return HttpReply::text(200, text);
                   })
        .get(
            "/large",
            [](const HttpRequestIn&) { return HttpReply::text(200, std::string(20'000'000, 'l')); })
        .get("/slow",
             [this](const HttpRequestIn&) {
               gate_.pass();
               return HttpReply::text(200, "slow");
             })
        .get("/throws",
             [](const HttpRequestIn&) -> HttpReply { throw std::runtime_error("secret detail"); })
        .get("/throws_int", [](const HttpRequestIn&) -> HttpReply { throw 7; })
        .get("/own_headers", [](const HttpRequestIn&) {
          HttpReply reply = HttpReply::text(200, "x");
          reply.headers = {
              {"cache-control", "max-age=60"}, {"X-Split", "a\r\nInjected: yes"}, {"X-Plain", "b"}};
          return reply;
        });
  }
  ~HttpServerTest() override { gate_.open(); }

  void start() {
    auto started = HttpServer::start(options_, routes_, clock_);
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    port_ = server_->port();
    ASSERT_NE(port_, 0);
  }
  void expect_healthy() { EXPECT_EQ(ask(port_, get("/healthz")).body, "ok\n"); }

  FakeClock clock_{from_unix_ms(0)};
  Gate gate_;
  HttpServerOptions options_;
  HttpRoutes routes_;
  std::mutex mutex_;
  std::vector<std::string> errors_;
  std::unique_ptr<HttpServer> server_;
  std::uint16_t port_ = 0;
};

}  // namespace outcomed::testing
