// Targets, routes, Host lists and listen addresses, without sockets.
#include <gmock/gmock.h>

#include "daemon/http/admission.h"
#include "daemon/http/listener.h"

namespace outcomed::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

TEST(HttpTargetTest, PathAndQueryAreDecodedOnce) {
  const auto target =
      parse_target("/api/v1/a%20b%2Fc+d?rule=x%2By+z&empty=&bare&rule=2&%C3%A9=%26");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/v1/a b/c+d");
  EXPECT_THAT(target->query, ElementsAre(Pair("rule", "x+y z"), Pair("empty", ""), Pair("bare", ""),
                                         Pair("rule", "2"), Pair("\xc3\xa9", "&")));
  EXPECT_EQ(parse_target("/%2541")->path, "/%41");
}

TEST(HttpTargetTest, OddButHarmlessQueriesAreRead) {
  EXPECT_TRUE(parse_target("/?")->query.empty());
  EXPECT_TRUE(parse_target("/?&&&")->query.empty());
  EXPECT_THAT(parse_target("/?a=b=c?d")->query, ElementsAre(Pair("a", "b=c?d")));
  EXPECT_THAT(parse_target("/?=x")->query, ElementsAre(Pair("", "x")));
}

TEST(HttpTargetTest, WhatCouldMeanSomethingElseIsRefused) {
  for (const std::string_view raw : {"",
                                     "healthz",
                                     "*",
                                     "http://evil.example/",
                                     "/..",
                                     "/../etc/passwd",
                                     "/a/../b",
                                     "/a/..",
                                     "/%2e%2e/etc/passwd",
                                     "/%2E./x",
                                     "/./a",
                                     "/.",
                                     "/a%00b",
                                     "/?a=%00",
                                     "/%",
                                     "/%4",
                                     "/%zz",
                                     "/?a=%",
                                     "/?%g1=1",
                                     "/a%0d%0ab",
                                     "/a\x7f"}) {
    const auto target = parse_target(raw);
    ASSERT_FALSE(target) << raw;
    EXPECT_EQ(target.error().kind, ErrorKind::invalid);
    EXPECT_FALSE(target.error().message.empty());
  }
  for (const std::string_view raw : {"/...", "/..a", "/a..", "//", "/a//b", "/%25"}) {
    EXPECT_TRUE(parse_target(raw)) << raw;
  }
}

HttpHandler named(const std::string& name) {
  return [name](const HttpRequestIn&) { return HttpReply::text(200, name); };
}

std::string chosen(const HttpRoutes& routes, std::string_view method, std::string_view path) {
  const auto found = routes.find(method, path);
  if (const auto* miss = std::get_if<HttpRoutes::Miss>(&found)) {
    return std::to_string(miss->status) + miss->allow;
  }
  return std::get<const HttpRoute*>(found)->handler({}).body;
}

TEST(HttpRoutesTest, ExactPathsWinThenTheLongestPrefix) {
  HttpRoutes routes;
  routes.get("/", named("root"))
      .get_below("/api/", named("api"))
      .get_below("/api/v1/episodes/", named("episode"))
      .get("/api/v1/rules", named("rules"))
      .post("/api/v1/rules", named("put rules"))
      .post("/-/reload", named("reload"));
  EXPECT_EQ(chosen(routes, "GET", "/"), "root\n");
  EXPECT_EQ(chosen(routes, "HEAD", "/"), "root\n");
  EXPECT_EQ(chosen(routes, "GET", "/api/v1/rules"), "rules\n");
  EXPECT_EQ(chosen(routes, "POST", "/api/v1/rules"), "put rules\n");
  EXPECT_EQ(chosen(routes, "GET", "/api/v1/rules/x"), "api\n");
  EXPECT_EQ(chosen(routes, "GET", "/api/v1/episodes/1"), "episode\n");
  EXPECT_EQ(chosen(routes, "GET", "/api"), "404");
  EXPECT_EQ(chosen(routes, "GET", "/nothing"), "404");
  EXPECT_EQ(chosen(routes, "GET", "/-/reload"), "405POST");
  EXPECT_EQ(chosen(routes, "DELETE", "/api/v1/rules"), "405GET, HEAD, POST");
  EXPECT_EQ(chosen(routes, "get", "/"), "405GET, HEAD");
}

TEST(HostListTest, OnlyOurNamesAndTheAddressItselfAreAllowed) {
  const HostList hosts({"outcomed.example.org", "Alerts.Example"});
  for (const std::string_view host :
       {"localhost", "localhost:9469", "LOCALHOST", "127.0.0.1:9469", "outcomed.example.org",
        "OUTCOMED.example.org:443", "outcomed.example.org.", "alerts.example"}) {
    EXPECT_TRUE(hosts.allows(host, "127.0.0.1")) << host;
  }
  for (const std::string_view host :
       {"evil.example", "localhost.evil.example", "127.0.0.2", "10.0.0.5", "", ":9469", "[::1]",
        "evil.example:9469", "xoutcomed.example.org", "localhost@evil.example", "[", "]", "[]"}) {
    EXPECT_FALSE(hosts.allows(host, "127.0.0.1")) << host;
  }
  EXPECT_TRUE(hosts.allows("[::1]:9469", "::1"));
  EXPECT_TRUE(hosts.allows("10.0.0.5:9469", "10.0.0.5"));
}

TEST(ListenAddressTest, TheUsualFormsAreRead) {
  const auto shown = [](std::string_view text) {
    const auto address = parse_listen_address(text);
    return address ? address->to_string() : "error: " + address.error().message;
  };
  EXPECT_EQ(shown("127.0.0.1:9469"), "127.0.0.1:9469");
  EXPECT_EQ(shown("localhost:0"), "127.0.0.1:0");
  EXPECT_EQ(shown("[::1]:80"), "[::1]:80");
  EXPECT_EQ(shown(":9469"), "[::]:9469");
  EXPECT_EQ(shown("0.0.0.0:65535"), "0.0.0.0:65535");
  EXPECT_TRUE(parse_listen_address("127.8.9.1:1")->is_loopback());
  EXPECT_TRUE(parse_listen_address("[::1]:1")->is_loopback());
  EXPECT_FALSE(parse_listen_address(":1")->is_loopback());
  EXPECT_FALSE(parse_listen_address("10.0.0.1:1")->is_loopback());
}

TEST(ListenAddressTest, OthersAreRefusedWithAnExample) {
  for (const std::string_view text :
       {"", "9469", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:x",
        "::1:9469", "[::1]", "[x]:1", "example.org:9469", "127.0.0.1:94 69", "256.0.0.1:1"}) {
    const auto address = parse_listen_address(text);
    ASSERT_FALSE(address) << text;
    EXPECT_EQ(address.error().kind, ErrorKind::invalid);
    EXPECT_THAT(address.error().message, HasSubstr("write for example 127.0.0.1:9469"));
  }
}

HttpRequestIn post(TextPairList headers, std::string body) {
  HttpRequestIn request;
  request.method = "POST";
  request.headers = std::move(headers);
  request.headers.emplace_back("host", "localhost:9469");
  request.body = std::move(body);
  return request;
}

int refusal(const HttpRequestIn& request) {
  const auto reply = refuse_cross_site(request);
  return reply ? reply->status : 0;
}

TEST(CrossSiteTest, OtherSitesPagesCannotChangeAnything) {
  const TextPairList json = {{"content-type", "application/json; charset=utf-8"}};
  EXPECT_EQ(refusal(post(json, "{}")), 0);
  EXPECT_EQ(refusal(post({}, "")), 0) << "curl -X POST /-/reload";
  EXPECT_EQ(refusal(post({{"content-type", "application/x-www-form-urlencoded"}}, "a=1")), 415);
  EXPECT_EQ(refusal(post({{"content-type", "text/plain"}}, "{}")), 415);
  EXPECT_EQ(refusal(post({{"content-type", "application/jsonp"}}, "{}")), 415);
  EXPECT_EQ(refusal(post({}, "{}")), 415);
  EXPECT_EQ(refusal(post({{"sec-fetch-site", "cross-site"}}, "")), 403);
  EXPECT_EQ(refusal(post({{"sec-fetch-site", "same-site"}}, "")), 403);
  EXPECT_EQ(refusal(post({{"sec-fetch-site", "same-origin"}}, "")), 0);
  EXPECT_EQ(refusal(post({{"origin", "https://evil.example"}}, "")), 403);
  EXPECT_EQ(refusal(post({{"origin", "null"}}, "")), 403);
  EXPECT_EQ(refusal(post({{"origin", "http://localhost:1"}}, "")), 403);
  EXPECT_EQ(refusal(post({{"origin", "http://LOCALHOST:9469"}}, "")), 0);
}

TEST(FramingTest, TheLengthOfABodyIsSaidOnce) {
  const auto status = [](TextPairList headers) {
    HttpRequestIn request;
    request.headers = std::move(headers);
    const auto reply = refuse_framing(request);
    return reply ? reply->status : 0;
  };
  EXPECT_EQ(status({{"content-length", "3"}}), 0);
  EXPECT_EQ(status({{"transfer-encoding", "Chunked"}}), 0);
  EXPECT_EQ(status({{"content-length", "3"}, {"content-length", "3"}}), 400);
  EXPECT_EQ(status({{"content-length", "3"}, {"transfer-encoding", "chunked"}}), 400);
  EXPECT_EQ(status({{"transfer-encoding", "gzip, chunked"}}), 400);
  EXPECT_EQ(status({{"transfer-encoding", "identity"}}), 400);
  EXPECT_EQ(status({{"host", "localhost"}, {"host", "evil.example"}}), 400);
}

}  // namespace
}  // namespace outcomed::testing
