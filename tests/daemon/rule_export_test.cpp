// `rules export` on the LiteLLM preset against the engine's judgement, run by a real promtool: one
// model for every exception the gateway's counters can carry.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <span>

#include "alerts/rule_export/yaml_text.h"
#include "queries/error_class.h"
#include "queries/failure_side.h"
#include "queries/litellm/classify.h"
#include "tests/alerts/peer_process.h"
#include "tests/support/command_answer.h"
#include "tests/support/litellm_exceptions.h"

namespace outcomed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string config_with(const std::string& rules) {
  return "sources: {rec: {kind: recording, path: pages}}\n"
         "presets: [{litellm: {metrics: rec, step: 10m, version: 1.106.12, private: "
         "[\"private/*\"]}}]\n"
         "receivers: [{name: hooks}]\n"
         "rules:\n" +
         rules;
}

testing::Answer export_of(const testing::ScratchFolder& folder, const std::string& rules) {
  return testing::run_command(
      {"rules", "export", "--config", folder.write("c.yaml", config_with(rules))});
}

std::string rule(const std::string& name, const std::string& signal, const std::string& by,
                 const std::string& matchers = "") {
  return fmt::format(
      "- {{name: {}, kind: share, signal: {}, by: [{}], matchers: [{}], above: 1%, window: 10m, "
      "min_requests: 1, min_failures: 1}}\n",
      name, signal, by, matchers);
}

struct Exception {
  std::string name;  // As the series has it; "None" is no name to the engine.
  std::string status;

  [[nodiscard]] std::string model() const { return fmt::format("{} {}", name, status); }
  [[nodiscard]] std::string_view known_name() const {
    return name == "None" ? std::string_view() : name;
  }
  [[nodiscard]] std::string_view error_class() const {
    return litellm::classify(known_name(), status);
  }
  [[nodiscard]] std::string_view cause() const {
    return litellm::refusal_cause(known_name(), status);
  }
  [[nodiscard]] bool reached_provider() const {
    return litellm::reached_provider(known_name(), status);
  }
};

std::vector<Exception> all_exceptions() {
  std::vector<Exception> all;
  for (const std::string& name : testing::exception_classes()) {
    for (const std::string& status : testing::exception_statuses()) all.push_back({name, status});
  }
  return all;
}

// The labels that the engine's alert has for a model with this failure only; nothing: no alert.
using Expected = std::function<std::optional<Labels>(const Exception&)>;

// A test file of promtool: every exception rises in both counters, and these alerts fire.
class ExceptionTests {
 public:
  void expect(const std::string& alert, const Expected& expected) {
    alerts_.emplace_back(alert, expected);
  }
  [[nodiscard]] std::string text(const std::string& rules_file) const {
    std::string text =
        fmt::format("rule_files: [{}]\nevaluation_interval: 10m\ntests:\n", rules_file);
    // promtool loads ten thousand samples for a query at most.
    constexpr std::size_t kBatch = 100;
    const std::vector<Exception> all = all_exceptions();
    for (std::size_t i = 0; i < all.size(); i += kBatch) {
      text += test_of(std::span(all).subspan(i, std::min(kBatch, all.size() - i)));
    }
    return text;
  }

 private:
  [[nodiscard]] std::string test_of(std::span<const Exception> exceptions) const {
    std::string text = "  - interval: 1m\n    input_series:\n";
    for (const Exception& exception : exceptions) {
      for (const std::string_view metric : {"litellm_proxy_failed_requests_metric_total",
                                            "litellm_deployment_failure_responses_total"}) {
        const Labels labels = {{"requested_model", exception.model()},
                               {"exception_class", exception.name},
                               {"exception_status", exception.status}};
        text += fmt::format("      - series: {}\n        values: '0+10x10'\n",
                            yaml_string(fmt::format("{}{}", metric, labels.to_string())));
      }
    }
    text += "    promql_expr_test:\n";
    for (const auto& [alert, expected] : alerts_) text += check_of(alert, expected, exceptions);
    return text;
  }
  static std::string check_of(const std::string& alert, const Expected& expected,
                              std::span<const Exception> exceptions) {
    std::string text = fmt::format(
        "      - expr: 'ALERTS{{alertname=\"{}\",alertstate=\"firing\"}}'\n"
        "        eval_time: 10m\n        exp_samples: [",
        alert);
    for (const Exception& exception : exceptions) {
      std::optional<Labels> labels = expected(exception);
      if (!labels) continue;
      labels->set("model", exception.model());
      labels->set("alertname", alert);
      labels->set("alertstate", "firing");
      labels->set("severity", "page");
      labels->set("__name__", "ALERTS");
      text += fmt::format("{{labels: {}, value: 1}}, ", yaml_string(labels->to_string()));
    }
    return text + "]\n";
  }

  std::vector<std::pair<std::string, Expected>> alerts_;
};

bool is_neutral(const Exception& exception) {
  return failure_side::is_callers_error(exception.error_class());
}

Labels with(std::string_view label, std::string_view value) {
  return {{std::string(label), std::string(value)}};
}

TEST(LitellmRuleExport, FiresForExactlyTheExceptionsThatTheEngineCounts) {
  OUTCOMED_NEED_PEER(promtool, "promtool");
  std::string rules;
  ExceptionTests tests;
  const auto add = [&](const std::string& name, const std::string& signal, const std::string& by,
                       const std::string& matchers, const Expected& expected) {
    rules += rule(name, signal, by, matchers);
    tests.expect(name, expected);
  };
  const auto when = [](auto test) {
    return [test](const Exception& e) { return test(e) ? std::optional(Labels()) : std::nullopt; };
  };
  add("all", "requests", "model", "", when([](const Exception& e) { return !is_neutral(e); }));
  add("split", "requests", "model, error_class", "", [](const Exception& e) {
    return is_neutral(e) ? std::nullopt : std::optional(with("error_class", e.error_class()));
  });
  using namespace error_class;  // NOLINT: names of the classes only.
  for (const std::string_view error_class :
       {kInvalidRequest, kPolicyRejection, kAuthentication, kModelNotFound, kRateLimited,
        kQuotaExhausted, kProviderUnavailable, kDeadlineExceeded, kOutputInvalid, kRouterRefusal,
        kUnknown}) {
    add("only_" + std::string(error_class), "requests", "model",
        fmt::format("'error_class=\"{}\"'", error_class),
        when([error_class](const Exception& e) { return e.error_class() == error_class; }));
  }
  add("others", "requests", "model, error_class", R"('error_class!~"rate_limited|unknown"')",
      [](const Exception& e) {
        const std::string_view found = e.error_class();
        return found == kRateLimited || found == kUnknown
                   ? std::nullopt
                   : std::optional(with("error_class", found));
      });
  add("refused", "refusals", "model, cause", "", [](const Exception& e) {
    return e.cause().empty() ? std::nullopt : std::optional(with("cause", e.cause()));
  });
  add("capped", "refusals", "model", R"('cause="deployment_cap"')",
      when([](const Exception& e) { return e.cause() == "deployment_cap"; }));
  const auto provider_failed = [](const Exception& e) {
    return e.reached_provider() && failure_side::is_provider_failure(e.error_class());
  };
  add("attempts", "provider", "model", "", when(provider_failed));
  add("provider_side", "absorption", "model", R"('side="provider"')", when(provider_failed));
  for (const std::string_view side :
       {failure_side::kRefused, failure_side::kRejected, failure_side::kPassedOn}) {
    add("side_" + std::string(side), "absorption", "model, side",
        fmt::format("'side=\"{}\"'", side), [side](const Exception& e) {
          const bool here = failure_side::of_failure(e.error_class(), !e.cause().empty()) == side;
          return here && !is_neutral(e) ? std::optional(with("side", side)) : std::nullopt;
        });
  }
  const testing::ScratchFolder folder;
  const auto exported = export_of(folder, rules);
  ASSERT_EQ(exported.status, ExitStatus::ok) << exported.err;
  EXPECT_EQ(exported.err, "");
  const std::string rules_file = folder.write("rules.yml", exported.out);
  const auto run = testing::run_peer(
      {*promtool, "test", "rules", folder.write("tests.yml", tests.text(rules_file))});
  EXPECT_EQ(run.status, 0) << run.output.substr(0, 20'000);
}

TEST(LitellmRuleExport, SharesOfAttemptsAreOfWhatReachedAProvider) {
  const testing::ScratchFolder folder;
  const auto exported = export_of(folder, rule("attempts", "provider", "model"));
  const std::string counter = "increase(litellm_deployment_failure_responses_total";
  EXPECT_THAT(exported.out, HasSubstr(counter + R"({exception_class=~".*[.][^.]*")"));
  EXPECT_THAT(exported.out, Not(HasSubstr(counter + "[10m]")));
}

TEST(LitellmRuleExport, NamesTheRulesThatPromqlCanNotSay) {
  const testing::ScratchFolder folder;
  const auto exported =
      export_of(folder, rule("never", "requests", "model", R"('error_class="no_such_class"')") +
                            rule("left", "leaks", "model") + rule("all", "requests", "model"));
  EXPECT_EQ(exported.status, ExitStatus::ok);
  EXPECT_THAT(exported.err, HasSubstr("rule never: no failure can match it"));
  EXPECT_THAT(exported.err, HasSubstr("rule left: signal leaks chooses series in a way"));
  EXPECT_THAT(exported.out, HasSubstr("alert: \"all\""));
  EXPECT_THAT(exported.out, Not(HasSubstr("never")));
}

}  // namespace
}  // namespace outcomed
