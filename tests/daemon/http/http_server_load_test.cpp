// Many clients, slow clients, and the end of the server.
#include <algorithm>
#include <atomic>
#include <fstream>
#include <latch>
#include <thread>

#include "tests/daemon/http/http_server_fixture.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;

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
  // Each thread says that a connection has ended just before it closes the file, so that the next
  // one may be taken while one file a thread is on its way out.
  const std::size_t most = before + 30 + 8 + options_.threads;
  for (RawClient& client : more) {
    EXPECT_LE(open_files(), most);
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
  options_.request_timeout = 24h;
  options_.reply_timeout = 24h;
  start();
  RawClient stuck(port_);
  stuck.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
  RawClient lazy(port_);
  lazy.send(get("/large"));
  while (!lazy.has_news()) {
  }
  server_->stop(50ms);
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
