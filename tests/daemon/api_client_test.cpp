// How commands reach the running daemon.
#include "daemon/commands/api_client.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/alerts/scripted_client.h"

namespace outcomed {
namespace {

using ::testing::HasSubstr;
using testing::ScriptedClient;

std::string asked_url(const std::string& listen) {
  HttpConfig config;
  config.listen = listen;
  ScriptedClient http;
  std::ostringstream notes;
  http.once(ScriptedClient::response(200, "{}"));
  const auto answer = ask_daemon(config, http, "/api/v1/alerts", notes);
  EXPECT_TRUE(answer && *answer);
  return http.requests.at(0).url;
}

TEST(ApiClientTest, ADaemonThatListensEverywhereIsAskedOnThisMachine) {
  EXPECT_EQ(asked_url("0.0.0.0:9469"), "http://127.0.0.1:9469/api/v1/alerts");
  EXPECT_EQ(asked_url(":9469"), "http://127.0.0.1:9469/api/v1/alerts");
  EXPECT_EQ(asked_url("[::]:9469"), "http://127.0.0.1:9469/api/v1/alerts");
}

TEST(ApiClientTest, AnyOtherAddressIsAskedAsItIs) {
  EXPECT_EQ(asked_url("127.0.0.1:9469"), "http://127.0.0.1:9469/api/v1/alerts");
  EXPECT_EQ(asked_url("10.1.2.3:80"), "http://10.1.2.3:80/api/v1/alerts");
  EXPECT_EQ(asked_url("[::1]:9469"), "http://[::1]:9469/api/v1/alerts");
}

Result<std::optional<std::string>> answer_to(Result<HttpResponse> response,
                                             std::string* notes = nullptr) {
  ScriptedClient http;
  http.once(std::move(response));
  std::ostringstream noted;
  auto answer = ask_daemon({}, http, "/api/v1/episodes/x", noted);
  if (notes != nullptr) *notes = noted.str();
  return answer;
}

TEST(ApiClientTest, NobodyThereIsNoErrorAndNoAnswer) {
  const auto answer = answer_to(Error{ErrorKind::unavailable, "refused"});
  ASSERT_TRUE(answer);
  EXPECT_FALSE(*answer);
}

TEST(ApiClientTest, WhatIsNotThereIsSaidInTheDaemonsWordsAsAMistakeOfTheCaller) {
  const auto answer = answer_to(ScriptedClient::response(
      404, R"({"status":"error","errorType":"not_found","error":"there is no episode x"})"));
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind, ErrorKind::invalid);
  EXPECT_EQ(answer.error().message, "there is no episode x");
}

TEST(ApiClientTest, AnotherProgramAtOurAddressIsNotedAndNotTakenForTheDaemon) {
  for (const int status : {200, 403, 404}) {
    for (const std::string body : {"<html>", "", "ok\n", "[]"}) {
      std::string notes;
      const auto answer = answer_to(ScriptedClient::response(status, body), &notes);
      ASSERT_TRUE(answer) << body;
      EXPECT_FALSE(*answer);
      EXPECT_THAT(notes, HasSubstr("(http.listen) answers another program"));
    }
  }
}

TEST(ApiClientTest, AnAnswerThatSaysNothingOfOursIsAnErrorOfTheApi) {
  for (const std::string body :
       {"{}", R"({"errorType":404})", R"({"errorType":"not_found","error":7})"}) {
    const auto answer = answer_to(ScriptedClient::response(404, body));
    ASSERT_FALSE(answer) << body;
    EXPECT_EQ(answer.error().kind, ErrorKind::rejected) << body;
    EXPECT_THAT(answer.error().message, HasSubstr("the daemon's API: HTTP 404")) << body;
  }
  EXPECT_EQ(answer_to(ScriptedClient::response(503)).error().kind, ErrorKind::unavailable);
  EXPECT_EQ(answer_to(Error{ErrorKind::timeout, "slow"}).error().kind, ErrorKind::timeout);
}

}  // namespace
}  // namespace outcomed
