#include <gmock/gmock.h>

#include "tests/daemon/net/net_fixture.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CurlProxyTest : public NetTest {
 protected:
  ~CurlProxyTest() override {
    for (const char* name : kNames) ::unsetenv(name);
  }
  static void set_all(const std::string& value) {
    for (const char* name : kNames) ::setenv(name, value.c_str(), 1);
  }
  static constexpr std::array<const char*, 5> kNames = {"http_proxy", "https_proxy", "all_proxy",
                                                        "HTTPS_PROXY", "ALL_PROXY"};
  FaultyServer server;
  FaultyServer proxy;
};

TEST_F(CurlProxyTest, AConfiguredProxyGetsTheWholeUrl) {
  proxy.reply_with(Reply::ok("from the proxy"));
  environment["PROXY_AUTH"] = "Basic cHJveHk6cHc=";
  HttpRequest request = get("http://prometheus.internal:9090/api?query=up");
  request.access.proxy_url = proxy.url();
  request.access.headers = {{"Proxy-Authorization", env_ref("PROXY_AUTH")}};
  auto response = client.send(request);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "from the proxy");
  EXPECT_EQ(proxy.requests().at(0).target, "http://prometheus.internal:9090/api?query=up");
  EXPECT_EQ(proxy.requests().at(0).header("host"), "prometheus.internal:9090");
  EXPECT_EQ(proxy.requests().at(0).header("accept-encoding"), "gzip");
  EXPECT_EQ(proxy.requests().at(0).header("proxy-authorization"), "Basic cHJveHk6cHc=");
}

TEST_F(CurlProxyTest, CredentialsForAProxyGoNowhereElse) {
  environment["PROXY_AUTH"] = "Basic cHJveHk6cHc=";
  HttpRequest request = get(server.url());
  request.access.headers = {{"Proxy-Authorization", env_ref("PROXY_AUTH")}};
  ASSERT_TRUE(client.send(request));
  EXPECT_EQ(server.requests().at(0).header("proxy-authorization"), "");
}

TEST_F(CurlProxyTest, ProxiesOfTheEnvironmentAreNotUsed) {
  set_all(proxy.url());
  ASSERT_TRUE(client.send(get(server.url())));
  EXPECT_EQ(server.requests().size(), 1U);
  EXPECT_EQ(proxy.connections(), 0U);
}

TEST_F(CurlProxyTest, ExceptionsOfTheEnvironmentDoNotPassByAConfiguredProxy) {
  ::setenv("no_proxy", "*", 1);
  ::setenv("NO_PROXY", "*", 1);
  HttpRequest request = get(server.url());
  request.access.proxy_url = proxy.url();
  auto response = client.send(request);
  ::unsetenv("no_proxy");
  ::unsetenv("NO_PROXY");
  ASSERT_TRUE(response);
  EXPECT_EQ(proxy.requests().size(), 1U);
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(CurlProxyTest, AProxyThatIsDownIsUnavailableAndNotPassedBy) {
  proxy.refuse();
  HttpRequest request = get(server.url());
  request.access.proxy_url = proxy.url();
  EXPECT_EQ(client.send(request).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(CurlProxyTest, UnusableProxiesAreInvalidAndNotShown) {
  for (const std::string url :
       {"canary", "socks5://canary:1080", "http://user:canary@proxy:3128"}) {
    HttpRequest request = get(server.url());
    request.access.proxy_url = url;
    auto response = client.send(request);
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().kind, ErrorKind::invalid);
    EXPECT_THAT(response.error().message, HasSubstr("proxy_url"));
    EXPECT_THAT(response.error().message, Not(HasSubstr("canary")));
  }
  EXPECT_EQ(server.connections(), 0U);
}

}  // namespace
}  // namespace outcomed::testing
