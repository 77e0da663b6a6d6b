#include <gmock/gmock.h>

#include "tests/daemon/net/net_fixture.h"
#include "tests/support/faulty_server.h"

namespace outcomed::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CurlCredentialsTest : public NetTest {
 protected:
  std::string_view sent(std::string_view header) {
    last_ = server.requests().back();
    return last_.header(header);
  }
  HttpRequest with_token(const SecretRef& ref) {
    HttpRequest request = get(server.url());
    request.access.bearer_token = ref;
    return request;
  }
  FaultyServer server;

 private:
  ReceivedRequest last_;
};

TEST_F(CurlCredentialsTest, BasicBearerAndHeadersAreSent) {
  environment["PASSWORD"] = "pass:word\n";
  HttpRequest basic = get(server.url());
  basic.access.basic_user = "user";
  basic.access.basic_password = env_ref("PASSWORD");
  basic.access.headers = {{"X-Key", file_ref(write_file(folder / "key", "k3y\n"))},
                          {"X-Plain", literal("text")}};
  ASSERT_TRUE(client.send(basic));
  EXPECT_EQ(sent("authorization"), "Basic dXNlcjpwYXNzOndvcmQ=");  // user:pass:word
  EXPECT_EQ(sent("x-key"), "k3y");
  EXPECT_EQ(sent("x-plain"), "text");
  ASSERT_TRUE(client.send(with_token(file_ref(write_file(folder / "token", "t0ken\n")))));
  EXPECT_EQ(sent("authorization"), "Bearer t0ken");
  ASSERT_TRUE(client.send(get(server.url())));
  EXPECT_EQ(sent("authorization"), "");
  EXPECT_EQ(server.connections(), 1U);  // Nothing stuck to the connection that all three shared.
}

TEST_F(CurlCredentialsTest, ARotatedFileCountsAtTheNextRequest) {
  const HttpRequest request = with_token(file_ref(write_file(folder / "token", "one")));
  ASSERT_TRUE(client.send(request));
  EXPECT_EQ(sent("authorization"), "Bearer one");
  write_file(folder / "token", "two");
  ASSERT_TRUE(client.send(request));
  EXPECT_EQ(sent("authorization"), "Bearer two");
}

TEST_F(CurlCredentialsTest, NothingIsSentWithoutItsCredentials) {
  environment["EMPTY"] = "";
  const std::vector<SecretRef> unreadable = {file_ref(folder / "missing"),
                                             file_ref(write_file(folder / "empty", "\n")),
                                             file_ref(write_file(folder / "open", "x", 0644)),
                                             file_ref(folder / ""),
                                             env_ref("MISSING"),
                                             env_ref("EMPTY"),
                                             cred_ref("missing")};
  for (const SecretRef& ref : unreadable) {
    std::vector<HttpRequest> requests(3, get(server.url()));
    requests[0].access.bearer_token = ref;
    requests[1].access.basic_user = "user";
    requests[1].access.basic_password = ref;
    requests[2].access.headers = {{"X-Key", ref}};
    for (const HttpRequest& request : requests) {
      auto response = client.send(request);
      ASSERT_FALSE(response) << ref.to_string();
      EXPECT_EQ(response.error().kind, ErrorKind::invalid);
      EXPECT_THAT(response.error().message, HasSubstr(ref.to_string()));
    }
  }
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(CurlCredentialsTest, SecretsThatWouldBreakOutOfTheirHeaderAreRefused) {
  for (const std::string& text : {std::string("canary\r\nX-Evil: 1"), std::string("canary\nb"),
                                  std::string("canary\rb"), std::string("canary\0b", 8)}) {
    environment["BROKEN"] = text;
    std::vector<HttpRequest> requests(2, get(server.url()));
    requests[0].access.bearer_token = env_ref("BROKEN");
    requests[1].access.headers = {{"X-Key", env_ref("BROKEN")}};
    for (const HttpRequest& request : requests) {
      auto response = client.send(request);
      ASSERT_FALSE(response);
      EXPECT_EQ(response.error().kind, ErrorKind::invalid);
      EXPECT_THAT(response.error().message, HasSubstr("env:BROKEN"));
      EXPECT_THAT(response.error().message, Not(HasSubstr("canary")));
    }
  }
  environment["NUL"] = std::string("a\0b", 3);  // A C string would end there.
  HttpRequest basic = get(server.url());
  basic.access.basic_user = "user";
  basic.access.basic_password = env_ref("NUL");
  EXPECT_EQ(client.send(basic).error().kind, ErrorKind::invalid);
  basic.access.basic_password = {};
  basic.access.basic_user = "us:er";
  EXPECT_EQ(client.send(basic).error().kind, ErrorKind::invalid);
  EXPECT_EQ(server.connections(), 0U);
}

TEST_F(CurlCredentialsTest, TwoAuthorizationsAreRefused) {
  environment["A"] = "a";
  HttpRequest request = with_token(env_ref("A"));
  request.access.headers = {{"authorization", env_ref("A")}};
  EXPECT_EQ(client.send(request).error().kind, ErrorKind::invalid);
  request.access.headers.clear();
  request.access.basic_user = "user";
  EXPECT_EQ(client.send(request).error().kind, ErrorKind::invalid);
  EXPECT_EQ(server.connections(), 0U);
}

class CurlRotationTest : public CurlCredentialsTest {
 protected:
  // Refuses every token but "new", and replaces the file when it sees the first request, as if the
  // rotation had come between our reading and the server's.
  void rotate_at_first_request(const std::string& replacement) {
    server.reply_by([this, replacement](const ReceivedRequest& request) {
      if (!replacement.empty()) write_file(folder / "token", replacement);
      if (request.header("authorization") == "Bearer new") return Reply::ok("welcome");
      return Reply::with_status(401, "who are you?");
    });
  }
};

TEST_F(CurlRotationTest, A401WithAFreshlyRotatedFileIsRepeatedOnce) {
  const HttpRequest request = with_token(file_ref(write_file(folder / "token", "old")));
  rotate_at_first_request("new\n");
  auto response = client.send(request);
  ASSERT_TRUE(response);
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "welcome");
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(CurlRotationTest, A401WithAnUnchangedFileIsTheAnswer) {
  const HttpRequest request = with_token(file_ref(write_file(folder / "token", "old")));
  rotate_at_first_request("");
  EXPECT_EQ(client.send(request)->status, 401);
  EXPECT_EQ(server.requests().size(), 1U);
  rotate_at_first_request("old\n");  // Written again with the same content.
  EXPECT_EQ(client.send(request)->status, 401);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(CurlRotationTest, AFileThatKeepsChangingIsNotChasedForEver) {
  const HttpRequest request = with_token(file_ref(write_file(folder / "token", "x")));
  std::string token = "x";
  server.reply_by([&](const ReceivedRequest&) {
    token += 'x';
    write_file(folder / "token", token);
    return Reply::with_status(401);
  });
  EXPECT_EQ(client.send(request)->status, 401);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_F(CurlRotationTest, AFileThatVanishedLeavesThe401) {
  const HttpRequest request = with_token(file_ref(write_file(folder / "token", "old")));
  server.reply_by([&](const ReceivedRequest&) {
    std::filesystem::remove(folder / "token");
    return Reply::with_status(401);
  });
  EXPECT_EQ(client.send(request)->status, 401);
}

TEST_F(CurlRotationTest, SecretsOfTheEnvironmentAreNotReadAgain) {
  environment["TOKEN"] = "old";
  server.reply_with(Reply::with_status(401));
  EXPECT_EQ(client.send(with_token(env_ref("TOKEN")))->status, 401);
  EXPECT_EQ(server.requests().size(), 1U);
}

}  // namespace
}  // namespace outcomed::testing
