// Exported rules, tried out by a real promtool.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "alerts/rule_export/rule_export.h"
#include "alerts/rule_export/yaml_text.h"
#include "tests/alerts/peer_process.h"

namespace outcomed::testing {

inline ExportTerm counter(std::string selector) {
  ExportTerm term;
  term.selector = std::move(selector);
  return term;
}

inline ExportRule checkout_rule() {
  ExportRule rule;
  rule.name = "checkout_failures";
  rule.tiers = {{0.1, 2min, "page"}};
  rule.window = 10min;
  rule.min_requests = 1;
  rule.min_failures = 1;
  rule.failures = {counter(R"(http_requests_total{code=~"5.."})")};
  rule.requests = {counter("http_requests_total")};
  return rule;
}

// A test file of promtool: series in, ALERTS out.
class PromtoolTest {
 public:
  PromtoolTest& series(std::string_view name, std::string_view values) {
    series_ += fmt::format("      - series: {}\n        values: {}\n", yaml_string(name),
                           yaml_string(values));
    return *this;
  }
  // `label_sets`: what fires at this minute, as label sets without alertname and alertstate.
  PromtoolTest& fires(int minute, std::string_view alert, const std::vector<Labels>& label_sets) {
    checks_ += fmt::format(
        "      - expr: 'ALERTS{{alertname=\"{}\",alertstate=\"firing\"}}'\n"
        "        eval_time: {}m\n        exp_samples: [",
        alert, minute);
    for (Labels labels : label_sets) {
      labels.set("alertname", std::string(alert));
      labels.set("alertstate", "firing");
      labels.set("__name__", "ALERTS");
      std::string text = labels.to_string();
      checks_ += fmt::format("{{labels: {}, value: 1}}, ", yaml_string(text));
    }
    checks_ += "]\n";
    return *this;
  }
  PromtoolTest& quiet(int minute, std::string_view alert) { return fires(minute, alert, {}); }
  // Whole alerts, annotations too, as YAML.
  PromtoolTest& alert_test(std::string_view yaml) {
    alert_tests_ += yaml;
    return *this;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("  - interval: 1m\n    input_series:\n{}{}{}", series_,
                       alert_tests_.empty() ? "" : "    alert_rule_test:\n" + alert_tests_,
                       checks_.empty() ? "" : "    promql_expr_test:\n" + checks_);
  }

 private:
  std::string series_;
  std::string checks_;
  std::string alert_tests_;
};

// Empty when the exported rules pass; else what promtool said.
inline std::string promtool_verdict(const std::string& promtool,
                                    const std::vector<ExportRule>& rules,
                                    const std::vector<PromtoolTest>& tests) {
  const auto exported = export_prometheus(rules);
  if (!exported) return exported.error().message;
  const ScratchFolder folder;
  const std::string file = folder.write("rules.yml", *exported);
  const auto check = run_peer({promtool, "check", "rules", "--lint-fatal", file});
  if (check.status != 0) return check.output + *exported;
  std::string text = "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n";
  for (const PromtoolTest& test : tests) text += test.text();
  const auto run = run_peer({promtool, "test", "rules", folder.write("tests.yml", text)});
  return run.status == 0 ? "" : run.output + "\n" + *exported;
}

}  // namespace outcomed::testing
