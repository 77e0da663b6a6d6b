// What the server answers and refuses.
#include <algorithm>
#include <random>

#include "tests/daemon/http/http_server_fixture.h"

namespace outcomed::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

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

}  // namespace
}  // namespace outcomed::testing
