#include "daemon/rule_terms.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "detectors/share/share.h"
#include "queries/failure_side.h"
#include "queries/litellm/promql.h"

namespace outcomed {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// The series' label that holds a label of the preset's signal, in one counter.
std::string series_label(const std::string& label, const CounterTerm& term) {
  if (label == "model") {
    // The fallback counter is read twice: taken from the substitute, given to the model asked for.
    return term.sign < 0 ? "fallback_model" : "requested_model";
  }
  if (label == "deployment") return "model_id";
  if (label == "provider") return "api_provider";
  return label;
}

// Labels that the preset makes of a failure's exception, or of the counter itself (side). Series
// have none of that name.
bool is_made(std::string_view label) {
  return label == "error_class" || label == "cause" || label == failure_side::kLabel;
}

// Writes a term of the preset as selectors. What they take, and what a made label says there, is
// found by asking the term's own rule about exceptions of every kind, so both say the same.
class TermWriter {
 public:
  TermWriter(const RuleConfig& rule, const SignalPlan& plan, int divisor)
      : rule_(rule), plan_(plan), divisor_(divisor) {
    keeps_neutral_ = std::ranges::any_of(rule.matchers, [&](const Matcher& matcher) {
      return std::ranges::any_of(
          plan.neutral, [&](const Matcher& neutral) { return neutral.name() == matcher.name(); });
    });
  }

  // One for each selector that is needed and each value of the made labels in `by`; none where no
  // series of the counter is meant.
  [[nodiscard]] std::vector<ExportTerm> terms(const CounterTerm& counter, bool as_failures) const {
    std::vector<std::string> made;
    for (const std::string& label : rule_.by) {
      const bool splits = as_failures || !contains(plan_.failure_labels, label);
      if (is_made(label) && splits) made.push_back(label);
    }
    std::set<Labels> values;
    for (const auto& [exception, status] : litellm::exception_samples()) {
      const auto labels = meant(counter, as_failures, exception, status);
      if (labels) values.insert(labels->project(made));
    }
    std::vector<ExportTerm> terms;
    for (const Labels& value : values) {
      const auto selectors =
          litellm::exception_selectors([&](std::string_view exception, std::string_view status) {
            const auto labels = meant(counter, as_failures, exception, status);
            return labels && labels->project(made) == value;
          });
      for (const Matchers& exceptions : selectors) {
        terms.push_back(term(counter, as_failures, exceptions));
        for (const std::string& label : made) {
          terms.back().labels.push_back({label, "", "", std::string(value.get(label))});
        }
      }
    }
    return terms;
  }

 private:
  // The labels that the engine gives a series of this exception; nothing where it leaves it out.
  [[nodiscard]] std::optional<Labels> meant(const CounterTerm& counter, bool as_failures,
                                            std::string_view exception,
                                            std::string_view status) const {
    auto labels = counter.labels(
        {{"exception_class", std::string(exception)}, {"exception_status", std::string(status)}});
    if (!labels) return std::nullopt;
    const bool neutral = !plan_.neutral.empty() && all_match(plan_.neutral, *labels);
    if (as_failures && neutral && !keeps_neutral_) return std::nullopt;
    const bool matches = std::ranges::all_of(rule_.matchers, [&](const Matcher& matcher) {
      return !is_made(matcher.name()) || !applies(matcher, as_failures) || matcher.matches(*labels);
    });
    if (!matches) return std::nullopt;
    return labels;
  }

  [[nodiscard]] bool applies(const Matcher& matcher, bool as_failures) const {
    return as_failures || !contains(plan_.failure_labels, matcher.name());
  }

  [[nodiscard]] ExportTerm term(const CounterTerm& counter, bool as_failures,
                                const Matchers& exceptions) const {
    Selector selector = counter.selector;
    for (const Matcher& matcher : rule_.matchers) {
      if (is_made(matcher.name()) || !applies(matcher, as_failures)) continue;
      selector.matchers.push_back(
          *Matcher::make(series_label(matcher.name(), counter), matcher.op(), matcher.value()));
    }
    selector.matchers.insert(selector.matchers.end(), exceptions.begin(), exceptions.end());
    ExportTerm out;
    out.selector = selector.to_string();
    out.sign = as_failures ? 1 : counter.sign;
    out.divisor = counter.calibrated ? divisor_ : 1;
    for (const std::string& label : rule_.by) {
      const std::string source = series_label(label, counter);
      if (source != label) out.labels.push_back({label, source, "(.*)", "$1"});
    }
    return out;
  }

  const RuleConfig& rule_;
  const SignalPlan& plan_;
  int divisor_;
  bool keeps_neutral_ = false;  // The rule speaks of what is neutral.
};

// A counter of a signal of the user's own, read as it stands.
ExportTerm plain_term(const RuleConfig& rule, const SignalPlan& plan, const CounterTerm& counter,
                      bool as_failures) {
  Selector selector = counter.selector;
  for (const Matcher& matcher : rule.matchers) {
    if (!as_failures && contains(plan.failure_labels, matcher.name())) continue;
    selector.matchers.push_back(matcher);
  }
  ExportTerm out;
  out.selector = selector.to_string();
  out.sign = as_failures ? 1 : counter.sign;
  return out;
}

// Whether labels other than the exception decide what the signal counts: private groups and hosts.
bool asks_other_labels(const SignalPlan& plan) {
  const auto samples = litellm::exception_samples();
  return std::ranges::any_of(plan.terms, [&](const CounterTerm& term) {
    return std::ranges::none_of(samples, [&](const auto& sample) {
      return term
          .labels({{"exception_class", std::string(sample.first)},
                   {"exception_status", std::string(sample.second)}})
          .has_value();
    });
  });
}

Status check_writable(const RuleConfig& rule, const SignalPlan& plan, bool of_litellm) {
  const auto fail = [&](std::string_view why) {
    return Error{ErrorKind::unsupported, fmt::format("rule {}: {}", rule.name, why)};
  };
  if (rule.kind != "share") return fail("only rules of kind share can be written as PromQL");
  if (plan.terms.empty()) return fail("its signal has no counters");
  if (of_litellm && asks_other_labels(plan)) {
    return fail(fmt::format("signal {} chooses series in a way that PromQL can't", plan.name));
  }
  return ok();
}

}  // namespace

Result<ExportRule> export_rule(const RuleConfig& rule, const SignalPlan& plan, bool of_litellm,
                               int divisor) {
  if (const Status status = check_writable(rule, plan, of_litellm); !status) return status.error();
  const auto& detector = static_cast<const ShareDetector&>(*rule.detector);  // kind is share
  ExportRule out;
  out.name = rule.name;
  out.below = detector.is_below();
  for (std::size_t i = 0; i < detector.tiers().size(); ++i) {
    out.tiers.push_back({detector.line(i), detector.tiers()[i].hold, detector.tiers()[i].severity});
  }
  out.window = detector.params().window;
  out.step = plan.step;
  out.keep_firing = rule.keep_firing_for;
  out.resolve_line =
      detector.is_below() ? detector.params().resolve_above : detector.params().resolve_below;
  out.min_requests = detector.params().min_requests;
  out.min_failures = detector.params().min_failures;
  out.labels = rule.labels;
  out.annotations = rule.annotations;
  out.by = rule.by;
  for (const std::string& label : rule.by) {
    if (contains(plan.failure_labels, label)) out.failure_labels.push_back(label);
  }
  const TermWriter writer(rule, plan, divisor);
  const auto add = [&](std::vector<ExportTerm>& to, const CounterTerm& term, bool as_failures) {
    if (!of_litellm) {
      to.push_back(plain_term(rule, plan, term, as_failures));
      return;
    }
    for (ExportTerm& each : writer.terms(term, as_failures)) to.push_back(std::move(each));
  };
  for (const CounterTerm& term : plan.terms) {
    if (term.counts_k) add(out.failures, term, true);
    if (term.counts_n) add(out.requests, term, false);
  }
  if (out.failures.empty() || out.requests.empty()) {
    return Error{
        ErrorKind::unsupported,
        fmt::format("rule {}: no failure can match it, so there is nothing to write", rule.name)};
  }
  out.unit = plan.unit;
  out.outcome = plan.outcome;
  return out;
}

}  // namespace outcomed
