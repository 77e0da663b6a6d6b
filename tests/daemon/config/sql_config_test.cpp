// Signals of databases, with the plugins that this build has.
#include <gtest/gtest.h>

#include <algorithm>

#include "daemon/config/loader.h"
#include "daemon/plugins.h"

namespace outcomed {
namespace {

constexpr std::string_view kLedger =
    "sources: {ledger: {kind: postgres, host: 127.0.0.1, dbname: litellm, user: outcomed, "
    "password: "
    "cred:ledger_password}, prom: {kind: prometheus, url: 'http://127.0.0.1:9090'}}\n";

LoadedConfig load(const std::string& text) {
  return load_config_text(std::string(kLedger) + text, "outcomed.yaml", catalogs());
}

std::string first_problem(const LoadedConfig& loaded) {
  return loaded.problems.empty() ? "" : loaded.problems.front().message;
}

TEST(SqlConfig, ReadsTheExampleOfTheReference) {
  const LoadedConfig loaded = load(R"(
signals:
  judge_pass:
    source: ledger
    step: 1d
    time_zone: Europe/Moscow
    sql: |                                      # columns at, n, k, then labels
      select date_trunc('day', scored_at) as at, count(*) as n, count(*) filter (where score >= 7) as k, feed
      from scores where scored_at >= :from and scored_at < :to group by 1, feed
rules:
  - {name: feed, kind: share, signal: judge_pass, by: [feed], below: 50%, window: 2d}
)");
  EXPECT_EQ(first_problem(loaded), "");
  const SignalPlan* plan = loaded.config.signal("judge_pass");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->labels, std::vector<std::string>{"feed"});
  EXPECT_EQ(plan->anchor, 21h);
  ASSERT_NE(plan->zone, nullptr);
  // Local midnight, not UTC's.
  EXPECT_EQ(begin_of_step(*plan, from_unix_ms(1'796'040'000'000)), from_unix_ms(1'795'986'000'000));
}

TEST(SqlConfig, AnchorsDaysAtStandardTime) {
  for (const auto& [zone, anchor] : {std::pair<std::string, Duration>{"Europe/Berlin", 23h},
                                     {"America/New_York", 5h},
                                     {"Australia/Sydney", 14h},
                                     {"Asia/Kolkata", 18h + 30min},
                                     {"UTC", 0h}}) {
    const LoadedConfig loaded =
        load("signals: {s: {source: ledger, step: 1d, time_zone: " + zone +
             ", sql: 'select at, n, k from t where at >= :from and at < :to'}}\n");
    ASSERT_NE(loaded.config.signal("s"), nullptr);
    EXPECT_EQ(loaded.config.signal("s")->anchor, anchor) << zone;
  }
  EXPECT_NE(first_problem(load("signals: {s: {source: ledger, step: 1d, time_zone: Mars/Base, sql: "
                               "'select at, n, k from t where at >= :from and at < :to'}}\n"))
                .find("is no time zone"),
            std::string::npos);
}

TEST(SqlConfig, OffersTheSignalsOfTheDatabase) {
  const auto names = [](const std::string& preset) {
    std::vector<std::string> found;
    for (const SignalPlan& plan : load("presets: [{litellm: {" + preset + "}}]\n").config.signals) {
      found.push_back(plan.name);
    }
    return found;
  };
  EXPECT_EQ(names("spend: ledger"),
            (std::vector<std::string>{"requests", "fallbacks", "absorption", "reasoning", "probes",
                                      "probe_spend", "wasted_spend", "wasted_tokens", "spend"}));
  const std::vector<std::string> both = names("metrics: prom, spend: ledger, private: [\"p/*\"]");
  for (const std::string name :
       {"requests", "requests_by_rows", "reasoning", "probes", "spend", "leaks", "leaks_by_rows"}) {
    EXPECT_EQ(std::ranges::count(both, name), 1) << name;
  }
}

TEST(SqlConfig, HasRulesForWhatTheLedgerShowsAndNoOthers) {
  const auto rules = [](const std::string& preset) {
    const LoadedConfig loaded = load("presets: [{litellm: {" + preset + "}}]\n");
    EXPECT_EQ(to_text(loaded.problems), "");
    std::vector<std::string> found;
    for (const RuleConfig& rule : loaded.config.rules) found.push_back(rule.name);
    return found;
  };
  EXPECT_EQ(
      rules("spend: ledger"),
      (std::vector<std::string>{"gateway_failures", "fast_failures", "model_failures",
                                "fallback_share", "caller_errors", "rate_limited", "probe_spend",
                                "wasted_spend", "cost_per_success", "whose_failures"}));
  const auto has = [&](const std::string& preset, const std::string& rule) {
    return std::ranges::count(rules(preset), rule) == 1;
  };
  EXPECT_TRUE(has("spend: ledger, no_reasoning: [batch]", "unwanted_reasoning"));
  EXPECT_FALSE(has("spend: ledger", "unwanted_reasoning"));
  const std::string with_private = "spend: ledger, private: [\"p/*\"]";
  EXPECT_TRUE(has(with_private, "private_data_left"));
  EXPECT_FALSE(has(with_private, "private_requests_left"));
  EXPECT_TRUE(has("metrics: prom, " + with_private, "private_data_left"));
  EXPECT_TRUE(has("metrics: prom, " + with_private, "private_requests_left"));
  EXPECT_FALSE(has("metrics: prom", "probe_spend"));
}

TEST(SqlConfig, SettingsOfSpendRowsNeedThem) {
  for (const std::string setting : {"no_reasoning: [batch]", "finish_reasons: true"}) {
    EXPECT_NE(
        to_text(load("presets: [{litellm: {metrics: prom, " + setting + "}}]\n").problems)
            .find("is read from the gateway's spend tables, and none are given; name a source "
                  "of kind postgres: spend: ledger"),
        std::string::npos)
        << setting;
  }
}

}  // namespace
}  // namespace outcomed
