// The server over real sockets.
#include <fcntl.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <latch>
#include <mutex>
#include <random>
#include <thread>

#include "daemon/http/server.h"
#include "tests/daemon/http/raw_client.h"
#include "tests/support/fake_clock.h"

namespace outcomed::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kMaxBody = 1024 * 1024;

std::string get(const std::string& path, const std::string& more = "") {
  return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + more + "\r\n";
}

std::string post(const std::string& body) {
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

std::size_t open_files() {
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

TEST_F(HttpServerTest, AnswersWithSecurityHeaders) {
  start();
  for (const std::string path : {"/healthz", "/nothing", "/throws"}) {
    const RawAnswer answer = ask(port_, get(path));
    EXPECT_THAT(answer.headers.at("content-security-policy"), HasSubstr("default-src 'none'"));
    EXPECT_THAT(answer.headers.at("content-security-policy"), HasSubstr("frame-ancestors 'none'"));
    EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
    EXPECT_EQ(answer.headers.at("x-frame-options"), "DENY");
    EXPECT_EQ(answer.headers.at("cache-control"), "no-store");
    EXPECT_EQ(answer.headers.at("content-type"), "text/plain; charset=utf-8");
    EXPECT_EQ(answer.headers.count("access-control-allow-origin"), 0U);
  }
}

TEST_F(HttpServerTest, HandlersMayReplaceHeadersButNotSplitThem) {
  start();
  const RawAnswer answer = ask(port_, get("/own_headers"));
  EXPECT_EQ(answer.headers.at("cache-control"), "max-age=60");
  EXPECT_EQ(answer.headers.at("x-plain"), "b");
  EXPECT_EQ(answer.headers.count("injected"), 0U);
  EXPECT_THAT(answer.head, Not(HasSubstr("no-store")));
}

TEST_F(HttpServerTest, HandlersSeePathQueryHeadersAndPeer) {
  start();
  EXPECT_EQ(ask(port_, get("/show/a%20b?q=1%262&r=x+y", "X-TEST: v\r\n")).body,
            "GET /show/a b from 127.0.0.1 x=v q=1&2 r=x y\n");
}

TEST_F(HttpServerTest, HeadHasTheHeadersOfGetAndNoBody) {
  start();
  RawClient client(port_);
  client.send("HEAD /show/x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawAnswer head = client.read(true);
  EXPECT_EQ(head.status, 200);
  EXPECT_EQ(head.headers.at("content-length"),
            std::to_string(std::string("HEAD /show/x from 127.0.0.1 x=\n").size()));
  EXPECT_EQ(client.ask(get("/healthz")).body, "ok\n") << "a body was sent with HEAD";
}

TEST_F(HttpServerTest, OneConnectionCarriesManyRequests) {
  start();
  RawClient client(port_);
  for (int i = 0; i < 50; ++i) {
    const std::string number = std::to_string(i);
    EXPECT_EQ(client.ask(get("/show/" + number)).body,
              "GET /show/" + number + " from 127.0.0.1 x=\n");
    EXPECT_EQ(client.ask(post("{\"i\":" + number + "}")).body, "{\"i\":" + number + "}");
    EXPECT_EQ(client.ask(get("/nothing")).status, 404);
  }
}

TEST_F(HttpServerTest, PipelinedRequestsAreAnsweredInOrder) {
  start();
  RawClient client(port_);
  client.send(get("/show/1") + post("[2]") + get("/show/3"));
  EXPECT_THAT(client.read().body, HasSubstr("/show/1"));
  EXPECT_EQ(client.read().body, "[2]");
  EXPECT_THAT(client.read().body, HasSubstr("/show/3"));
}

TEST_F(HttpServerTest, WrongMethodsAndPathsAreTold) {
  start();
  EXPECT_EQ(ask(port_, get("/nothing")).status, 404);
  const RawAnswer wrong = ask(port_, post("{}").replace(5, 5, "/healthz"));
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.headers.at("allow"), "GET, HEAD");
  EXPECT_EQ(ask(port_, get("/echo")).headers.at("allow"), "POST");
  for (const std::string method : {"PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "BREW"}) {
    EXPECT_EQ(ask(port_, method + " /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 405);
  }
}

TEST_F(HttpServerTest, PathsOutsideAreRefusedHoweverWritten) {
  start();
  for (const std::string path :
       {"/show/../etc/passwd", "/show/%2e%2e/x", "/show/..%2fx", "/show/%00", "/%zz", "healthz",
        "http://localhost/healthz", "/show/%2e"}) {
    EXPECT_EQ(ask(port_, get(path)).status, 400) << path;
  }
  expect_healthy();
}

TEST_F(HttpServerTest, AForeignHostIsMisdirectedOnEveryRoute) {
  options_.host_names = {"outcomed.example.org"};
  start();
  for (const std::string path : {"/healthz", "/nothing", "/show/x"}) {
    const auto with_host = [&](const std::string& host) {
      return ask(port_, "GET " + path + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n").status;
    };
    EXPECT_EQ(with_host("evil.example"), 421);
    EXPECT_EQ(with_host("evil.example:" + std::to_string(port_)), 421);
    EXPECT_EQ(with_host("10.1.2.3"), 421);
    EXPECT_THAT(with_host("127.0.0.1:" + std::to_string(port_)), AnyOf(200, 404));
    EXPECT_THAT(with_host("outcomed.example.org"), AnyOf(200, 404));
  }
  EXPECT_EQ(ask(port_, "GET /healthz HTTP/1.1\r\n\r\n").status, 400);
  EXPECT_EQ(ask(port_, "GET /healthz HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_EQ(ask(port_, "GET /healthz HTTP/1.0\r\nHost: evil.example\r\n\r\n").status, 421);
  EXPECT_EQ(
      ask(port_, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n").status,
      400);
}

TEST_F(HttpServerTest, ABodyUpToTheLimitArrivesWhole) {
  start();
  std::string body(kMaxBody, '\0');
  std::mt19937 random(1);
  for (char& c : body) c = static_cast<char>(random());
  EXPECT_TRUE(ask(port_, post(body)).body == body);
  std::string chunked =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 16; ++i) {
    chunked += "10000\r\n" + body.substr(static_cast<std::size_t>(i) * 65536, 65536) + "\r\n";
  }
  EXPECT_TRUE(ask(port_, chunked + "0\r\n\r\n").body == body);
}

TEST_F(HttpServerTest, AnAnnouncedBodyAboveTheLimitIsRefusedUnread) {
  start();
  for (const std::string& length : {std::to_string(kMaxBody + 1), std::string("5000000000"),
                                    std::string("18446744073709551615")}) {
    const std::string head =
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        length + "\r\n";
    RawClient client(port_);
    const RawAnswer answer = client.ask(head + "\r\n");
    EXPECT_EQ(answer.status, 413) << length;
    EXPECT_EQ(answer.headers.at("connection"), "close");
    EXPECT_TRUE(client.is_closed());
    EXPECT_EQ(ask(port_, head + "Expect: 100-continue\r\n\r\n").status, 413);
  }
  expect_healthy();
}

TEST_F(HttpServerTest, AChunkedBodyAboveTheLimitIsRefusedOrCutOff) {
  start();
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
      "Transfer-Encoding: chunked\r\n\r\n";
  const std::string chunk = "10000\r\n" + std::string(65536, 'x') + "\r\n";
  std::string body;
  for (int i = 0; i < 17; ++i) body += chunk;  // One chunk above the limit.
  EXPECT_EQ(ask(port_, head + body + "0\r\n\r\n").status, 413);

  RawClient endless(port_);
  endless.send(head);
  std::size_t sent = 0;
  while (sent < 400'000'000 && endless.send(chunk)) sent += chunk.size();
  EXPECT_LT(sent, 100'000'000U) << "the server read on and on";
  expect_healthy();
}

TEST_F(HttpServerTest, BadFramingIsRefused) {
  start();
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
  for (const std::string headers :
       {"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "Content-Length: -1\r\n\r\n",
        "Content-Length: 0x10\r\n\r\n", "Content-Length: abc\r\n\r\n",
        "Transfer-Encoding: gzip\r\n\r\n{}", "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
        "Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
        "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}\r\n"}) {
    RawClient client(port_);
    // Refused, or cut off: never answered as if it were well.
    EXPECT_THAT(client.ask(head + headers).status, AnyOf(0, 400, 413)) << headers;
  }
  expect_healthy();
}

TEST_F(HttpServerTest, HeadersAboveTheirMemoryAreRefused) {
  start();
  EXPECT_THAT(ask(port_, get("/healthz", "X: " + std::string(100'000, 'h') + "\r\n")).status,
              AnyOf(431, 414, 0));
  std::string many;
  for (int i = 0; i < 20'000; ++i) many += "X-" + std::to_string(i) + ": v\r\n";
  EXPECT_THAT(ask(port_, get("/healthz", many)).status, AnyOf(431, 414, 0));
  EXPECT_THAT(ask(port_, get("/show/" + std::string(100'000, 'p'))).status, AnyOf(431, 414, 0));
  expect_healthy();
}

TEST_F(HttpServerTest, GarbageEndsItsOwnConnectionOnly) {
  start();
  std::mt19937 random(3);
  const std::string sound = post("{\"a\":1}");
  for (int round = 0; round < 300; ++round) {
    std::string bytes = sound;
    if (round % 3 == 0) {
      bytes.assign(1 + random() % 200, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
    } else {
      for (auto hits = 1 + random() % 6; hits > 0; --hits) {
        bytes[random() % bytes.size()] = static_cast<char>(random());
      }
    }
    RawClient client(port_);
    client.send(bytes);
    client.close_now();
  }
  expect_healthy();
}

TEST_F(HttpServerTest, AThrowingHandlerBecomesA500WithoutItsText) {
  start();
  const RawAnswer answer = ask(port_, get("/throws"));
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.head + answer.body, Not(HasSubstr("secret detail")));
  EXPECT_EQ(ask(port_, get("/throws_int")).status, 500);
  const std::lock_guard lock(mutex_);
  EXPECT_THAT(errors_, ::testing::ElementsAre("GET /throws: secret detail",
                                              "GET /throws_int: unknown exception"));
}

TEST_F(HttpServerTest, OtherSitesPagesCannotPost) {
  start();
  EXPECT_EQ(ask(port_,
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n"
                "Content-Length: 2\r\n\r\n{}")
                .status,
            415);
  EXPECT_EQ(ask(port_,
                "POST /echo HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example\r\n"
                "Content-Length: 0\r\n\r\n")
                .status,
            403);
}

TEST_F(HttpServerTest, RequestsAreAnsweredSideBySide) {
  start();
  constexpr int kClients = 32;
  std::atomic<int> answered = 0;
  std::vector<std::jthread> clients;
  for (int c = 0; c < kClients; ++c) {
    clients.emplace_back([&, c] {
      RawClient client(port_);
      for (int i = 0; i < 50; ++i) {
        const std::string body = "[" + std::to_string(c) + "," + std::to_string(i) + "]";
        if (client.ask(post(body)).body == body) ++answered;
      }
    });
  }
  clients.clear();
  EXPECT_EQ(answered, kClients * 50);
}

TEST_F(HttpServerTest, ASlowHandlerHoldsUpOnlyItsOwnThread) {
  start();
  RawClient slow(port_);
  slow.send(get("/slow"));
  gate_.wait_for(1);
  // New connections go to whichever thread is awake.
  for (int i = 0; i < 20; ++i) expect_healthy();
  gate_.open();
  EXPECT_EQ(slow.read().body, "slow\n");
}

// libmicrohttpd forgets, for fifteen seconds, 128 events that come at once.
TEST_F(HttpServerTest, ABurstOf128RequestsForEachThreadIsAnsweredAtOnce) {
  options_.connection_limit = 1000;
  start();
  std::vector<RawClient> slow;
  for (int i = 1; i <= 2; ++i) {  // Both threads are held up while the burst comes in.
    slow.emplace_back(port_).send(get("/slow"));
    gate_.wait_for(i);
  }
  std::vector<RawClient> burst;
  for (int i = 0; i < 2 * 128; ++i) burst.emplace_back(port_).send(get("/healthz"));
  gate_.open();
  for (RawClient& client : burst) {
    ASSERT_EQ(client.read().body, "ok\n");
    client.close_now();  // Makes room for those that wait in the system's queue.
  }
}

TEST_F(HttpServerTest, ClientsThatDripAreEndedWhenTheirTimeIsUp) {
  start();
  clock_.wait_for_sleeper();
  RawClient idle(port_);
  RawClient head(port_);
  head.send("GET /healthz HTTP/1.1\r\nHost: local");
  RawClient body(port_);
  body.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  RawClient kept(port_);
  EXPECT_EQ(kept.ask(get("/healthz")).status, 200);
  for (int i = 0; i < 4; ++i) {  // Each byte would start libmicrohttpd's own timeout anew.
    clock_.advance(3s);
    EXPECT_TRUE(head.send("h"));
    EXPECT_TRUE(body.send("1"));
    EXPECT_EQ(kept.ask(get("/healthz")).status, 200);
  }
  EXPECT_FALSE(head.has_news());
  // Fifteen seconds count from when the server's thread got each.
  for (RawClient* client : {&idle, &head, &body}) {
    for (int i = 0; i < 100 && !client->has_news(50); ++i) clock_.advance(1s);
  }
  EXPECT_TRUE(idle.is_closed());
  EXPECT_TRUE(head.is_closed());
  EXPECT_TRUE(body.is_closed());
  expect_healthy();
}

TEST_F(HttpServerTest, AClientThatDoesNotTakeItsAnswerIsEnded) {
  start();
  clock_.wait_for_sleeper();
  RawClient lazy(port_);
  lazy.send(get("/large"));
  while (!lazy.has_news()) {
  }
  const std::size_t before = open_files();
  clock_.advance(61s);
  while (open_files() == before) {  // Until the server's end is closed.
  }
  const RawAnswer answer = lazy.read();
  EXPECT_LT(answer.body.size(), 20'000'000U);
}

TEST_F(HttpServerTest, HalfOpenConnectionsAreEndedAndMakeRoom) {
  start();
  clock_.wait_for_sleeper();
  std::vector<RawClient> flood;
  for (int i = 0; i < 300; ++i) {
    flood.emplace_back(port_);
    ASSERT_TRUE(flood.back().connected());
    flood.back().send("GET /healthz HTTP/1.1\r\nX");
  }
  RawClient late(port_);  // Waits in the system's queue: all 250 places are taken.
  late.send(get("/healthz"));
  while (!late.has_news(500)) clock_.advance(16s);
  EXPECT_EQ(late.read().status, 200);
  const auto ended =
      std::ranges::count_if(flood, [](const RawClient& client) { return client.has_news(); });
  EXPECT_GE(ended, 51) << "fifty others were before it in the queue";
}

TEST_F(HttpServerTest, TheLimitHoldsWhileThreadsAreHeldUp) {
  options_.connection_limit = 10;
  start();
  std::vector<RawClient> slow;
  for (int i = 1; i <= 2; ++i) {
    slow.emplace_back(port_).send(get("/slow"));
    gate_.wait_for(i);
  }
  const std::size_t before = open_files();
  std::vector<RawClient> more;
  for (int i = 0; i < 30; ++i) more.emplace_back(port_).send(get("/healthz"));
  while (open_files() < before + 30 + 8) {  // Thirty of ours, eight of the server.
  }
  gate_.open();
  for (RawClient& client : more) {
    EXPECT_LE(open_files(), before + 30 + 8);
    ASSERT_EQ(client.read().body, "ok\n");
    client.close_now();
  }
}

TEST_F(HttpServerTest, StoppingFinishesWhatIsInProgressAndRefusesTheRest) {
  start();
  RawClient in_progress(port_);
  in_progress.send(get("/slow"));
  gate_.wait_for(1);
  RawClient idle(port_);
  EXPECT_EQ(idle.ask(get("/healthz")).status, 200);
  std::jthread stopper([&] { server_->stop(10s); });
  while (RawClient(port_).connected()) {
  }
  gate_.open();
  const RawAnswer answer = in_progress.read();
  EXPECT_EQ(answer.body, "slow\n");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  stopper.join();
  EXPECT_TRUE(idle.is_closed());
  server_.reset();
}

TEST_F(HttpServerTest, StoppingWaitsNoLongerThanItsGrace) {
  start();
  RawClient stuck(port_);
  stuck.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  RawClient lazy(port_);
  lazy.send(get("/large"));
  while (!lazy.has_news()) {
  }
  const auto begin = std::chrono::steady_clock::now();
  server_->stop(50ms);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  EXPECT_TRUE(stuck.is_closed());
}

TEST_F(HttpServerTest, TheSamePortCanBeUsedAgainAtOnce) {
  start();
  expect_healthy();
  server_.reset();
  options_.listen = "127.0.0.1:" + std::to_string(port_);
  start();
  expect_healthy();
}

TEST_F(HttpServerTest, APortInUseIsAnErrorThatNamesIt) {
  start();
  options_.listen = "127.0.0.1:" + std::to_string(port_);
  const auto second = HttpServer::start(options_, routes_, clock_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::unavailable);
  EXPECT_THAT(second.error().message, HasSubstr(options_.listen + ": Address already in use"));
  EXPECT_THAT(second.error().message, HasSubstr("choose another http.listen"));
}

TEST_F(HttpServerTest, EveryAddressMeansIpv4Too) {
  options_.listen = ":0";
  start();
  expect_healthy();
}

TEST_F(HttpServerTest, StartingAndStoppingLeavesNoFileOpen) {
  const std::size_t before = open_files();
  for (int i = 0; i < 10; ++i) {
    start();
    RawClient client(port_);
    EXPECT_EQ(client.ask(get("/healthz")).status, 200);
    server_.reset();
  }
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace outcomed::testing
