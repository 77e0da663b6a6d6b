#include <gtest/gtest.h>

#include "tests/daemon/net/net_fixture.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

class CurlRedirectTest : public NetTest {
 protected:
  HttpRequest authorized(HttpRequest request, int redirects) {
    environment["TOKEN"] = "t0ken";
    request.access.bearer_token = env_ref("TOKEN");
    request.same_host_redirects = redirects;
    return request;
  }
  FaultyServer server;
};

TEST_F(CurlRedirectTest, NoneIsFollowedUnlessAskedFor) {
  for (const int status : {301, 302, 303, 307, 308}) {
    server.reply_with(Reply::redirect(status, "/next"));
    auto response = client.send(get(server.url("/first")));
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, status);
    EXPECT_EQ(response->header("location"), "/next");
  }
  for (const ReceivedRequest& request : server.requests()) EXPECT_EQ(request.path(), "/first");
}

TEST_F(CurlRedirectTest, OneToTheSameServerIsFollowedWithCredentials) {
  for (const int status : {301, 302, 303, 307, 308}) {
    for (const std::string& location :
         {std::string("/next?a=b"), server.url("/next?a=b"), std::string("next?a=b")}) {
      server.on("/first", Reply::redirect(status, location));
      auto response = client.send(authorized(get(server.url("/first")), 1));
      ASSERT_TRUE(response);
      EXPECT_EQ(response->status, 200);
      EXPECT_EQ(response->body, "ok");
      EXPECT_EQ(server.requests().back().target, "/next?a=b");
      EXPECT_EQ(server.requests().back().header("authorization"), "Bearer t0ken");
    }
  }
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(CurlRedirectTest, TheCountIsALimit) {
  server.reply_with(Reply::redirect(302, "/again"));
  EXPECT_EQ(client.send(authorized(get(server.url()), 1))->status, 302);
  EXPECT_EQ(server.requests().size(), 2U);
  EXPECT_EQ(client.send(authorized(get(server.url()), 5))->status, 302);
  EXPECT_EQ(server.requests().size(), 2U + 6U);
}

TEST_F(CurlRedirectTest, NoOtherServerEverHearsOfIt) {
  FaultyServer other;
  const std::string port = std::to_string(server.port());
  for (const std::string& location :
       {other.url("/x"), "http://localhost:" + port + "/x", "https://127.0.0.1:" + port + "/x",
        std::string("//127.0.0.1:") + std::to_string(other.port()) + "/x",
        "http://user:pw@127.0.0.1:" + port + "/x", "http://127.0.0.1:" + port + "@localhost/x",
        std::string("file:///etc/passwd"), std::string("gopher://127.0.0.1:") + port + "/x",
        std::string("http://169.254.169.254/latest"), std::string("http://"), std::string()}) {
    for (const int status : {301, 307}) {
      server.reply_with(Reply::redirect(status, location));
      const std::size_t before = server.requests().size();
      auto response = client.send(authorized(get(server.url()), 3));
      ASSERT_TRUE(response) << location << response.error().message;
      EXPECT_EQ(response->status, status) << location;
      EXPECT_EQ(server.requests().size(), before + 1) << location;
    }
  }
  EXPECT_EQ(other.connections(), 0U);
}

TEST_F(CurlRedirectTest, OnlyThePreservingOnesRepeatAPost) {
  for (const int status : {301, 302, 303}) {
    server.on("/first", Reply::redirect(status, "/next"));
    EXPECT_EQ(client.send(authorized(post(server.url("/first"), "alert"), 1))->status, status);
    EXPECT_EQ(server.requests().back().path(), "/first");
  }
  for (const int status : {307, 308}) {
    server.on("/first", Reply::redirect(status, "/next"));
    EXPECT_EQ(client.send(authorized(post(server.url("/first"), "alert"), 1))->status, 200);
    EXPECT_EQ(server.requests().back().path(), "/next");
    EXPECT_EQ(server.requests().back().method, "POST");
    EXPECT_EQ(server.requests().back().body, "alert");
  }
}

TEST_F(CurlRedirectTest, OnlyTheLastBodyIsDelivered) {
  Reply redirect = Reply::redirect(302, "/next");
  redirect.body = "moved";
  server.on("/first", redirect);
  HttpRequest request = authorized(get(server.url("/first")), 1);
  std::string got;
  request.on_body = [&](std::string_view piece) {
    got += piece;
    return ok();
  };
  ASSERT_TRUE(client.send(request));
  EXPECT_EQ(got, "ok");
}

}  // namespace
}  // namespace outcomed::testing
