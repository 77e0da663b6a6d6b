// Servers that repeat what they were sent.
#include <gmock/gmock.h>

#include "tests/daemon/net/net_fixture.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CurlEchoTest : public NetTest {
 protected:
  CurlEchoTest() {
    environment = {{"TOKEN", "t0ken-of-ours"}, {"PASSWORD", "pass/word"}, {"KEY", "Plan k3y-1"}};
  }
  void echo_with(int status) {
    server.reply_by([status](const ReceivedRequest& request) {
      std::string body = "you sent " + request.target;
      for (const auto& [name, value] : request.headers) body += "; " + name + "=" + value;
      return Reply::with_status(status, body);
    });
  }
  HttpRequest with_token() {
    HttpRequest request = get(server.url());
    request.access.bearer_token = env_ref("TOKEN");
    return request;
  }
  FaultyServer server;
};

TEST_F(CurlEchoTest, ARefusalHoldsNoneOfTheCredentials) {
  for (const int status : {302, 400, 401, 404, 429, 500}) {
    echo_with(status);
    HttpRequest request = get(server.url());
    request.access.basic_user = "user";
    request.access.basic_password = env_ref("PASSWORD");
    request.access.headers = {{"X-Key", env_ref("KEY")}, {"X-Plain", literal("plain")}};
    const auto response = client.send(request);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, status);
    EXPECT_THAT(response->body, HasSubstr("authorization=Basic ***;"));
    EXPECT_THAT(response->body, HasSubstr("x-key=***"));
    EXPECT_THAT(response->body, HasSubstr("x-plain=plain"));
    EXPECT_THAT(client.send(with_token())->body, HasSubstr("authorization=Bearer ***"));
  }
}

TEST_F(CurlEchoTest, TheTokenIsBlankedOutWithoutItsScheme) {
  server.reply_with(Reply::with_status(401, "token t0ken-of-ours is unknown"));
  EXPECT_EQ(client.send(with_token())->body, "token *** is unknown");
  server.reply_with(Reply::with_status(401, "key k3y-1, password pass/word"));
  HttpRequest request = get(server.url());
  request.access.basic_user = "user";
  request.access.basic_password = env_ref("PASSWORD");
  request.access.headers = {{"X-Key", env_ref("KEY")}};
  EXPECT_EQ(client.send(request)->body, "key ***, password ***");
}

TEST_F(CurlEchoTest, ALiteralThatSaysWhoAsksIsTakenForASecret) {
  echo_with(403);
  HttpRequest request = get(server.url());
  request.access.headers = {{"Authorization", literal("Token written-down")}};
  EXPECT_THAT(client.send(request)->body, Not(HasSubstr("written-down")));
}

TEST_F(CurlEchoTest, WhatTheCallerAddsIsBlankedOutToo) {
  echo_with(404);
  HttpRequest request = get(server.url("/services/T0-B1"));
  request.secrets.emplace_back("/services/T0-B1");
  EXPECT_THAT(client.send(request)->body, HasSubstr("you sent ***;"));
}

TEST_F(CurlEchoTest, AGoodAnswerComesAsItIsWithWhatBlanksItOut) {
  server.reply_with(Reply::ok("model=t0ken-of-ours"));
  const auto response = client.send(with_token());
  ASSERT_TRUE(response);
  EXPECT_EQ(response->body, "model=t0ken-of-ours");
  EXPECT_EQ(response->scrubber.scrub(response->body), "model=***");
}

TEST_F(CurlEchoTest, AnErrorOfWhoReadsTheBodyHoldsNoneEither) {
  server.reply_with(Reply::ok("<html>t0ken-of-ours"));
  HttpRequest request = with_token();
  request.on_body = [](std::string_view piece) {
    return Error{ErrorKind::corrupt, "no metrics: " + std::string(piece)};
  };
  const auto response = client.send(request);
  ASSERT_FALSE(response);
  EXPECT_THAT(response.error().message, HasSubstr("no metrics: <html>***"));
}

TEST_F(CurlEchoTest, ATokenThatWasRotatedMeanwhileIsKnown) {
  write_file(folder / "token", "old-token");
  server.reply_by([this](const ReceivedRequest& request) {
    write_file(folder / "token", "new-token");
    return Reply::with_status(401, std::string(request.header("authorization")));
  });
  HttpRequest request = get(server.url());
  request.access.bearer_token = file_ref(folder / "token");
  EXPECT_EQ(client.send(request)->body, "Bearer ***");
  EXPECT_EQ(server.requests().back().header("authorization"), "Bearer new-token");
}

}  // namespace
}  // namespace outcomed::testing
