#include "alerts/rule_export/rule_export.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "alerts/rule_export/expression.h"
#include "tests/alerts/promtool_test.h"

namespace outcomed {
namespace {

using testing::checkout_rule;
using testing::counter;
using testing::promtool_verdict;
using testing::PromtoolTest;
using testing::run_peer;
using testing::ScratchFolder;

TEST(RuleExport, FiresAfterForAndNotBeforeAndNotBelowTheLine) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  // From minute 20 on 20 of 100 a minute fail: the 10-minute share passes 10 % at minute 26
  // (120 of 1000), so `for: 2m` fires at 28. At 8 of 100 it never does.
  PromtoolTest bad;
  bad.series(R"(http_requests_total{code="200"})", "0+100x20 2080+80x40")
      .series(R"(http_requests_total{code="503"})", "0+0x20 20+20x40")
      .quiet(19, "checkout_failures")
      .quiet(27, "checkout_failures")
      .fires(28, "checkout_failures", {{{"severity", "page"}}})
      .fires(60, "checkout_failures", {{{"severity", "page"}}});
  PromtoolTest fair;
  fair.series(R"(http_requests_total{code="200"})", "0+92x60")
      .series(R"(http_requests_total{code="503"})", "0+8x60")
      .quiet(30, "checkout_failures")
      .quiet(60, "checkout_failures");
  EXPECT_EQ(promtool_verdict(*promtool, {checkout_rule()}, {bad, fair}), "");
}

TEST(RuleExport, AShareOnTheLineDoesNotFireAndOneAboveItDoes) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  PromtoolTest on_the_line;
  on_the_line.series(R"(http_requests_total{code="200"})", "0+90x60")
      .series(R"(http_requests_total{code="500"})", "0+10x60")
      .quiet(60, "checkout_failures");
  PromtoolTest above;
  above.series(R"(http_requests_total{code="200"})", "0+89x60")
      .series(R"(http_requests_total{code="500"})", "0+11x60")
      .fires(60, "checkout_failures", {{{"severity", "page"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {checkout_rule()}, {on_the_line, above}), "");
}

TEST(RuleExport, ResolvesWhenTheShareIsBackAndFiresAgainLater) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  PromtoolTest test;
  test.series(R"(http_requests_total{code="200"})", "0+50x20 1100+100x30 4050+50x30")
      .series(R"(http_requests_total{code="503"})", "0+50x20 1000+0x30 1050+50x30")
      .fires(20, "checkout_failures", {{{"severity", "page"}}})
      .quiet(40, "checkout_failures")
      .fires(70, "checkout_failures", {{{"severity", "page"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {checkout_rule()}, {test}), "");
}

TEST(RuleExport, TooFewFailuresOrRequestsKeepItQuiet) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.min_failures = 11;
  rule.min_requests = 20;
  PromtoolTest few_failures;  // 10 of 100 in each window; the share would do with min_failures 10.
  few_failures.series(R"(http_requests_total{code="200"})", "0+5x60")
      .series(R"(http_requests_total{code="500"})", "0+1x60")
      .quiet(60, "checkout_failures");
  PromtoolTest few_requests;  // 15 of 15.
  few_requests.series(R"(http_requests_total{code="500"})", "0 1 3 4 6 7 9 10 12 13 15 15 15 15 15")
      .quiet(12, "checkout_failures");
  PromtoolTest enough;  // 20 of 50.
  enough.series(R"(http_requests_total{code="200"})", "0+3x60")
      .series(R"(http_requests_total{code="500"})", "0+2x60")
      .fires(60, "checkout_failures", {{{"severity", "page"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {few_failures, few_requests, enough}), "");
}

TEST(RuleExport, FailuresWithoutAnySuccessSeriesAreOneHundredPercent) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule two_counters = checkout_rule();  // Requests are successes and failures, apart.
  two_counters.failures = {counter("failed_total")};
  two_counters.requests = {counter("succeeded_total"), counter("failed_total")};
  ExportRule own_total = checkout_rule();  // Requests have a counter of their own.
  own_total.failures = {counter("failed_total")};
  own_total.requests = {counter("asked_total")};
  for (const ExportRule& rule : {two_counters, own_total}) {
    PromtoolTest test;
    test.series("failed_total", "0+5x60").fires(30, "checkout_failures", {{{"severity", "page"}}});
    EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
  }
}

TEST(RuleExport, AFailureLabelSplitsFailuresAndNotRequests) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.by = {"model", "error_class"};
  rule.failure_labels = {"error_class"};
  rule.failures = {counter("failed_total")};
  rule.requests = {counter("asked_total")};
  PromtoolTest test;  // judge: 30 % rate_limited, 5 % timeout of 100 requests; chat: 1 %.
  test.series(R"(asked_total{model="judge"})", "0+100x60")
      .series(R"(asked_total{model="chat"})", "0+100x60")
      .series(R"(failed_total{model="judge",error_class="rate_limited"})", "0+30x60")
      .series(R"(failed_total{model="judge",error_class="timeout"})", "0+5x60")
      .series(R"(failed_total{model="chat",error_class="timeout"})", "0+1x60")
      .fires(30, "checkout_failures",
             {{{"severity", "page"}, {"model", "judge"}, {"error_class", "rate_limited"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
}

TEST(RuleExport, AFailureLabelAloneIsHeldAgainstAllRequests) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.by = {"error_class"};
  rule.failure_labels = {"error_class"};
  rule.failures = {counter("failed_total")};
  rule.requests = {counter("asked_total")};
  PromtoolTest test;
  test.series(R"(asked_total{model="judge"})", "0+50x60")
      .series(R"(asked_total{model="chat"})", "0+50x60")
      .series(R"(failed_total{model="judge",error_class="timeout"})", "0+7x60")
      .series(R"(failed_total{model="chat",error_class="timeout"})", "0+7x60")
      .series(R"(failed_total{model="chat",error_class="rate_limited"})", "0+9x60")
      .fires(30, "checkout_failures", {{{"severity", "page"}, {"error_class", "timeout"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
}

TEST(RuleExport, MappedLabelsMayCollideWithLabelsOfTheSeries) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  // The signal's `model` is the series' `requested_model`; the series has a `model` of its own, in
  // which the two differ. Writing in place would make two series equal and the query fail.
  ExportRule rule = checkout_rule();
  rule.by = {"model", "error_class"};
  rule.failure_labels = {"error_class"};
  const ExportMapping model{"model", "requested_model"};
  ExportTerm failed = counter("failed_total");
  failed.labels = {model,
                   {"error_class", "", "", "unknown"},
                   {"error_class", "exception_status", "429", "rate_limited"}};
  ExportTerm asked = counter("asked_total");
  asked.labels = {model};
  rule.failures = {failed};
  rule.requests = {asked};
  PromtoolTest test;
  test.series(R"(asked_total{model="a",requested_model="judge"})", "0+50x60")
      .series(R"(asked_total{model="b",requested_model="judge"})", "0+50x60")
      .series(R"(failed_total{model="a",requested_model="judge",exception_status="429"})", "0+8x60")
      .series(R"(failed_total{model="b",requested_model="judge",exception_status="429"})", "0+8x60")
      .series(R"(failed_total{model="b",requested_model="judge",exception_status="502"})", "0+7x60")
      .series(R"(failed_total{model="a",requested_model="judge",exception_status="501"})", "0+7x60")
      .fires(30, "checkout_failures",
             {{{"severity", "page"}, {"model", "judge"}, {"error_class", "rate_limited"}},
              {{"severity", "page"}, {"model", "judge"}, {"error_class", "unknown"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
}

TEST(RuleExport, TermsAreAddedTakenOffAndDivided) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  // (40 − 10) / 2 = 15 of 100 fail: above 10 %. Counted twice or without the subtraction it would
  // be above 20 %, too; that is what the second rule would notice.
  ExportRule rule = checkout_rule();
  ExportTerm all = counter("failed_total");
  all.divisor = 2;
  ExportTerm callers = counter(R"(failed_total{status="400"})");
  callers.divisor = 2;
  callers.sign = -1;
  rule.by = {"model"};
  rule.failures = {all, callers};
  rule.requests = {counter("asked_total")};
  ExportRule higher = rule;
  higher.name = "higher";
  higher.tiers[0].threshold = 0.16;
  PromtoolTest test;
  test.series(R"(asked_total{model="m"})", "0+100x60")
      .series(R"(failed_total{model="m",status="400"})", "0+10x60")
      .series(R"(failed_total{model="m",status="502"})", "0+30x60")
      // Only callers' errors: none are left.
      .series(R"(asked_total{model="q"})", "0+100x60")
      .series(R"(failed_total{model="q",status="400"})", "0+90x60")
      .fires(30, "checkout_failures", {{{"severity", "page"}, {"model", "m"}}})
      .quiet(30, "higher");
  EXPECT_EQ(promtool_verdict(*promtool, {rule, higher}, {test}), "");
}

TEST(RuleExport, BelowFiresWhenNothingPassesAnyMore) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.name = "pass_share";
  rule.below = true;
  rule.tiers = {{0.5, 0min, "ticket"}};
  rule.by = {"feed"};
  rule.min_requests = 20;
  rule.failures = {counter("passed_total")};
  rule.requests = {counter("scored_total")};
  PromtoolTest test;
  test.series(R"(scored_total{feed="none"})", "0+10x60")  // No series of passes at all.
      .series(R"(scored_total{feed="low"})", "0+10x60")
      .series(R"(passed_total{feed="low"})", "0+4x60")
      .series(R"(scored_total{feed="half"})", "0+10x60")
      .series(R"(passed_total{feed="half"})", "0+5x60")
      .series(R"(scored_total{feed="few"})", "0+1x60")
      .series(R"(scored_total{feed="idle"})", "7+0x60")
      .fires(
          30, "pass_share",
          {{{"severity", "ticket"}, {"feed", "none"}}, {{"severity", "ticket"}, {"feed", "low"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
}

TEST(RuleExport, EachTierIsAnAlertOfItsOwn) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.tiers = {{0.05, 5min, "ticket"}, {0.3, 1min, "page"}};
  PromtoolTest mild;
  mild.series(R"(http_requests_total{code="200"})", "0+90x60")
      .series(R"(http_requests_total{code="500"})", "0+10x60")
      .fires(40, "checkout_failures", {{{"severity", "ticket"}}});
  PromtoolTest grave;
  grave.series(R"(http_requests_total{code="200"})", "0+50x60")
      .series(R"(http_requests_total{code="500"})", "0+50x60")
      .fires(40, "checkout_failures", {{{"severity", "ticket"}}, {{"severity", "page"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {mild, grave}), "");
}

TEST(RuleExport, KeepFiringForIsUnderstood) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.window = 2min;
  rule.tiers[0].hold = 0min;
  rule.keep_firing = 10min;
  PromtoolTest test;  // Failures end at minute 20; the window is clean at 22.
  test.series(R"(http_requests_total{code="200"})", "0+50x20 1100+100x40")
      .series(R"(http_requests_total{code="503"})", "0+50x20 1000+0x40")
      .fires(20, "checkout_failures", {{{"severity", "page"}}})
      .fires(30, "checkout_failures", {{{"severity", "page"}}})
      .quiet(35, "checkout_failures");
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
}

TEST(RuleExport, ARestartOfTheGatewayIsNoNegativeNumber) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  PromtoolTest test;  // Both counters start anew at minute 30; the share stays 20 %.
  test.series(R"(http_requests_total{code="200"})", "0+80x29 80+80x30")
      .series(R"(http_requests_total{code="503"})", "0+20x29 20+20x30");
  for (int minute = 12; minute <= 55; ++minute) {
    test.fires(minute, "checkout_failures", {{{"severity", "page"}}});
  }
  EXPECT_EQ(promtool_verdict(*promtool, {checkout_rule()}, {test}), "");
}

TEST(RuleExport, LabelsOfTheGroupAreNotOverwrittenByThoseOfTheRule) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule rule = checkout_rule();
  rule.by = {"model"};
  rule.labels = {{"model", "mine"}, {"alertname", "mine"}, {"severity", "mine"}};
  PromtoolTest test;
  test.series(R"(http_requests_total{model="a",code="500"})", "0+10x60")
      .fires(30, "checkout_failures", {{{"severity", "page"}, {"model", "a"}}});
  EXPECT_EQ(promtool_verdict(*promtool, {rule}, {test}), "");
}

TEST(RuleExport, RulesOfDifferentStepsAreGroupsOfTheirOwn) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  ExportRule daily = checkout_rule();
  daily.name = "daily";
  daily.step = 24h;
  daily.window = 14 * 24h;
  const auto text = export_prometheus({checkout_rule(), daily});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find("- name: outcomed-1m\n    interval: 1m\n"), std::string::npos);
  EXPECT_NE(text->find("- name: outcomed-1d\n    interval: 1d\n"), std::string::npos);
  EXPECT_NE(text->find("[14d]"), std::string::npos);
  EXPECT_EQ(promtool_verdict(*promtool, {checkout_rule(), daily}, {}), "");
}

TEST(RuleExport, VmalertReadsTheSameFile) {
  OUTCOMED_NEED_PEER(vmalert, "vmalert");
  ExportRule rule =
      checkout_rule();  // Without keep_firing_for, which Debian's vmalert is too old for.
  rule.by = {"model", "error_class"};
  rule.failure_labels = {"error_class"};
  rule.failures = {counter("failed_total"), counter(R"(failed_total{a="b"})")};
  rule.failures[0].labels = {{"model", "requested_model"}};
  rule.requests = {counter("asked_total")};
  const ScratchFolder folder;
  const auto text = export_prometheus({rule, checkout_rule()});
  ASSERT_TRUE(text);
  const auto check = run_peer({*vmalert, "-dryRun", "-rule=" + folder.write("rules.yml", *text)});
  EXPECT_EQ(check.status, 0) << check.output << *text;
}

TEST(RuleExport, APlainRuleReadsAsAPersonWouldWriteIt) {
  const auto text = export_prometheus({checkout_rule()});
  ASSERT_TRUE(text);
  EXPECT_NE(text->find(R"(        expr: |-
          (sum (increase(http_requests_total{code=~"5.."}[10m])) >= 1)
          /
          (sum (increase(http_requests_total[10m])) >= 1)
          > 0.1
        for: 2m
        labels:
          severity: "page"
)"),
            std::string::npos)
      << *text;
}

TEST(RuleExport, TheLineForResolvingIsNamedAsLeftOut) {
  ExportRule rule = checkout_rule();
  rule.resolve_line = 0.04;
  EXPECT_NE(export_prometheus({rule})->find("# resolve_below 4% has no equivalent"),
            std::string::npos);
  rule.below = true;
  EXPECT_NE(export_prometheus({rule})->find("# resolve_above 4% has no equivalent"),
            std::string::npos);
}

}  // namespace
}  // namespace outcomed
