#include <fmt/format.h>
#include <gtest/gtest.h>

#include "alerts/rule_export/expression.h"
#include "alerts/rule_export/rule_export.h"
#include "tests/alerts/promtool_test.h"

namespace outcomed {
namespace {

using testing::checkout_rule;
using testing::counter;
using testing::promtool_verdict;
using testing::PromtoolTest;
using testing::run_peer;
using testing::ScratchFolder;

TEST(RuleExport, TextOfUsersIsLiteralInEveryField) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.by = {"model"};
  rule.labels = {{"team", "on: yes: {{ $labels.model }}"}, {"note", "#1 \"a\\b\" 'c' \t\xC2\x85é"}};
  rule.annotations = {{"runbook_url", "https://example.org/{{x}}?a=b&c={{{"},
                      {"bad",
                       "a\xFF"
                       "b\n"}};
  PromtoolTest test;
  test.series(R"(http_requests_total{model="m {{ $value }}",code="500"})", "0+10x60")
      .series(R"(http_requests_total{model="m {{ $value }}",code="200"})", "0+30x60")
      .alert_test(R"yaml(
      - eval_time: 30m
        alertname: checkout_failures
        exp_alerts:
          - exp_labels:
              severity: page
              model: "m {{ $value }}"
              team: "on: yes: {{ $labels.model }}"
              note: "#1 \"a\\b\" 'c' \t\x85é"
            exp_annotations:
              summary: "checkout_failures: model=m {{ $value }} (page)"
              description: "25% of requests failed in the last 10m; the line is 10%."
              runbook_url: "https://example.org/{{x}}?a=b&c={{{"
              bad: "a\uFFFDb\n"
)yaml");
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
}

TEST(RuleExport, NoRulesAreAValidFile) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  const ScratchFolder folder;
  const auto text = export_prometheus({});
  ASSERT_TRUE(text);
  const auto check = run_peer({*promtool, "check", "rules", folder.write("rules.yml", *text)});
  EXPECT_EQ(check.status, 0) << check.output;
}

TEST(RuleExport, NamesMayHoldWhatTheConfigurationAllows) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  for (const std::string name : {"gw {x}", "{{ $labels.model }}", "a: b # \"c\" 'd'", "ünïcode"}) {
    ExportRule rule = checkout_rule();
    rule.name = name;
    const ScratchFolder folder;
    const auto text = export_prometheus({rule});
    ASSERT_TRUE(text) << text.error().message;
    const auto check = run_peer({*promtool, "check", "rules", folder.write("rules.yml", *text)});
    EXPECT_EQ(check.status, 0) << check.output << *text;
  }
}

TEST(RuleExport, SaysWhichRuleCanNotBeWrittenAndWhy) {
  const auto message_of = [](auto change) {
    ExportRule rule = checkout_rule();
    change(rule);
    const auto result = export_prometheus({rule});
    return result ? std::string("written") : result.error().message;
  };
  const auto expect = [&](auto change, std::string_view part) {
    EXPECT_NE(message_of(change).find(part), std::string::npos) << message_of(change);
  };
  expect([](ExportRule& r) { r.name = ""; }, "it has no name");
  expect([](ExportRule& r) { r.window = 0s; }, R"(rule "checkout_failures": the window)");
  expect([](ExportRule& r) { r.step = 0s; }, "the step");
  expect([](ExportRule& r) { r.keep_firing = -1s; }, "keep_firing_for");
  expect([](ExportRule& r) { r.tiers.clear(); }, "no threshold");
  expect([](ExportRule& r) { r.tiers[0].threshold = std::nan(""); }, "not a number");
  expect([](ExportRule& r) { r.tiers[0].hold = -1s; }, "`for`");
  expect([](ExportRule& r) { r.failures.clear(); }, "no failure counters");
  expect([](ExportRule& r) { r.requests.clear(); }, "no request counters");
  expect([](ExportRule& r) { r.failures[0].selector = "rate(x[5m])"; }, "failures: ");
  expect([](ExportRule& r) { r.requests[0].selector = "x} or vector(1"; }, "requests: ");
  expect([](ExportRule& r) { r.failures[0].sign = 2; }, "sign");
  expect([](ExportRule& r) { r.failures[0].divisor = 0; }, "divisor");
  expect([](ExportRule& r) { r.failures[0].labels = {{"a-b", "c"}}; }, "not label names");
  expect([](ExportRule& r) { r.failures[0].labels = {{"a", "b", "("}}; }, "regular expression");
  expect([](ExportRule& r) { r.by = {"a\") or vector(1"}; }, "not a label name");
  expect([](ExportRule& r) { r.by = {"a", "a"}; }, "listed twice");
  expect([](ExportRule& r) { r.by = {"severity"}; }, "needs the label \"severity\"");
  expect([](ExportRule& r) { r.labels = {{"a b", "c"}}; }, "not a label name");
  expect([](ExportRule& r) { r.annotations = {{"a b", "c"}}; }, "not a label name");
}

}  // namespace
}  // namespace outcomed
