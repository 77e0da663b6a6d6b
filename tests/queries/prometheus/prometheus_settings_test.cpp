#include <gmock/gmock.h>

#include "queries/prometheus/settings.h"
#include "tests/alerts/settings_visitor.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;

PrometheusSettings settings() {
  PrometheusSettings settings;
  settings.url = "http://prom:9090";
  return settings;
}

TEST(PrometheusSettings, DefaultsAreSoundAndEverySettingIsDeclared) {
  testing::SettingsVisitor visitor;
  PrometheusSettings with = settings();
  with.visit(visitor);
  EXPECT_TRUE(visitor.problems.empty());
  EXPECT_TRUE(visitor.all_explained);
  EXPECT_THAT(visitor.names,
              ::testing::IsSupersetOf({"url", "basic_auth", "bearer_token", "headers", "tls",
                                       "proxy_url", "timeout", "lookback", "matchers", "max_bytes",
                                       "accept_partial", "backfill"}));
}

TEST(PrometheusSettings, WhatCannotWorkIsAProblemOfItsSetting) {
  const auto problems = [](auto change) {
    PrometheusSettings with = settings();
    change(with);
    testing::SettingsVisitor visitor;
    with.visit(visitor);
    EXPECT_TRUE(visitor.all_remedied);
    return visitor.problems;
  };
  using S = PrometheusSettings;
  EXPECT_THAT(problems([](S& s) { s.url += "/?x=1"; }), ElementsAre("url"));
  EXPECT_THAT(problems([](S& s) { s.timeout = 0ms; }), ElementsAre("timeout"));
  EXPECT_THAT(problems([](S& s) { s.lookback = -1s; }), ElementsAre("lookback"));
  EXPECT_THAT(problems([](S& s) { s.max_bytes = 0; }), ElementsAre("max_bytes"));
  EXPECT_THAT(problems([](S& s) { s.backfill = "fast"; }), ElementsAre("backfill"));
  EXPECT_THAT(problems([](S& s) { s.matchers = {*Matcher::parse("__name__=\"x\"")}; }),
              ElementsAre("matchers"));
}

}  // namespace
}  // namespace outcomed
