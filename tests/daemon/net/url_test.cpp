#include "daemon/net/url.h"

#include <gmock/gmock.h>

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string origin_of(const std::string& text) {
  auto url = HttpUrl::parse(text);
  return url ? url->origin() : "refused";
}

TEST(HttpUrlTest, TheOriginIsSchemeHostAndPort) {
  EXPECT_EQ(origin_of("http://example.org"), "http://example.org:80");
  EXPECT_EQ(origin_of("HTTPS://Example.ORG/a?b#c"), "https://example.org:443");
  EXPECT_EQ(origin_of("http://example.org:80/"), origin_of("http://example.org/x"));
  EXPECT_EQ(origin_of("http://[::1]:9090/api"), "http://[::1]:9090");
  EXPECT_EQ(origin_of("http://127.0.0.1:9090"), "http://127.0.0.1:9090");
}

TEST(HttpUrlTest, WhatIsNoHttpUrlIsRefusedWithoutBeingShown) {
  for (const std::string text :
       {"", "canary", "canary.org/path", "ftp://canary/", "file:///canary", "gopher://canary:70/",
        "http://", "http://user:canary@host/", "http://user@canary/", "http://user:can/ary@host/",
        "http://host:canary/", "http://host:99999/canary", "http://ho st/canary",
        "http://host/can\r\nary", "//canary/x"}) {
    auto url = HttpUrl::parse(text);
    ASSERT_FALSE(url) << text;
    EXPECT_EQ(url.error().kind, ErrorKind::invalid) << text;
    EXPECT_THAT(url.error().message, Not(HasSubstr("canary"))) << text;
    EXPECT_THAT(url.error().message, Not(HasSubstr("can/ary"))) << text;
  }
  EXPECT_FALSE(HttpUrl::parse(std::string("http://host/\0x", 14)));
}

TEST(HttpUrlTest, TheHostHeaderNamesThePortOnlyWhereItIsUnusual) {
  EXPECT_EQ(HttpUrl::parse("https://example.org:443/")->authority(), "example.org");
  EXPECT_EQ(HttpUrl::parse("https://example.org:80/")->authority(), "example.org:80");
  EXPECT_EQ(HttpUrl::parse("http://[::1]:81/")->authority(), "[::1]:81");
}

TEST(HttpUrlTest, LocationsAreReadRelativeToTheUrl) {
  const HttpUrl base = *HttpUrl::parse("http://host:9090/a/b?c=d#e");
  const auto resolved = [&](const std::string& location) {
    auto url = base.resolve(location);
    return url ? url->text : "refused";
  };
  EXPECT_EQ(resolved("/x"), "http://host:9090/x");
  EXPECT_EQ(resolved("x?y=1"), "http://host:9090/a/x?y=1");
  EXPECT_EQ(resolved("../x"), "http://host:9090/x");
  EXPECT_EQ(resolved("//other/x"), "http://other/x");
  EXPECT_EQ(resolved("https://other:1/x"), "https://other:1/x");
  EXPECT_EQ(resolved("/with space"), "http://host:9090/with%20space");
  for (const std::string location : {"", "file:///etc/passwd", "gopher://host:9090/", "http://",
                                     "http://u:p@host:9090/", "javascript:alert(1)"}) {
    const std::string text = resolved(location);
    // Either refused, or read as a path on the same host: never another place.
    EXPECT_TRUE(text == "refused" || text.starts_with("http://host:9090/")) << location << text;
  }
}

TEST(HttpUrlTest, AnotherHostKeepsPortAndPath) {
  const HttpUrl base = *HttpUrl::parse("https://10.0.0.1:8443/a?b=c");
  EXPECT_EQ(base.with_host("prometheus.internal")->text, "https://prometheus.internal:8443/a?b=c");
  EXPECT_EQ(base.with_host("::1")->text, "https://[::1]:8443/a?b=c");
  for (const std::string name : {"", "a b", "a/b", "a\r\nb"}) EXPECT_FALSE(base.with_host(name));
}

TEST(HttpUrlTest, LoopbackIsKnownByNameAndAddress) {
  const auto stays_here = [](const std::string& url) { return HttpUrl::parse(url)->is_loopback(); };
  for (const std::string url : {"http://localhost:9090", "http://LOCALHOST/", "http://127.0.0.1",
                                "https://127.1.2.3:1/x", "http://[::1]:9090/"}) {
    EXPECT_TRUE(stays_here(url)) << url;
  }
  for (const std::string url : {"http://10.0.0.1", "http://127.example.org", "http://[::2]",
                                "http://localhost.example.org", "http://prometheus:9090"}) {
    EXPECT_FALSE(stays_here(url)) << url;
  }
}

}  // namespace
}  // namespace outcomed::testing
