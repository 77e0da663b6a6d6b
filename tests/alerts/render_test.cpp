#include "alerts/render.h"

#include <gtest/gtest.h>

#include "alerts/text.h"

namespace outcomed {
namespace {

Episode judge_episode() {
  Episode episode;
  episode.key = {"model_failures", "page", {{"model", "judge"}, {"error_class", "router_refusal"}}};
  episode.labels = {{"team", "llm"}};
  episode.onset = from_unix_ms(1'796'005'800'000);
  episode.pending_at = from_unix_ms(1'796'005'860'000);
  episode.fired_at = from_unix_ms(1'796'006'160'000);
  episode.id = episode_id(episode.key, episode.fired_at);
  episode.sentence = "judge: 71 of 77 requests (92 %) failed in the last 10 min; since 12:04 UTC.";
  episode.facts = {{"share", "92.2 %"}, {"normal", "at most 0.4 %"}};
  return episode;
}

Episode resolved_episode() {
  Episode episode = judge_episode();
  episode.resolved_at = from_unix_ms(1'796'007'000'000);
  episode.resolve_reason = "recovered";
  return episode;
}

TEST(Render, AFiringEpisodeSaysRuleGroupSeveritySentenceAndFacts) {
  const AlertMessage message =
      render(judge_episode(), {{"runbook_url", "https://example.org/r"}}, "https://o.example/#/e");
  EXPECT_EQ(message.status, AlertStatus::firing);
  EXPECT_EQ(message.labels, (Labels{{"alertname", "model_failures"},
                                    {"severity", "page"},
                                    {"model", "judge"},
                                    {"error_class", "router_refusal"},
                                    {"team", "llm"}}));
  EXPECT_EQ(message.annotations.get("summary"),
            "model_failures: error_class=router_refusal, model=judge (page)");
  EXPECT_EQ(message.annotations.get("description"), judge_episode().sentence);
  EXPECT_EQ(message.annotations.get("facts"), "share: 92.2 %\nnormal: at most 0.4 %");
  EXPECT_EQ(message.annotations.get("runbook_url"), "https://example.org/r");
  EXPECT_EQ(message.annotations.get("episode"), judge_episode().id);
  EXPECT_EQ(message.starts_at, judge_episode().fired_at);
  EXPECT_EQ(message.ends_at, std::nullopt);
  EXPECT_EQ(message.generator_url, "https://o.example/#/e");
  EXPECT_EQ(message.episode, judge_episode().id);
}

TEST(Render, WhatEndedWithoutARecoverySaysSo) {
  Episode episode = resolved_episode();
  episode.resolve_reason = "too few requests to judge";
  episode.resolve_sentence = "judge: no requests in the last 1h.";
  EXPECT_EQ(render(episode, {}, "").annotations.get("description"),
            "Ended without a recovery: too few requests to judge. judge: no requests in the last "
            "1h.");
  episode.resolve_reason = "recovered";
  EXPECT_EQ(render(episode, {}, "").annotations.get("description"),
            "judge: no requests in the last 1h.");
}

TEST(Render, AResolvedEpisodeSaysWhatBecameOfItAndKeepsItsIdentity) {
  Episode episode = resolved_episode();
  const AlertMessage plain = render(episode, {}, "");
  EXPECT_EQ(plain.status, AlertStatus::resolved);
  EXPECT_EQ(plain.ends_at, episode.resolved_at);
  EXPECT_EQ(plain.labels, render(judge_episode(), {}, "").labels);
  EXPECT_EQ(plain.annotations.get("description"),
            "Resolved: recovered at " + format_rfc3339(*episode.resolved_at) +
                ". It had fired because: " + episode.sentence);
  episode.resolve_sentence = "judge: 0 of 80 requests failed in the last 10 min.";
  EXPECT_EQ(render(episode, {}, "").annotations.get("description"), episode.resolve_sentence);
}

TEST(Render, ATitleWithoutGroupOrSeverityHasNoEmptyParts) {
  EXPECT_EQ(title_of({"gateway_failures", "page", {}}), "gateway_failures (page)");
  EXPECT_EQ(title_of({"gateway_failures", "", {}}), "gateway_failures");
  EXPECT_EQ(title_of({"r", "", {{"model", "m"}}}), "r: model=m");
}

TEST(Render, TheRulesOwnSummaryReplacesOursAndItsDescriptionFollowsTheNumbers) {
  const Labels own = {{"summary", "Judge is down"},
                      {"description", "Call the router team."},
                      {"facts", "mine"},
                      {"episode", "mine"}};
  const AlertMessage message = render(judge_episode(), own, "");
  EXPECT_EQ(message.annotations.get("summary"), "Judge is down");
  EXPECT_EQ(message.annotations.get("description"),
            judge_episode().sentence + "\nCall the router team.");
  EXPECT_EQ(message.annotations.get("facts"), "share: 92.2 %\nnormal: at most 0.4 %");
  EXPECT_EQ(message.annotations.get("episode"), judge_episode().id);
}

TEST(Render, GroupLabelsWinOverTheRulesLabelsAndNeverLeaveTheIdentity) {
  const AlertKey key{
      "r", "page", {{"team", "of the group"}, {"severity", "5"}, {"alertname", "x"}}};
  const Labels labels = labels_of(key, {{"team", "of the rule"}, {"severity", "none"}, {"a", "b"}});
  EXPECT_EQ(labels, (Labels{{"alertname", "r"},
                            {"severity", "page"},
                            {"team", "of the group"},
                            {"exported_severity", "5"},
                            {"exported_alertname", "x"},
                            {"a", "b"}}));
}

TEST(Render, LabelNamesBecomeValidAndTwoGroupLabelsNeverShareOne) {
  const Labels labels = labels_of(
      {"r", "page", {{"error-class", "1"}, {"error_class", "2"}, {"9", "3"}}}, {{"a b", "c"}});
  for (const auto& [name, value] : labels.pairs()) EXPECT_TRUE(is_label_name(name)) << name;
  EXPECT_EQ(labels.pairs().size(), 6U);
  EXPECT_EQ(labels.get("a_b"), "c");
  EXPECT_EQ(labels.get("_9"), "3");
}

TEST(Render, HostileTextIsCopiedAndCanNotPoseAsMore) {
  Episode episode = judge_episode();
  const std::string evil = "x\n{{ $labels }} <script>\xFF\x1B[2J";
  episode.key.group = {{"model", evil}};
  episode.sentence = evil;
  episode.facts = {{"model", "judge\nshare: 0 %"}};
  const AlertMessage message = render(episode, {{"note", evil}}, "javascript:alert(1)");
  const std::string one_lined = "x {{ $labels }} <script>\xEF\xBF\xBD [2J";
  EXPECT_EQ(message.annotations.get("description"), one_lined);
  EXPECT_EQ(message.annotations.get("summary"), "model_failures: model=" + one_lined + " (page)");
  EXPECT_EQ(message.annotations.get("facts"), "model: judge share: 0 %");
  EXPECT_EQ(message.annotations.get("note"), "x\n{{ $labels }} <script>\xEF\xBF\xBD\x1B[2J");
  EXPECT_EQ(message.generator_url, "");
  for (const Labels* labels : {&message.labels, &message.annotations}) {
    EXPECT_EQ(repair_utf8(*labels), *labels);
  }
}

TEST(Render, ValuesThatDifferOnlyInDamagedOrVeryLateBytesStayTwoAlerts) {
  const auto labels_for = [](std::string value) {
    return labels_of({"r", "page", {{"model", std::move(value)}}}, {});
  };
  EXPECT_NE(labels_for("a\xFE"), labels_for("a\xFF"));
  const std::string longest(100'000, 'x');
  EXPECT_NE(labels_for(longest + "1"), labels_for(longest + "2"));
  EXPECT_EQ(labels_for(longest), labels_for(longest));
  EXPECT_LT(labels_for(longest).get("model").size(), 9000U);
}

TEST(Render, LongTextIsCutOnACharacterBorder) {
  Episode episode = judge_episode();
  episode.sentence.clear();
  for (int i = 0; i < 20'000; ++i) episode.sentence += "日";
  episode.facts.assign(1000, {"name", std::string(1000, 'v')});
  const AlertMessage message = render(episode, {}, "");
  for (const char* name : {"description", "facts"}) {
    const std::string text(message.annotations.get(name));
    EXPECT_LE(text.size(), 8192U);
    EXPECT_TRUE(text.ends_with("…"));
    EXPECT_EQ(repair_utf8(text), text);
  }
}

TEST(Render, AnEpisodeWithoutWordsStillHasATitle) {
  Episode episode;
  episode.key.rule = "r";
  const AlertMessage message = render(episode, {}, "");
  EXPECT_EQ(message.labels, (Labels{{"alertname", "r"}}));
  EXPECT_EQ(message.annotations, (Labels{{"summary", "r"}}));
}

TEST(Routing, TheLabelRuleIsASecondNameOfAlertname) {
  EXPECT_EQ(routing_labels_of({{"alertname", "r"}, {"a", "b"}}),
            (Labels{{"alertname", "r"}, {"rule", "r"}, {"a", "b"}}));
  EXPECT_EQ(routing_labels_of({{"alertname", "r"}, {"rule", "group's own"}}).get("rule"),
            "group's own");
}

Message message_of(std::vector<AlertMessage> alerts, std::string receiver = "hooks") {
  return make_message({std::move(receiver), {{"rule", "r"}}, "{}:{rule=\"r\"}"}, std::move(alerts),
                      "https://o.example");
}

TEST(MakeMessage, CarriesTheRoutesWords) {
  const Message message = message_of({render(judge_episode(), {}, "")});
  EXPECT_EQ(message.receiver, "hooks");
  EXPECT_EQ(message.group_key, "{}:{rule=\"r\"}");
  EXPECT_EQ(message.group_labels, (Labels{{"rule", "r"}}));
  EXPECT_EQ(message.external_url, "https://o.example");
  EXPECT_EQ(message.alerts.size(), 1U);
}

TEST(IdempotencyKey, IsTheSameForTheSameNewsAndAnotherForOther) {
  const AlertMessage fired = render(judge_episode(), {}, "");
  const AlertMessage resolved = render(resolved_episode(), {}, "");
  Episode later = judge_episode();
  later.id = "other";
  const AlertMessage other = render(later, {}, "");
  const std::string key = message_of({fired}).idempotency_key;
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(key, message_of({fired}).idempotency_key);
  AlertMessage reworded = fired;  // A reload changed the words: still the same news.
  reworded.annotations.set("summary", "x");
  EXPECT_EQ(key, message_of({reworded}).idempotency_key);
  EXPECT_NE(key, message_of({resolved}).idempotency_key);
  EXPECT_NE(key, message_of({other}).idempotency_key);
  EXPECT_NE(key, message_of({fired}, "oncall").idempotency_key);
  EXPECT_EQ(message_of({fired, other}).idempotency_key, message_of({other, fired}).idempotency_key);
  EXPECT_NE(key, message_of({fired, other}).idempotency_key);
  EXPECT_NE(key, message_of({}).idempotency_key);
}

}  // namespace
}  // namespace outcomed
