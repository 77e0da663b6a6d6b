#include "daemon/net/curl_client.h"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "tests/daemon/net/net_fixture.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CurlClientTest : public NetTest {
 protected:
  FaultyServer server;
};

TEST_F(CurlClientTest, AGetBringsStatusHeadersAndBody) {
  server.on("/a", Reply::json(R"({"x":1})", 201).with_header("X-Id", " 7 "));
  auto response = client.send(get(server.url("/a?b=c")));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 201);
  EXPECT_EQ(response->body, R"({"x":1})");
  EXPECT_EQ(response->header("content-type"), "application/json");
  EXPECT_EQ(response->header("x-id"), "7");
  const ReceivedRequest sent = server.requests().at(0);
  EXPECT_EQ(sent.method, "GET");
  EXPECT_EQ(sent.target, "/a?b=c");
  EXPECT_EQ(sent.header("host"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(sent.header("accept-encoding"), "identity") << "it stays on this machine";
  EXPECT_EQ(sent.header("user-agent"), "outcomed");
  EXPECT_EQ(sent.header("authorization"), "");
}

TEST_F(CurlClientTest, AnyStatusIsAResponse) {
  for (const int status : {200, 204, 301, 304, 400, 401, 404, 422, 429, 500, 503, 599}) {
    server.reply_once(Reply::with_status(status, "text"));
    auto response = client.send(get(server.url()));
    ASSERT_TRUE(response) << status << response.error().message;
    EXPECT_EQ(response->status, status);
    EXPECT_EQ(response->body, status == 204 || status == 304 ? "" : "text");
  }
  server.reply_once(Reply::too_many_requests("Wed, 21 Oct 2026 07:28:00 GMT"));
  EXPECT_EQ(client.send(get(server.url()))->header("retry-after"), "Wed, 21 Oct 2026 07:28:00 GMT");
}

TEST_F(CurlClientTest, BodiesAreSentAsTheyAre) {
  const std::string body = std::string("{\"a\":\0\r\n\xff}", 11) + std::string(3 << 20, 'b');
  for (const std::string method : {"POST", "PUT", "DELETE", "PATCH"}) {
    HttpRequest request = post(server.url("/hook"), body);
    request.method = method;
    request.headers = {{"Content-Type", "application/json"}};
    ASSERT_TRUE(client.send(request));
    const ReceivedRequest sent = server.requests().back();
    EXPECT_EQ(sent.method, method);
    EXPECT_TRUE(sent.body == body);
    EXPECT_EQ(sent.header("content-type"), "application/json");
    EXPECT_EQ(sent.header("expect"), "");
  }
  ASSERT_TRUE(client.send(post(server.url(), "")));
  EXPECT_EQ(server.requests().back().header("content-length"), "0");
  EXPECT_EQ(server.requests().back().header("content-type"), "");
}

TEST_F(CurlClientTest, MethodsDoNotLeakFromOneRequestToTheNext) {
  ASSERT_TRUE(client.send(post(server.url(), "body")));
  HttpRequest head = get(server.url());
  head.method = "HEAD";
  EXPECT_EQ(client.send(head)->body, "");
  EXPECT_EQ(client.send(get(server.url()))->body, "ok");
  EXPECT_EQ(server.requests().at(2).method, "GET");
  EXPECT_EQ(server.requests().at(2).body, "");
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(CurlClientTest, RequestsThatCantBeMeantAreRefusedAndNotSent) {
  HttpRequest with_body = get(server.url());
  with_body.body = "x";
  std::vector<HttpRequest> requests{with_body};
  for (const std::string method : {"", "GE T", "GET / HTTP/1.1\r\nX: y\r\n\r\nPOST"}) {
    requests.push_back(get(server.url()));
    requests.back().method = method;
  }
  const std::vector<std::pair<std::string, std::string>> bad_headers = {
      {"X", "a\r\nAuthorization: b"},
      {"X", "a\nb"},
      {"X", std::string("a\0b", 3)},
      {"X\r\nY", "a"},
      {"X:", "a"},
      {"", "a"},
      {"X Y", "a"},
      {"Content-Length", "1"},
      {"transfer-encoding", "chunked"}};
  for (const auto& header : bad_headers) {
    requests.push_back(post(server.url(), "body"));
    requests.back().headers = {header};
  }
  for (const HttpRequest& request : requests) {
    auto response = client.send(request);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().kind, ErrorKind::invalid);
    EXPECT_EQ(response.error().message.find_first_of("\r\n"), std::string::npos);
  }
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(CurlClientTest, EmptyHeadersAreSentEmpty) {
  HttpRequest request = get(server.url());
  request.headers = {{"X-Empty", ""}, {"X-Blank", "  "}, {"X-Full", "v;"}};
  ASSERT_TRUE(client.send(request));
  const HttpHeaders sent = server.requests().at(0).headers;
  EXPECT_THAT(sent, ::testing::Contains(std::pair<std::string, std::string>("x-empty", "")));
  EXPECT_THAT(sent, ::testing::Contains(std::pair<std::string, std::string>("x-blank", "")));
  EXPECT_THAT(sent, ::testing::Contains(std::pair<std::string, std::string>("x-full", "v;")));
}

TEST_F(CurlClientTest, GzipIsDecoded) {
  const std::string text(1000000, 'm');
  server.reply_with(Reply::gzip(text));
  auto response = client.send(get(server.url()));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, text);
}

TEST_F(CurlClientTest, ChunkedBodiesArriveWholeUpToTheLimit) {
  HttpRequest request = get(server.url());
  request.max_bytes = 1000000;
  server.reply_with(Reply::huge(1000000));
  EXPECT_EQ(client.send(request)->body.size(), 1000000U);
  server.reply_with(Reply::huge(1000001));
  EXPECT_EQ(client.send(request).error().kind, ErrorKind::too_large);
}

TEST_F(CurlClientTest, PiecesOfASuccessGoToTheCaller) {
  std::string got;
  HttpRequest request = get(server.url());
  request.on_body = [&](std::string_view piece) {
    got += piece;
    return ok();
  };
  server.reply_once(Reply::gzip(std::string(500000, 'p')));
  EXPECT_EQ(client.send(request)->body, "");
  EXPECT_EQ(got, std::string(500000, 'p'));
  got.clear();
  server.reply_once(Reply::with_status(404, "no such thing"));
  EXPECT_EQ(client.send(request)->body, "no such thing");
  EXPECT_EQ(got, "");
}

TEST_F(CurlClientTest, TheLimitHoldsForPiecesToo) {
  std::size_t got = 0;
  HttpRequest request = get(server.url());
  request.max_bytes = 100000;
  request.on_body = [&](std::string_view piece) {
    got += piece.size();
    return ok();
  };
  server.reply_with(Reply::huge(2000000000));
  EXPECT_EQ(client.send(request).error().kind, ErrorKind::too_large);
  EXPECT_LE(got, 100000U);
}

TEST_F(CurlClientTest, AnErrorOfTheCallerEndsTheTransfer) {
  int calls = 0;
  HttpRequest request = get(server.url());
  request.on_body = [&](std::string_view) -> Status {
    ++calls;
    return Error{ErrorKind::unsupported, "native histograms"};
  };
  server.reply_once(Reply::huge(2000000000));
  auto response = client.send(request);
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::unsupported);
  EXPECT_THAT(response.error().message, HasSubstr("native histograms"));
  EXPECT_EQ(calls, 1);
  EXPECT_TRUE(client.send(get(server.url())));
}

TEST_F(CurlClientTest, AnExceptionOfTheCallerPassesAndLeavesTheClientUsable) {
  HttpRequest request = get(server.url());
  request.on_body = [](std::string_view) -> Status { throw std::runtime_error("caller"); };
  EXPECT_THROW(static_cast<void>(client.send(request)), std::runtime_error);
  EXPECT_TRUE(client.send(get(server.url())));
}

TEST_F(CurlClientTest, OneConnectionServesRequestAfterRequest) {
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(client.send(get(server.url())));
  EXPECT_EQ(server.connections(), 1U);
  FaultyServer other;
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(client.send(get(i % 2 == 0 ? other.url() : server.url())));
  EXPECT_EQ(server.connections() + other.connections(), 2U);
}

TEST_F(CurlClientTest, AConnectionThatTheServerDroppedIsReplaced) {
  ASSERT_TRUE(client.send(get(server.url())));
  server.drop_connections();
  auto response = client.send(get(server.url()));
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(server.connections(), 2U);
}

TEST_F(CurlClientTest, ARequestUnansweredOnAKeptConnectionIsSentOnceMore) {
  for (const Reply& death : {Reply::close(), Reply::reset()}) {
    ASSERT_TRUE(client.send(get(server.url())));
    const std::size_t before = server.requests().size();
    server.reply_once(death);
    auto response = client.send(post(server.url(), "alert"));
    ASSERT_TRUE(response) << response.error().message;
    ASSERT_EQ(server.requests().size(), before + 2);
    EXPECT_EQ(server.requests().back().body, "alert");
  }
}

TEST_F(CurlClientTest, ThreadsShareTheClient) {
  server.reply_by([](const ReceivedRequest& request) { return Reply::ok(request.target); });
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 40; ++i) {
        const std::string text = std::to_string(t * 1000 + i);
        auto response = client.send(post(server.url("/" + text), text));
        good += response && response->body == "/" + text ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8 * 40);
  EXPECT_LE(server.connections(), 8U);
  for (const ReceivedRequest& request : server.requests()) {
    EXPECT_EQ(request.target, "/" + request.body);
  }
}

TEST_F(CurlClientTest, ErrorsNameMethodAndHostOnly) {
  server.reply_with(Reply::close());
  auto response = client.send(post(server.url("/services/T0/B0?token=t"), "x"));
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().message,
              StartsWith("POST http://127.0.0.1:" + std::to_string(server.port()) + "/…: "));
}

TEST_F(CurlClientTest, UrlsThatCantBeUsedAreInvalidAndNotShown) {
  for (const std::string url : {"", "canary", "file:///canary", "http://u:can/ary@host/"}) {
    auto response = client.send(get(url));
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().kind, ErrorKind::invalid);
    EXPECT_EQ(response.error().message.find("can"), response.error().message.find("can't"));
  }
}

}  // namespace
}  // namespace outcomed::testing
