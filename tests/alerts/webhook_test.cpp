#include "alerts/webhook/webhook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "alerts/digest.h"
#include "alerts/render.h"
#include "alerts/webhook/payload.h"
#include "daemon/net/curl_client.h"
#include "tests/alerts/scripted_client.h"
#include "tests/alerts/settings_visitor.h"
#include "tests/support/faulty_server.h"

namespace outcomed {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::FaultyServer;
using ::testing::HasSubstr;
using testing::header_of;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Reply;
using testing::ScriptedClient;
using testing::ScriptedSecrets;
using Outcome = SendResult::Outcome;

const Timestamp kNow = *parse_timestamp("2026-11-30T12:04:05.678Z");

AlertMessage alert(std::string model, AlertStatus status = AlertStatus::firing) {
  AlertMessage made;
  made.status = status;
  made.labels = {
      {"alertname", "model_failures"}, {"severity", "page"}, {"model", std::move(model)}};
  made.annotations = {{"summary", "on: yes:"}, {"runbook_url", "https://example.org/r"}};
  made.starts_at = kNow - 5min;
  if (status == AlertStatus::resolved) made.ends_at = kNow;
  made.generator_url = "https://o.example/#/e";
  made.episode = made.labels.get("model");
  return made;
}

Message message(std::vector<AlertMessage> alerts) {
  return make_message({"hooks", {{"rule", "model_failures"}}, R"({}:{rule="model_failures"})"},
                      std::move(alerts), "https://o.example");
}

json body_of(const Message& told, std::size_t max_alerts = 0) {
  return json::parse(webhook_body(told, max_alerts));
}

TEST(WebhookBody, IsAlertmanagersVersionFour) {
  const json body = body_of(message({alert("judge"), alert("chat", AlertStatus::resolved)}));
  const json want = {
      {"version", "4"},
      {"groupKey", R"({}:{rule="model_failures"})"},
      {"truncatedAlerts", 0},
      {"status", "firing"},
      {"receiver", "hooks"},
      {"groupLabels", {{"rule", "model_failures"}}},
      {"commonLabels", {{"alertname", "model_failures"}, {"severity", "page"}}},
      {"commonAnnotations", {{"summary", "on: yes:"}, {"runbook_url", "https://example.org/r"}}},
      {"externalURL", "https://o.example"},
      {"alerts",
       {{{"status", "firing"},
         {"labels", {{"alertname", "model_failures"}, {"severity", "page"}, {"model", "judge"}}},
         {"annotations", {{"summary", "on: yes:"}, {"runbook_url", "https://example.org/r"}}},
         {"startsAt", "2026-11-30T11:59:05.678Z"},
         {"endsAt", "0001-01-01T00:00:00Z"},
         {"generatorURL", "https://o.example/#/e"},
         {"fingerprint", body["alerts"][0]["fingerprint"]}},
        {{"status", "resolved"},
         {"labels", {{"alertname", "model_failures"}, {"severity", "page"}, {"model", "chat"}}},
         {"annotations", {{"summary", "on: yes:"}, {"runbook_url", "https://example.org/r"}}},
         {"startsAt", "2026-11-30T11:59:05.678Z"},
         {"endsAt", "2026-11-30T12:04:05.678Z"},
         {"generatorURL", "https://o.example/#/e"},
         {"fingerprint", body["alerts"][1]["fingerprint"]}}}}};
  EXPECT_EQ(body, want);
  for (const json& item : body["alerts"]) {
    const std::string fingerprint = item["fingerprint"];
    EXPECT_EQ(fingerprint.size(), 16U);
    EXPECT_EQ(fingerprint.find_first_not_of("0123456789abcdef"), std::string::npos);
  }
  EXPECT_NE(body["alerts"][0]["fingerprint"], body["alerts"][1]["fingerprint"]);
}

TEST(WebhookBody, TheFingerprintIsAlertmanagersOwn) {
  AlertMessage good;  // As a real Alertmanager 0.25 lists it.
  good.labels = {{"alertname", "good6"}};
  EXPECT_EQ(body_of(message({good}))["alerts"][0]["fingerprint"], "5e3f73ce685434fd");
}

// E7: each alert says its own status; the whole is resolved only if all are.
TEST(WebhookBody, IsResolvedOnlyWhenEveryAlertIs) {
  const AlertMessage firing = alert("a");
  const AlertMessage resolved = alert("b", AlertStatus::resolved);
  EXPECT_EQ(body_of(message({resolved, firing}))["status"], "firing");
  EXPECT_EQ(body_of(message({resolved, resolved}))["status"], "resolved");
  EXPECT_EQ(body_of(message({resolved, firing}), 1)["status"], "firing");  // The cut one fires.
}

TEST(WebhookBody, AlertsBeyondTheLimitAreCounted) {
  const Message told = message({alert("a"), alert("b"), alert("c")});
  EXPECT_EQ(body_of(told, 2)["alerts"].size(), 2U);
  EXPECT_EQ(body_of(told, 2)["truncatedAlerts"], 1);
  EXPECT_EQ(body_of(told, 3)["truncatedAlerts"], 0);
  EXPECT_EQ(body_of(told, 0)["alerts"].size(), 3U);
  EXPECT_EQ(body_of(told, 1)["commonLabels"]["model"], "a");
}

TEST(WebhookBody, HostileTextComesOutAsItWentIn) {
  AlertMessage evil = alert("x");
  const std::string text = "\"}],\"status\":\"resolved\"\n\x01 on: yes: 😀 </script>";
  evil.labels.set("model", text);
  evil.annotations.set("description", "bad \xFF\xC0\xA7");
  const json item = body_of(message({evil}))["alerts"][0];
  EXPECT_EQ(item["labels"]["model"], text);
  evil.labels.set("model", "\xFF");  // The fingerprint is that of the labels as they are told.
  AlertMessage repaired = evil;
  repaired.labels.set("model", "\xEF\xBF\xBD");
  EXPECT_EQ(body_of(message({evil}))["alerts"], body_of(message({repaired}))["alerts"]);
  EXPECT_EQ(item["annotations"]["description"], "bad \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

class WebhookTest : public ::testing::Test {
 protected:
  WebhookTest() {
    settings.url = "https://hooks.example.org/llm?key=canary";
    secrets.values["file:/hook"] = "s3cr3t";
  }
  SendResult send(const Message& told) {
    return WebhookReceiver(settings, client, secrets, [this] { return now; }).send(told);
  }

  WebhookSettings settings;
  ScriptedClient client;
  ScriptedSecrets secrets;
  Timestamp now = kNow;
};

TEST_F(WebhookTest, PostsOnceWithTheKeyOfTheMessage) {
  settings.access.bearer_token = {SecretRef::Kind::env, "TOKEN"};
  settings.timeout = 3s;
  const Message told = message({alert("judge")});
  const SendResult result = send(told);
  EXPECT_EQ(result.outcome, Outcome::delivered);
  ASSERT_EQ(client.requests.size(), 1U);
  const HttpRequest& request = client.requests[0];
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.url, settings.url);
  EXPECT_EQ(request.timeout, Duration(3s));
  EXPECT_EQ(request.same_host_redirects, 0);
  EXPECT_EQ(request.access.bearer_token.name, "TOKEN");
  EXPECT_EQ(request.body, webhook_body(told, 0));
  EXPECT_EQ(header_of(request, "Content-Type"), "application/json");
  EXPECT_EQ(header_of(request, "Idempotency-Key"), told.idempotency_key);
  EXPECT_EQ(header_of(request, "X-Outcomed-Signature"), "");
  EXPECT_EQ(secrets.reads, 0);
}

TEST_F(WebhookTest, EveryAttemptCarriesTheSameKeyAndBody) {
  client.once(Error{ErrorKind::timeout, "timed out"});
  const Message told = message({alert("judge")});
  EXPECT_EQ(send(told).outcome, Outcome::retry);
  now += 1min;
  EXPECT_EQ(send(told).outcome, Outcome::delivered);
  EXPECT_EQ(client.requests[0].body, client.requests[1].body);
  EXPECT_EQ(header_of(client.requests[0], "Idempotency-Key"),
            header_of(client.requests[1], "Idempotency-Key"));
}

TEST_F(WebhookTest, TheSignatureCoversTimestampAndBody) {
  settings.hmac_secret = {SecretRef::Kind::file, "/hook"};
  send(message({alert("judge")}));
  const HttpRequest& request = client.requests.at(0);
  EXPECT_EQ(header_of(request, "X-Outcomed-Timestamp"), "1796040245");
  EXPECT_EQ(header_of(request, "X-Outcomed-Signature"),
            *hmac_sha256_hex("s3cr3t", "1796040245:" + request.body));
}

TEST_F(WebhookTest, ARotatedSecretCountsAtTheNextAttempt) {
  settings.hmac_secret = {SecretRef::Kind::file, "/hook"};
  WebhookReceiver receiver(settings, client, secrets, [this] { return now; });
  receiver.send(message({alert("judge")}));
  secrets.values["file:/hook"] = "rotated";
  receiver.send(message({alert("judge")}));
  EXPECT_EQ(header_of(client.requests.at(1), "X-Outcomed-Signature"),
            *hmac_sha256_hex("rotated", "1796040245:" + client.requests[1].body));
}

TEST_F(WebhookTest, WithoutAReadableSecretNothingIsSentAndItIsTriedAgain) {
  settings.hmac_secret = {SecretRef::Kind::file, "/gone"};
  SendResult result = send(message({alert("judge")}));
  EXPECT_EQ(result.outcome, Outcome::retry);
  EXPECT_EQ(result.detail, "hmac_secret: file:/gone: no such file");
  settings.hmac_secret = {SecretRef::Kind::file, "/hook"};
  secrets.values["file:/hook"] = "";
  result = send(message({alert("judge")}));
  EXPECT_EQ(result.outcome, Outcome::retry);
  EXPECT_THAT(result.detail, HasSubstr("file:/hook is empty"));
  EXPECT_THAT(client.requests, IsEmpty());
}

TEST_F(WebhookTest, ResolvedAlertsAreLeftOutWhereTheyAreNotWanted) {
  settings.send_resolved = false;
  const SendResult quiet = send(message({alert("a", AlertStatus::resolved)}));
  EXPECT_EQ(quiet.outcome, Outcome::delivered);
  EXPECT_EQ(quiet.detail, "not sent: send_resolved is off");
  EXPECT_THAT(client.requests, IsEmpty());
  send(message({alert("a", AlertStatus::resolved), alert("b")}));
  const json body = json::parse(client.requests.at(0).body);
  EXPECT_EQ(body["alerts"].size(), 1U);
  EXPECT_EQ(body["alerts"][0]["labels"]["model"], "b");
  EXPECT_EQ(send(message({})).outcome, Outcome::delivered);
}

TEST_F(WebhookTest, AKeyCanNotAddAHeader) {
  Message told = message({alert("judge")});
  told.idempotency_key = "a\r\nX-Evil: 1" + std::string(1000, 'k');
  send(told);
  const std::string key = header_of(client.requests.at(0), "Idempotency-Key");
  EXPECT_EQ(key.find_first_of("\r\n "), std::string::npos);
  EXPECT_LE(key.size(), 255U);
  told.idempotency_key.clear();
  send(told);
  EXPECT_EQ(client.requests.at(1).headers.size(), 1U);
}

TEST_F(WebhookTest, AnAnswerNeverShowsTheUrlOrTheSecret) {
  settings.hmac_secret = {SecretRef::Kind::file, "/hook"};
  client.once(ScriptedClient::response(500, "oops"));
  client.once(Error{ErrorKind::unavailable, "POST https://hooks.example.org/…: refused"});
  for (int i = 0; i < 2; ++i) {
    const SendResult result = send(message({alert("judge")}));
    EXPECT_THAT(result.detail, Not(HasSubstr("canary")));
    EXPECT_THAT(result.detail, Not(HasSubstr("s3cr3t")));
  }
}

TEST(WebhookSettings, DeclareEverySettingOnceAndExplainIt) {
  WebhookSettings settings;
  settings.url = "https://h";
  testing::SettingsVisitor visitor;
  settings.visit(visitor);
  EXPECT_TRUE(visitor.all_explained);
  EXPECT_THAT(visitor.problems, IsEmpty());
  for (const char* name : {"url", "hmac_secret", "timeout", "max_alerts", "send_resolved",
                           "bearer_token", "tls.ca_file"}) {
    EXPECT_THAT(visitor.names, Contains(name));
  }
}

TEST(WebhookSettings, AMissingUrlAndAnAbsurdTimeoutAreProblems) {
  WebhookSettings settings;
  settings.timeout = 0s;
  testing::SettingsVisitor visitor;
  settings.visit(visitor);
  EXPECT_THAT(visitor.problems, ElementsAre("url", "timeout"));
}

TEST(Digests, EqualThePublishedVectors) {
  EXPECT_EQ(*sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(*sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  // RFC 4231, cases 2 and 6.
  EXPECT_EQ(*hmac_sha256_hex("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(*hmac_sha256_hex(std::string(131, '\xaa'),
                             "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

// Through the real client, to a server that behaves badly.
class WebhookOverHttp : public ::testing::Test {
 protected:
  WebhookOverHttp() : client(secrets) {
    settings.url = server.url("/hook");
    settings.timeout = 20s;
  }
  SendResult send() {
    return WebhookReceiver(settings, client, secrets, [] { return kNow; })
        .send(message({alert("judge")}));
  }

  FaultyServer server;
  ScriptedSecrets secrets;
  CurlClient client;
  WebhookSettings settings;
};

TEST_F(WebhookOverHttp, TheReceiverGetsKeySignatureAndBody) {
  secrets.values["file:/hook"] = "s3cr3t";
  settings.hmac_secret = {SecretRef::Kind::file, "/hook"};
  EXPECT_EQ(send().detail, "HTTP 200");
  const auto requests = server.requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].header("content-type"), "application/json");
  EXPECT_EQ(requests[0].header("idempotency-key"), message({alert("judge")}).idempotency_key);
  EXPECT_EQ(requests[0].header("x-outcomed-signature"),
            *hmac_sha256_hex("s3cr3t", std::string(requests[0].header("x-outcomed-timestamp")) +
                                           ":" + requests[0].body));
  EXPECT_EQ(json::parse(requests[0].body)["version"], "4");
}

// Answers are stored and shown.
TEST_F(WebhookOverHttp, AnAnswerThatRepeatsOurSecretsIsKeptWithoutThem) {
  secrets.values = {{"file:/hook", "s3cr3t"}, {"file:/token", "t0ken"}};
  settings.url = server.url("/services/T0?key=1");
  settings.hmac_secret = {SecretRef::Kind::file, "/hook"};
  settings.access.bearer_token = {SecretRef::Kind::file, "/token"};
  server.reply_by([](const testing::ReceivedRequest& request) {
    return Reply::with_status(400, "POST " + request.target + ": bad token " +
                                       std::string(request.header("authorization")) +
                                       ", key s3cr3t");
  });
  EXPECT_EQ(send().detail, "HTTP 400: POST ***: bad token Bearer ***, key ***");
}

TEST_F(WebhookOverHttp, ThrottlingWithRetryAfterIsTold) {  // E1
  server.reply_once(Reply::too_many_requests("2"));
  const SendResult result = send();
  EXPECT_EQ(result.outcome, Outcome::retry);
  EXPECT_TRUE(result.throttled);
  EXPECT_EQ(result.retry_after, Duration(2s));
  EXPECT_EQ(send().outcome, Outcome::delivered);
}

TEST_F(WebhookOverHttp, ARedirectIsNotFollowed) {
  for (const int status : {301, 302, 303, 307, 308}) {
    server.reply_once(Reply::redirect(status, server.url("/elsewhere")));
    EXPECT_EQ(send().outcome, Outcome::rejected) << status;
  }
  for (const auto& request : server.requests()) EXPECT_EQ(request.path(), "/hook");
}

TEST_F(WebhookOverHttp, EveryKindOfBrokenConnectionIsTriedAgain) {
  settings.timeout = 300ms;
  for (const Reply& reply : {Reply::hang(), Reply::hang_after_headers(), Reply::reset(),
                             Reply::reset_after_headers(), Reply::close(), Reply::truncated("x"),
                             Reply::raw("garbage\r\n\r\n"), Reply::with_status(503)}) {
    server.reply_with(reply);
    const SendResult result = send();
    EXPECT_EQ(result.outcome, Outcome::retry) << result.detail;
    EXPECT_FALSE(result.detail.empty());
    EXPECT_THAT(result.detail, Not(HasSubstr("/hook")));
  }
  server.refuse();
  EXPECT_EQ(send().outcome, Outcome::retry);
}

TEST_F(WebhookOverHttp, ALongAnswerToAnAcceptedNotificationIsNoFailure) {
  server.reply_with(Reply::huge(5 * 1024 * 1024));
  EXPECT_EQ(send().outcome, Outcome::delivered);
  server.reply_with(Reply::with_status(204));
  EXPECT_EQ(send().outcome, Outcome::delivered);
}

}  // namespace
}  // namespace outcomed
