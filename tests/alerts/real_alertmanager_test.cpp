// The mirror and the webhook's payload against a real Alertmanager.
#include "tests/alerts/real_alertmanager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "alerts/alertmanager/alertmanager.h"
#include "alerts/render.h"
#include "alerts/webhook/payload.h"
#include "daemon/net/curl_client.h"
#include "tests/alerts/scripted_client.h"
#include "tests/support/faulty_server.h"

namespace outcomed {
namespace {

using nlohmann::json;
using testing::eventually;
using testing::FaultyServer;
using ::testing::HasSubstr;
using testing::RealAlertmanager;
using testing::ScriptedSecrets;
using Outcome = SendResult::Outcome;

Timestamp wall_clock() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

AlertMessage alert(const std::string& model, Timestamp now) {
  Episode episode;
  episode.key = {"model_failures", "page", {{"model", model}}};
  episode.fired_at = now - 10min;
  episode.id = episode_id(episode.key, episode.fired_at);
  episode.sentence = "on: yes: 71 of 77 requests failed \"é\" \\ </b>";
  return render(episode, {{"runbook_url", "https://example.org/r"}}, "https://o.example/#/e");
}

json config_for(const std::string& hook) {
  return {{"route",
           {{"receiver", "root"},
            {"group_by", {"alertname"}},
            {"group_wait", "0s"},
            {"group_interval", "1s"},
            {"repeat_interval", "1h"},
            {"routes",
             {{{"receiver", "judge"},
               {"matchers", {"severity=\"page\"", "model=~\"judge|a.b\"", "a!=\"\\\"x\""}},
               {"group_by", {"..."}},
               {"continue", true}}}}}},
          {"receivers",
           {{{"name", "root"}, {"webhook_configs", {{{"url", hook}, {"send_resolved", true}}}}},
            {{"name", "judge"}, {"webhook_configs", {{{"url", hook}}}}}}}};
}

class RealAlertmanagerTest : public ::testing::Test {
 protected:
  RealAlertmanagerTest() : client(secrets) {}
  // Empty when it runs.
  std::string start(const std::string& program) {
    am = std::make_unique<RealAlertmanager>(program, config_for(hook.url("/hook")), client);
    if (!am->ready()) return am->log();
    settings.urls = {am->url() + "/"};
    return "";
  }
  // What the hook was told, by receiver and status.
  std::vector<json> told(const std::string& receiver, const std::string& status) {
    std::vector<json> found;
    for (const auto& request : hook.requests()) {
      json body = json::parse(request.body);
      if (body["receiver"] == receiver && body["status"] == status) found.push_back(body);
    }
    return found;
  }

  FaultyServer hook;
  ScriptedSecrets secrets;
  CurlClient client;
  AlertmanagerSettings settings;
  std::unique_ptr<RealAlertmanager> am;
};

TEST_F(RealAlertmanagerTest, AnAlertFiresIsExtendedByEachRoundAndResolvesOnce) {
  OUTCOMED_NEED_PEER(program, "prometheus-alertmanager");
  ASSERT_EQ(start(*program), "");
  AlertmanagerMirror mirror(settings, 0, client, 15s);
  const Timestamp now = wall_clock();
  AlertMessage judge = alert("judge", now);
  ASSERT_EQ(mirror.push({judge}, now).detail, "HTTP 200");
  json listed = am->firing()["judge"];
  EXPECT_EQ(*parse_timestamp(listed["endsAt"].get<std::string>()), now + 4min);
  EXPECT_EQ(*parse_timestamp(listed["startsAt"].get<std::string>()), now - 10min);
  EXPECT_EQ(listed["annotations"]["description"], judge.annotations.get("description"));
  EXPECT_EQ(listed["fingerprint"], fmt::format("{:016x}", judge.labels.fingerprint()));

  ASSERT_EQ(mirror.push({judge}, now + 1min).detail, "HTTP 200");
  EXPECT_EQ(*parse_timestamp(am->firing()["judge"]["endsAt"].get<std::string>()), now + 5min);
  ASSERT_TRUE(eventually([&] { return !told("judge", "firing").empty(); }));

  judge.status = AlertStatus::resolved;
  judge.ends_at = wall_clock() - 1s;
  ASSERT_EQ(mirror.push({judge}, now + 2min).detail, "HTTP 200");
  EXPECT_TRUE(am->firing().empty());
  ASSERT_TRUE(eventually([&] { return !told("judge", "resolved").empty(); }));
  ASSERT_EQ(mirror.push({judge}, now + 3min).detail, "HTTP 200");
  EXPECT_TRUE(am->firing().empty());
}

TEST_F(RealAlertmanagerTest, AReFiringBesideTheEndOfTheEpisodeBeforeStaysFiring) {
  OUTCOMED_NEED_PEER(program, "prometheus-alertmanager");
  ASSERT_EQ(start(*program), "");
  AlertmanagerMirror mirror(settings, 0, client, 15s);
  const Timestamp now = wall_clock();
  AlertMessage old = alert("judge", now);
  old.status = AlertStatus::resolved;
  old.ends_at = now - 5min;
  AlertMessage again = alert("judge", now);
  again.starts_at = now - 1min;
  mirror.push({again, old}, now);
  EXPECT_EQ(am->firing().count("judge"), 1U);
}

// Spoils the alert of one model on its way, as no state of ours would be spoilt.
class SpoilingClient final : public HttpClient {
 public:
  SpoilingClient(HttpClient& next, std::string model, std::function<void(json&)> spoil)
      : next_(next), model_(std::move(model)), spoil_(std::move(spoil)) {}

  Result<HttpResponse> send(const HttpRequest& request) override {
    json body = json::parse(request.body);
    for (json& item : body) {
      if (item["labels"]["model"] == model_) spoil_(item);
    }
    HttpRequest spoilt = request;
    spoilt.body = body.dump();
    return next_.send(spoilt);
  }

 private:
  HttpClient& next_;
  const std::string model_;
  const std::function<void(json&)> spoil_;
};

TEST_F(RealAlertmanagerTest, OfFiftyAlertsWithABadOneFortyNineAreStoredAndTheBadOneIsNamed) {
  OUTCOMED_NEED_PEER(program, "prometheus-alertmanager");
  ASSERT_EQ(start(*program), "");
  const Timestamp now = wall_clock();
  struct Case {
    std::string prefix, answer;
    std::function<void(json&)> spoil;
  };
  const Case cases[] = {
      {"name", "HTTP 400", [](json& item) { item["labels"]["a-b"] = "x"; }},
      {"number", "HTTP 400", [](json& item) { item["labels"]["model"] = 7; }},
      {"time", "HTTP 400", [](json& item) { item["startsAt"] = "12000-01-01T00:00:00Z"; }},
      {"uri", "HTTP 422", [](json& item) { item["generatorURL"] = "no uri"; }}};
  for (const auto& [prefix, answer, spoil] : cases) {
    std::vector<AlertMessage> state;
    for (int i = 0; i < 50; ++i) state.push_back(alert(fmt::format("{}{:02}", prefix, i), now));
    SpoilingClient spoiling(client, prefix + "17", spoil);
    AlertmanagerMirror mirror(settings, 0, spoiling, 15s);
    const SendResult result = mirror.push(state, now);
    EXPECT_EQ(result.outcome, Outcome::rejected);
    EXPECT_THAT(result.detail, HasSubstr("1 of 50 alerts refused"));
    EXPECT_THAT(result.detail, HasSubstr(prefix + "17"));
    EXPECT_THAT(result.detail, HasSubstr(answer));
    std::size_t stored = 0;
    for (const auto& [model, item] : am->firing()) stored += model.starts_with(prefix) ? 1U : 0U;
    EXPECT_EQ(stored, 49U) << prefix;
  }
}

TEST_F(RealAlertmanagerTest, TheHostileAndTheOddAreTakenAsTheyAre) {
  OUTCOMED_NEED_PEER(program, "prometheus-alertmanager");
  ASSERT_EQ(start(*program), "");
  AlertmanagerMirror mirror(settings, 0, client, 15s);
  const Timestamp now = wall_clock();
  std::vector<AlertMessage> state;
  for (const std::string& model :
       {std::string("x\n<!channel>"), std::string("\xFF\xC0\xA7"), std::string("a\0b", 3),
        std::string(100'000, 'x'), std::string("\"}],{{"), std::string("\xED\xA0\x80")}) {
    state.push_back(alert(model, now));
    state.back().labels.set("odd-name \xFF", "v");
    state.back().annotations.set("9", model);
    state.back().generator_url = "http://a:port/" + model;
  }
  state.push_back(alert("far", now));
  state.back().starts_at = from_unix_ms(INT64_MIN / 2);
  EXPECT_EQ(mirror.push(state, now).detail, "HTTP 200");
  EXPECT_EQ(am->firing().size(), 7U);
}

TEST_F(RealAlertmanagerTest, ThousandsOfAlertsArriveInBatches) {
  OUTCOMED_NEED_PEER(program, "prometheus-alertmanager");
  ASSERT_EQ(start(*program), "");
  settings.batch = 256;
  AlertmanagerMirror mirror(settings, 0, client, 15s);
  const Timestamp now = wall_clock();
  std::vector<AlertMessage> state;
  for (int i = 0; i < 3000; ++i) state.push_back(alert(fmt::format("m{}", i), now));
  EXPECT_EQ(mirror.push(state, now).detail, "HTTP 200");
  EXPECT_EQ(am->firing().size(), 3000U);
}

TEST_F(RealAlertmanagerTest, AlertmanagersOwnNotificationEqualsOursInFormRouteAndKey) {
  OUTCOMED_NEED_PEER(program, "prometheus-alertmanager");
  ASSERT_EQ(start(*program), "");
  const Timestamp now = wall_clock();
  const AlertMessage judge = alert("judge", now);
  AlertmanagerMirror(settings, 0, client, 15s).push({judge}, now);
  ASSERT_TRUE(eventually([&] { return !told("judge", "firing").empty(); }));
  const json theirs = told("judge", "firing").front();

  Route child;
  child.receiver = "judge";
  for (const char* text : {"severity=\"page\"", "model=~\"judge|a.b\"", "a!=\"\\\"x\""}) {
    child.matchers.push_back(*Matcher::parse(text));
  }
  child.group_by = {"..."};
  child.goes_on = true;
  Route root;
  root.receiver = "root";
  root.group_by = {"alertname"};
  root.routes = {child};
  const auto matches = match(root, judge.labels);
  ASSERT_EQ(matches.size(), 1U);
  json ours = json::parse(webhook_body(make_message(matches[0], {judge}, "http://o.example"), 0));
  ours["externalURL"] = theirs["externalURL"];  // Theirs is Alertmanager's own address.
  EXPECT_EQ(ours, theirs);
}

}  // namespace
}  // namespace outcomed
