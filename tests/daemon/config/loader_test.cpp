#include "daemon/config/loader.h"

#include <gtest/gtest.h>

#include "daemon/config/default_rules.h"
#include "detectors/share/share.h"
#include "tests/daemon/config/test_catalogs.h"

namespace outcomed {
namespace {

using testing::load_text;

// The example of the documentation, without the parts that come later.
constexpr std::string_view kExample = R"yaml(sources:
  prom:
    kind: prometheus                  # prometheus | exposition | postgres | recording
    url: http://127.0.0.1:9090
    delay: 30s                        # a minute is judged this long after its end
  gateway:
    kind: exposition                  # no Prometheus needed
    url: http://127.0.0.1:4000/metrics
    scrape_interval: 15s
    bearer_token: env:LITELLM_METRICS_KEY

presets:
  - litellm:
      metrics: prom
      version: auto
      private: ["private/*"]

signals:
  checkout:
    source: prom
    failures: 'http_requests_total{code=~"5.."}'
    requests: 'http_requests_total'
    labels: [model]

rules:
  - name: gateway_failures
    kind: share
    signal: requests
    above: 10%
    window: 1h
    for: 15m
    min_failures: 11                            # in the window
    severity: page
    annotations: {runbook_url: "https://example.org/runbooks/gateway"}
  - name: model_failures
    kind: share
    signal: requests
    by: [model, error_class]                    # default: no split
    matchers: ['team!="qa"']
    tiers:
      - {above: 5%,  for: 15m, severity: ticket}
      - {above: 30%, for: 5m,  severity: page}
    window: 1h
    min_requests: 20
    resolve_below: 4%
    keep_firing_for: 5m

receivers:
  - name: oncall
    alertmanager: {urls: ["http://127.0.0.1:9093"]}
  - name: hooks
    webhook: {url: "https://hooks.example.org/llm", hmac_secret: cred:hook_secret}

route:                                          # Alertmanager's tree
  receiver: oncall
  group_by: [rule]
  routes:
    - {matchers: ['severity="ticket"'], receiver: hooks}

store: {sqlite: /var/lib/outcomed/history.db}
http:  {listen: 127.0.0.1:9469}
)yaml";

TEST(Loader, LoadsTheExampleOfTheDocumentationWithoutProblems) {
  const LoadedConfig loaded = load_text(kExample);
  EXPECT_EQ(to_text(loaded.problems), "");
  EXPECT_EQ(to_text(loaded.notes), "");
  const Config& config = loaded.config;

  ASSERT_EQ(config.sources.size(), 2U);
  EXPECT_EQ(config.sources[0].name, "prom");
  EXPECT_EQ(config.sources[0].delay, 30s);
  const auto* prom = settings_as<testing::MetricsServer>(*config.sources[0].settings);
  ASSERT_NE(prom, nullptr);
  EXPECT_EQ(prom->url, "http://127.0.0.1:9090");
  const auto* page = settings_as<testing::MetricsPage>(*config.sources[1].settings);
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->access.bearer_token.to_string(), "env:LITELLM_METRICS_KEY");

  ASSERT_TRUE(config.litellm);
  EXPECT_EQ(config.litellm->private_groups, std::vector<std::string>{"private/*"});
  ASSERT_NE(config.signal("requests"), nullptr);
  EXPECT_EQ(config.signal("requests")->source, "prom");
  const SignalPlan* checkout = config.signal("checkout");
  ASSERT_NE(checkout, nullptr);
  ASSERT_EQ(checkout->terms.size(), 2U);
  EXPECT_EQ(checkout->terms[0].selector.to_string(), "http_requests_total{code=~\"5..\"}");
  EXPECT_TRUE(checkout->terms[0].counts_k);
  EXPECT_FALSE(checkout->terms[0].counts_n);
  EXPECT_EQ(checkout->terms[1].selector.to_string(), "http_requests_total");
  EXPECT_TRUE(checkout->terms[1].counts_n);
  EXPECT_FALSE(checkout->terms[1].counts_k);
  EXPECT_EQ(checkout->terms[0].labels(Labels{{"model", "a"}}), (Labels{{"model", "a"}}));

  ASSERT_EQ(config.rules.size(), 2U);
  EXPECT_FALSE(config.default_rules);
  EXPECT_EQ(config.rules[0].annotations.get("runbook_url"), "https://example.org/runbooks/gateway");
  EXPECT_EQ(config.rules[1].by, (std::vector<std::string>{"model", "error_class"}));
  EXPECT_EQ(config.rules[1].keep_firing_for, 5min);
  const auto& gateway = dynamic_cast<const ShareDetector&>(*config.rules[0].detector).params();
  EXPECT_EQ(gateway.tiers.at(0).above, 0.1);
  EXPECT_EQ(gateway.min_failures, 11);
  const auto& tiers = config.rules[1].detector->tiers();
  ASSERT_EQ(tiers.size(), 2U);
  EXPECT_EQ(tiers[0].severity, "ticket");
  EXPECT_EQ(tiers[0].hold, 15min);
  EXPECT_EQ(tiers[1].threshold, 0.3);

  ASSERT_EQ(config.receivers.size(), 2U);
  const auto* hook = settings_as<WebhookSettings>(*config.receivers[1].parts.at(0).settings);
  ASSERT_NE(hook, nullptr);
  EXPECT_EQ(hook->hmac_secret.to_string(), "cred:hook_secret");
  ASSERT_TRUE(config.route);
  EXPECT_EQ(config.route->routes.at(0).receiver, "hooks");
  EXPECT_EQ(config.store.sqlite, "/var/lib/outcomed/history.db");
  EXPECT_EQ(config.http.listen, "127.0.0.1:9469");
}

constexpr std::string_view kGateway = R"yaml(
sources: {prom: {kind: prometheus, url: "http://127.0.0.1:9090"}}
presets: [{litellm: {metrics: prom}}]
)yaml";

TEST(Loader, UsesTheBuiltInRulesWhereThereAreNone) {
  const LoadedConfig loaded = load_text(kGateway);
  EXPECT_EQ(to_text(loaded.problems), "");
  EXPECT_TRUE(loaded.config.default_rules);
  std::vector<std::string> names;
  for (const RuleConfig& rule : loaded.config.rules) names.push_back(rule.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"gateway_failures", "fast_failures", "model_failures",
                                      "fallback_share", "caller_errors", "rate_limited",
                                      "whose_failures", "provider_errors", "provider_timeouts"}));
  EXPECT_EQ(loaded.config.rules[0].file, "built-in rules");
  EXPECT_EQ(loaded.config.rules[5].detector->tiers().size(), 3U);
}

TEST(Loader, ShortRetentionIsNoProblemOfRulesThatAreSavedThemselves) {
  const LoadedConfig loaded =
      load_text(std::string(kGateway) + "store: {retention: {buckets: 7d}}\n");
  EXPECT_EQ(to_text(loaded.problems), "");
}

TEST(Loader, AnEmptyListOfRulesIsMeantAndNoted) {
  const LoadedConfig loaded = load_text(std::string(kGateway) + "rules: []\n");
  EXPECT_EQ(to_text(loaded.problems), "");
  EXPECT_TRUE(loaded.config.rules.empty());
  EXPECT_EQ(to_text(loaded.notes),
            "outcomed.yaml: receivers: there are none: nobody will be told; write receivers: and "
            "route:\n"
            "outcomed.yaml: rules: there are none: nothing will be judged; write rules:\n");
}

TEST(Loader, BuiltInRulesOfSignalsThatAreNotThereAreLeftOut) {
  const LoadedConfig loaded = load_text(R"yaml(
sources: {rec: {kind: recording, path: /data/x.csv}}
signals: {provider: {source: rec, labels: [model, provider], failure_labels: [error_class]}}
)yaml");
  EXPECT_EQ(to_text(loaded.problems), "");
  ASSERT_EQ(loaded.config.rules.size(), 2U);
  EXPECT_EQ(loaded.config.rules[0].name, "provider_errors");
}

TEST(Loader, BuiltInRulesThatDoNotFitASignalOfTheUsersOwnAreLeftOutAndNoted) {
  const LoadedConfig loaded = load_text(R"yaml(
sources: {rec: {kind: recording, path: /data/x.csv}}
signals: {requests: {source: rec, labels: [team]}}
)yaml");
  EXPECT_EQ(to_text(loaded.problems), "");
  std::vector<std::string> names;
  for (const RuleConfig& rule : loaded.config.rules) names.push_back(rule.name);
  EXPECT_EQ(names, std::vector<std::string>{"gateway_failures"});
  EXPECT_NE(to_text(loaded.notes).find("this built-in rule is left out: "), std::string::npos)
      << to_text(loaded.notes);
}

TEST(Loader, ASingleReceiverNeedsNoRoute) {
  const LoadedConfig loaded = load_text(std::string(kGateway) + "receivers: [{name: oncall}]\n");
  EXPECT_EQ(to_text(loaded.problems), "");
  EXPECT_EQ(to_text(loaded.notes), "");
  ASSERT_TRUE(loaded.config.route);
  EXPECT_EQ(loaded.config.route->receiver, "oncall");
}

TEST(Loader, NotesReceiversNoRouteLeadsTo) {
  const LoadedConfig loaded = load_text(std::string(kGateway) +
                                        "receivers: [{name: a}, {name: b}, {name: c}]\n"
                                        "route: {receiver: a, routes: [{matchers: [severity=page], "
                                        "receiver: c}, {continue: true}]}\n");
  EXPECT_EQ(to_text(loaded.problems), "");
  EXPECT_EQ(
      to_text(loaded.notes),
      "outcomed.yaml:4:24: receivers: no route leads to b; name it in a route, or remove it\n");
}

TEST(Loader, NotesAWindowOfASingleStep) {
  const LoadedConfig loaded =
      load_text(std::string(kGateway) +
                "receivers: [{name: a}]\n"
                "rules: [{name: r, kind: share, signal: requests, above: 5%, window: 1m}]\n");
  EXPECT_EQ(to_text(loaded.problems), "");
  EXPECT_EQ(
      to_text(loaded.notes),
      "outcomed.yaml:5:69: rules[0].window: 1m holds a single step of signal requests; two or "
      "more steps make a steadier share\n");
}

TEST(Loader, RulesOfLongStepsMayLookBackAsFarAsLongBucketsAreKept) {
  const auto load_window = [](std::string_view window) {
    return to_text(load_text("sources: {rec: {kind: recording, path: /x.csv}}\n"
                             "signals: {daily: {source: rec, step: 1d}}\n"
                             "rules: [{name: r, kind: share, signal: daily, above: 5%, window: " +
                             std::string(window) + "}]\n")
                       .problems);
  };
  EXPECT_EQ(load_window("300d"), "");
  EXPECT_EQ(
      load_window("400d"),
      "outcomed.yaml:3:66: rules[0].window: looks back 401d, and buckets are kept 400d; shorten "
      "it, or raise store.retention.long_buckets\n");
}

TEST(Loader, AStoredTextLoadsAsTheFilesDid) {
  const LoadedConfig first = load_text(kGateway);
  const LoadedConfig again =
      load_config_text(first.text, "outcomed.yaml", testing::test_catalogs());
  EXPECT_EQ(to_text(again.problems), "");
  EXPECT_EQ(again.text, first.text);
  EXPECT_EQ(again.hash, first.hash);
  EXPECT_TRUE(again.config.default_rules);
  EXPECT_EQ(again.config.rules.size(), first.config.rules.size());
  EXPECT_NE(first.text.find(default_rules_text()), std::string::npos);
}

TEST(Loader, TheHashIsSha256OfTheText) {
  // printf 'rules: []\n' | sha256sum
  const LoadedConfig loaded = load_text("rules: []\n");
  EXPECT_EQ(loaded.text, "rules: []\n");
  EXPECT_EQ(loaded.hash, "e0dfa70eb69d47fe9cb2be8a4fcd53e74cf7fe26fcbb1f06912b57a9c028e4e0");
}

TEST(Loader, TheIdentityOfARuleIsWhatItsMemoryDependsOn) {
  const auto identity = [](std::string_view rule) {
    const LoadedConfig loaded =
        load_text(std::string(kGateway) + "rules: [{name: a, kind: share, signal: requests, " +
                  std::string(rule) + "}]\n");
    EXPECT_EQ(to_text(loaded.problems), "");
    return loaded.config.rules.at(0).identity();
  };
  const std::string base = identity("above: 10%");
  EXPECT_EQ(base, identity("above: 0.1, window: 60m"));
  EXPECT_EQ(base, identity("above: 10%, for: 15m, severity: ticket, keep_firing_for: 5m"));
  EXPECT_EQ(base, identity("above: 10%, labels: {team: x}, annotations: {a: b}"));
  EXPECT_NE(base, identity("above: 10%, window: 30m"));
  EXPECT_NE(base, identity("above: 10%, by: [model]"));
  EXPECT_NE(base, identity("above: 10%, matchers: ['model=\"x\"']"));
  EXPECT_NE(base, identity("above: 11%"));
  EXPECT_NE(base.find("memory=1\n"), std::string::npos) << base;
  EXPECT_NE(base, identity("above: 10%, min_failures: 2"));
}

}  // namespace
}  // namespace outcomed
