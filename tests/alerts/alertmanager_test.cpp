#include "alerts/alertmanager/alertmanager.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "daemon/net/curl_client.h"
#include "tests/alerts/scripted_client.h"
#include "tests/alerts/settings_visitor.h"
#include "tests/support/faulty_server.h"

namespace outcomed {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using testing::FaultyServer;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Reply;
using testing::ScriptedClient;
using testing::ScriptedSecrets;
using Outcome = SendResult::Outcome;

const Timestamp kNow = *parse_timestamp("2026-11-30T12:04:00Z");

AlertMessage alert(const std::string& model, AlertStatus status = AlertStatus::firing) {
  AlertMessage made;
  made.status = status;
  made.labels = {{"alertname", "model_failures"}, {"model", model}};
  made.annotations = {{"summary", "on: yes:"}};
  made.starts_at = kNow - 10min;
  if (status == AlertStatus::resolved) made.ends_at = kNow - 1min;
  made.generator_url = "https://o.example/#/e";
  return made;
}

std::vector<AlertMessage> alerts(int count) {
  std::vector<AlertMessage> made;
  for (int i = 0; i < count; ++i) made.push_back(alert(fmt::format("m{:04}", i)));
  return made;
}

// An Alertmanager that refuses alerts of the models it is told to, as the real one does: the others
// of the body are stored and the answer is 400.
class FakeAlertmanager {
 public:
  HttpResponse post(const HttpRequest& request) {
    ++posts;
    bool refused = false;
    for (const json& item : json::parse(request.body)) {
      const std::string model = item["labels"]["model"];
      if (bad.contains(model)) {
        refused = true;
      } else {
        stored[model] = item;
        order.push_back(model);
      }
    }
    return ScriptedClient::response(refused ? refusal : 200,
                                    refused ? "\"invalid label set\"" : "");
  }

  std::set<std::string> bad;
  int refusal = 400;
  int posts = 0;
  std::map<std::string, json> stored;
  std::vector<std::string> order;
};

class AlertmanagerTest : public ::testing::Test {
 protected:
  AlertmanagerTest() {
    settings.urls = {"http://am1:9093"};
    client.always([this](const HttpRequest& request) { return fake.post(request); });
  }
  SendResult push(const std::vector<AlertMessage>& state) {
    return AlertmanagerMirror(settings, 0, client, 15s).push(state, kNow);
  }
  json pushed(const std::vector<AlertMessage>& state) {
    push(state);
    return json::parse(client.requests.back().body);
  }

  AlertmanagerSettings settings;
  ScriptedClient client;
  FakeAlertmanager fake;
};

TEST_F(AlertmanagerTest, PostsTheStateInTheFormOfApiV2) {
  settings.timeout = 3s;
  const SendResult result = push({alert("judge"), alert("chat", AlertStatus::resolved)});
  EXPECT_EQ(result.outcome, Outcome::delivered);
  EXPECT_EQ(result.detail, "HTTP 200");
  ASSERT_EQ(client.requests.size(), 1U);
  EXPECT_EQ(client.requests[0].method, "POST");
  EXPECT_EQ(client.requests[0].url, "http://am1:9093/api/v2/alerts");
  EXPECT_EQ(client.requests[0].timeout, Duration(3s));
  EXPECT_EQ(testing::header_of(client.requests[0], "Content-Type"), "application/json");
  const json want = {{{"labels", {{"alertname", "model_failures"}, {"model", "judge"}}},
                      {"annotations", {{"summary", "on: yes:"}}},
                      {"startsAt", "2026-11-30T11:54:00Z"},
                      {"endsAt", "2026-11-30T12:08:00Z"},  // now + 4 · 1 min
                      {"generatorURL", "https://o.example/#/e"}},
                     {{"labels", {{"alertname", "model_failures"}, {"model", "chat"}}},
                      {"annotations", {{"summary", "on: yes:"}}},
                      {"startsAt", "2026-11-30T11:54:00Z"},
                      {"endsAt", "2026-11-30T12:03:00Z"},  // Its true end.
                      {"generatorURL", "https://o.example/#/e"}}};
  EXPECT_EQ(json::parse(client.requests[0].body), want);
}

// E8: a firing alert outlives missed rounds, whatever the rhythm.
TEST_F(AlertmanagerTest, FiringAlertsLastFourTimesTheLongerOfTickAndResend) {
  settings.resend_interval = 30s;
  for (const auto& [tick, end] : {std::pair<Duration, std::string>{15s, "2026-11-30T12:06:00Z"},
                                  {5min, "2026-11-30T12:24:00Z"},
                                  {24h, "2026-12-04T12:04:00Z"}}) {
    AlertmanagerMirror mirror(settings, 0, client, tick);
    mirror.push({alert("judge")}, kNow);
    EXPECT_EQ(json::parse(client.requests.back().body)[0]["endsAt"], end);
    EXPECT_EQ(mirror.resend_interval(), Duration(30s));
  }
}

TEST_F(AlertmanagerTest, AnEmptyStateAsksNobody) {
  EXPECT_EQ(push({}).outcome, Outcome::delivered);
  EXPECT_THAT(client.requests, IsEmpty());
}

TEST_F(AlertmanagerTest, PathPrefixesAndTrailingSlashesDoNotDoubleUp) {
  for (const auto& [url, endpoint] : {std::pair{"http://am:9093/", "http://am:9093/api/v2/alerts"},
                                      {"http://am/prefix", "http://am/prefix/api/v2/alerts"},
                                      {"http://am/prefix//", "http://am/prefix/api/v2/alerts"},
                                      {"http://am/api/v2/alerts", "http://am/api/v2/alerts"}}) {
    settings.urls = {url};
    push({alert("judge")});
    EXPECT_EQ(client.requests.back().url, endpoint);
  }
}

TEST_F(AlertmanagerTest, ManyAlertsGoInBatches) {
  settings.batch = 64;
  EXPECT_EQ(push(alerts(150)).outcome, Outcome::delivered);
  std::vector<std::size_t> sizes;
  for (const HttpRequest& request : client.requests)
    sizes.push_back(json::parse(request.body).size());
  EXPECT_THAT(sizes, ElementsAre(64, 64, 22));
  EXPECT_EQ(fake.stored.size(), 150U);
}

// prometheus#1372 and B7: the old episode's end must not end the new one.
TEST_F(AlertmanagerTest, OfOneLabelSetOnlyTheNewestStateIsSent) {
  AlertMessage old = alert("judge", AlertStatus::resolved);
  AlertMessage older = old;
  older.ends_at = kNow - 8min;
  AlertMessage firing = alert("judge");
  firing.starts_at = kNow - 30s;
  for (const auto& state : {std::vector{firing, old, older}, std::vector{older, old, firing}}) {
    const json body = pushed(state);
    ASSERT_EQ(body.size(), 1U);
    EXPECT_EQ(body[0]["startsAt"], "2026-11-30T12:03:30Z");
    EXPECT_EQ(body[0]["endsAt"], "2026-11-30T12:08:00Z");
  }
  EXPECT_EQ(pushed({older, old})[0]["endsAt"], "2026-11-30T12:03:00Z");
  EXPECT_EQ(pushed({old, older})[0]["endsAt"], "2026-11-30T12:03:00Z");
}

TEST_F(AlertmanagerTest, WhatAlertmanagerWouldRefuseIsMadeFitBefore) {
  AlertMessage odd = alert("judge");
  odd.labels.set("error-class", "a");
  odd.labels.set("error_class", "b");
  odd.labels.set("9", "bad \xFF");
  odd.annotations.set("run book", "x");
  odd.generator_url = "javascript:alert(1)";
  odd.status = AlertStatus::resolved;
  odd.ends_at = odd.starts_at - 1min;  // A clock was set back.
  const json item = pushed({odd})[0];
  EXPECT_EQ(item["labels"], (json{{"alertname", "model_failures"},
                                  {"model", "judge"},
                                  {"error_class", "b"},
                                  {"error_class_", "a"},
                                  {"_9", "bad \xEF\xBF\xBD"}}));
  EXPECT_EQ(item["annotations"]["run_book"], "x");
  EXPECT_FALSE(item.contains("generatorURL"));
  EXPECT_EQ(item["endsAt"], item["startsAt"]);
}

TEST_F(AlertmanagerTest, TimesThatCanNotBeWrittenAreMovedToTheNearestThatCan) {
  AlertMessage far = alert("judge", AlertStatus::resolved);
  far.starts_at = from_unix_ms(-1);
  far.ends_at = from_unix_ms(900'000'000'000'000);
  const json item = pushed({far})[0];
  EXPECT_EQ(item["startsAt"], "1970-01-01T00:00:00Z");
  EXPECT_EQ(item["endsAt"], "9999-12-31T23:59:59Z");
}

TEST_F(AlertmanagerTest, AnAlertWithoutLabelsIsLeftOut) {
  AlertMessage bare;
  EXPECT_EQ(pushed({bare, alert("judge")}).size(), 1U);
}

TEST_F(AlertmanagerTest, OneBadAlertIsFoundNamedAndTheOthersAreStored) {
  fake.bad = {"m0017"};
  const SendResult result = push(alerts(50));
  EXPECT_EQ(result.outcome, Outcome::rejected);
  EXPECT_THAT(result.detail, HasSubstr("1 of 50 alerts refused, the others stored"));
  EXPECT_THAT(result.detail, HasSubstr(R"({alertname="model_failures", model="m0017"})"));
  EXPECT_THAT(result.detail, HasSubstr("HTTP 400: \"invalid label set\""));
  EXPECT_EQ(fake.stored.size(), 49U);
  EXPECT_LE(fake.posts, 13);  // 1 + 2 · log2(64)
}

// A body that is wrong as a whole stores nothing: only cutting it up saves the others.
TEST_F(AlertmanagerTest, OthersAreSavedWhenABadAlertSpoilsTheWholeBody) {
  for (const int status : {400, 413, 422}) {
    std::set<std::string> stored;
    ScriptedClient strict;
    strict.always([&](const HttpRequest& request) {
      const json body = json::parse(request.body);
      for (const json& item : body) {
        if (item["labels"]["model"] == "m0003") return ScriptedClient::response(status);
      }
      for (const json& item : body) stored.insert(item["labels"]["model"]);
      return ScriptedClient::response(200);
    });
    AlertmanagerMirror mirror(settings, 0, strict, 15s);
    EXPECT_EQ(mirror.push(alerts(50), kNow).outcome, Outcome::rejected);
    EXPECT_EQ(stored.size(), 49U) << status;
  }
}

TEST_F(AlertmanagerTest, ABadAlertGoesLastInTheNextRoundAndIsForgottenWhenItIsTaken) {
  AlertmanagerMirror mirror(settings, 0, client, 15s);
  fake.bad = {"m0000"};
  mirror.push(alerts(100), kNow);
  fake.order.clear();
  client.requests.clear();
  mirror.push(alerts(100), kNow);
  // The first batch is clean now.
  EXPECT_EQ(json::parse(client.requests[0].body).size(), 64U);
  EXPECT_EQ(json::parse(client.requests[0].body)[0]["labels"]["model"], "m0001");
  EXPECT_EQ(json::parse(client.requests[1].body).back()["labels"]["model"], "m0000");
  fake.bad.clear();
  EXPECT_EQ(mirror.push(alerts(100), kNow).outcome, Outcome::delivered);
  client.requests.clear();
  mirror.push(alerts(100), kNow);
  EXPECT_EQ(json::parse(client.requests[0].body)[0]["labels"]["model"], "m0000");
}

TEST_F(AlertmanagerTest, AServerThatRefusesEverythingIsNotAskedForEver) {
  client.always([this](const HttpRequest&) {
    ++fake.posts;
    return ScriptedClient::response(400, "no");
  });
  const SendResult result = push(alerts(2000));
  EXPECT_EQ(result.outcome, Outcome::rejected);
  EXPECT_THAT(result.detail, HasSubstr("HTTP 400: no"));
  EXPECT_LE(fake.posts, 600);
}

TEST_F(AlertmanagerTest, ARefusalOfThePeerItselfIsNoSearch) {
  for (const int status : {401, 403, 404, 405, 410, 302}) {
    client.requests.clear();
    client.once(ScriptedClient::response(status));
    EXPECT_EQ(push(alerts(200)).outcome, Outcome::rejected);
    EXPECT_EQ(client.requests.size(), 1U) << status;
  }
}

TEST_F(AlertmanagerTest, APeerInTroubleIsLeftForThisRound) {
  for (const int status : {429, 500, 503}) {
    client.requests.clear();
    client.once(ScriptedClient::response(status));
    EXPECT_EQ(push(alerts(200)).outcome, Outcome::retry);
    EXPECT_EQ(client.requests.size(), 1U) << status;
  }
}

TEST_F(AlertmanagerTest, EveryPeerIsAMirrorOfItsOwn) {
  settings.urls = {"http://dead:9093", "http://am2:9093/prefix"};
  client.always([&](const HttpRequest& request) -> Result<HttpResponse> {
    if (request.url.find("dead") != std::string::npos)
      return Error{ErrorKind::timeout, "timed out"};
    return fake.post(request);
  });
  const auto mirrors = alertmanager_mirrors(settings, client);
  ASSERT_EQ(mirrors.size(), 2U);
  EXPECT_EQ(mirrors[0]->push(alerts(100), kNow).detail, "timed out");
  EXPECT_EQ(client.requests.size(), 1U);  // The rest of its round is left out.
  EXPECT_EQ(mirrors[1]->push(alerts(100), kNow).outcome, Outcome::delivered);
  EXPECT_EQ(client.requests.back().url, "http://am2:9093/prefix/api/v2/alerts");
  EXPECT_EQ(fake.stored.size(), 100U);
  EXPECT_EQ(mirrors[0]->peer(), "http://dead:9093 (1 of 2)");
  EXPECT_EQ(mirrors[1]->peer(), "http://am2:9093/… (2 of 2)");
}

TEST_F(AlertmanagerTest, PeersRefuseIndependently) {
  settings.urls = {"http://picky:9093", "http://am2:9093"};
  FakeAlertmanager picky;
  picky.bad = {"m0001"};
  client.always([&](const HttpRequest& request) {
    return request.url.find("picky") != std::string::npos ? picky.post(request)
                                                          : fake.post(request);
  });
  const auto mirrors = alertmanager_mirrors(settings, client);
  EXPECT_EQ(mirrors.at(0)->push(alerts(10), kNow).outcome, Outcome::rejected);
  EXPECT_EQ(mirrors.at(1)->push(alerts(10), kNow).outcome, Outcome::delivered);
  EXPECT_EQ(picky.stored.size(), 9U);
  EXPECT_EQ(fake.stored.size(), 10U);
}

TEST(AlertmanagerSettings, DeclareEverySettingAndFindAbsurdOnes) {
  AlertmanagerSettings settings;
  settings.urls = {"http://am:9093"};
  testing::SettingsVisitor good;
  settings.visit(good);
  EXPECT_TRUE(good.all_explained);
  EXPECT_THAT(good.problems, IsEmpty());
  for (const char* name : {"urls", "timeout", "resend_interval", "batch", "basic_auth.username"}) {
    EXPECT_THAT(good.names, Contains(name));
  }
  settings = {};
  settings.timeout = 0s;
  settings.resend_interval = 0s;
  testing::SettingsVisitor bad;
  settings.visit(bad);
  EXPECT_THAT(bad.problems, ElementsAre("urls", "timeout", "resend_interval"));
}

// While a request hangs nothing is repeated: it must end well before what was told before does.
TEST(AlertmanagerSettings, RefuseATimeoutThatOutlastsWhatFiringAlertsAreToldFor) {
  const auto problems = [](Duration timeout, Duration resend) {
    AlertmanagerSettings settings;
    settings.urls = {"http://am:9093"};
    settings.timeout = timeout;
    settings.resend_interval = resend;
    testing::SettingsVisitor visitor;
    settings.visit(visitor);
    return visitor.problems;
  };
  EXPECT_THAT(problems(1min, 1min), IsEmpty());
  EXPECT_THAT(problems(1min, 1s), IsEmpty());
  EXPECT_THAT(problems(5min, 5min), IsEmpty());
  EXPECT_THAT(problems(5min, 1min), ElementsAre("timeout"));
  EXPECT_THAT(problems(61s, 30s), ElementsAre("timeout"));
}

TEST(AlertmanagerOverHttp, ADeadPeerIsAskedOnceInItsRoundAndTheOtherGetsAll) {
  FaultyServer dead;
  dead.reply_with(Reply::hang());
  FaultyServer well;
  ScriptedSecrets secrets;
  CurlClient client(secrets);
  AlertmanagerSettings settings;
  settings.urls = {dead.url("/prefix/"), well.url("/")};
  settings.timeout = 300ms;
  const auto mirrors = alertmanager_mirrors(settings, client);
  EXPECT_EQ(mirrors.at(0)->push(alerts(130), kNow).outcome, Outcome::retry);
  EXPECT_EQ(mirrors.at(1)->push(alerts(130), kNow).outcome, Outcome::delivered);
  EXPECT_EQ(dead.requests().size(), 1U);
  EXPECT_EQ(dead.requests()[0].target, "/prefix/api/v2/alerts");
  std::size_t told = 0;
  for (const auto& request : well.requests()) told += json::parse(request.body).size();
  EXPECT_EQ(told, 130U);
}

}  // namespace
}  // namespace outcomed
