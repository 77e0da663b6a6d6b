#include "daemon/rule_terms.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "detectors/share/share.h"
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

std::vector<ExportMapping> mappings_of(const CounterTerm& term, const std::vector<std::string>& by,
                                       bool splits_classes) {
  std::vector<ExportMapping> mappings;
  for (const std::string& label : by) {
    if (label == "error_class" || series_label(label, term) == label) continue;
    mappings.push_back({label, series_label(label, term), "(.*)", "$1"});
  }
  if (!splits_classes) return mappings;
  for (const litellm::LabelMapping& m : litellm::error_class_mappings()) {
    mappings.push_back({m.target, m.source, m.regex, m.replacement});
  }
  return mappings;
}

struct TermWriter {
  const RuleConfig& rule;
  const SignalPlan& plan;
  bool of_litellm;
  int divisor;

  // Matchers on error_class, or else the neutral classes negated.
  [[nodiscard]] Matchers class_matchers() const {
    Matchers matchers;
    for (const Matcher& matcher : rule.matchers) {
      if (matcher.name() == "error_class") matchers.push_back(matcher);
    }
    if (!matchers.empty()) return matchers;
    for (const Matcher& neutral : plan.neutral) {
      const auto op =
          neutral.op() == Matcher::Op::match ? Matcher::Op::not_match : Matcher::Op::match;
      matchers.push_back(*Matcher::make(neutral.name(), op, neutral.value()));
    }
    return matchers;
  }

  [[nodiscard]] ExportTerm term(const CounterTerm& counter, bool as_failures) const {
    Selector selector = counter.selector;
    for (const Matcher& matcher : rule.matchers) {
      if (matcher.name() == "error_class") continue;
      if (contains(plan.failure_labels, matcher.name()) && !as_failures) continue;
      const std::string name = of_litellm ? series_label(matcher.name(), counter) : matcher.name();
      selector.matchers.push_back(*Matcher::make(name, matcher.op(), matcher.value()));
    }
    if (as_failures && of_litellm) {
      const Matchers classes = class_matchers();
      if (!classes.empty()) selector.matchers.push_back(litellm::exception_matcher(classes));
    }
    ExportTerm out;
    out.selector = selector.to_string();
    out.sign = as_failures ? 1 : counter.sign;
    out.divisor = counter.calibrated ? divisor : 1;
    const bool splits = of_litellm && as_failures && contains(rule.by, "error_class");
    if (of_litellm) out.labels = mappings_of(counter, rule.by, splits);
    return out;
  }
};

Status check_writable(const RuleConfig& rule, const SignalPlan& plan, bool of_litellm) {
  const auto fail = [&](std::string_view why) {
    return Error{ErrorKind::unsupported, fmt::format("rule {}: {}", rule.name, why)};
  };
  if (rule.kind != "share") return fail("only rules of kind share can be written as PromQL");
  if (plan.terms.empty()) return fail("its signal has no counters");
  for (const std::string_view label : {"cause"}) {
    if (of_litellm && contains(rule.by, label)) {
      return fail(fmt::format("label {} is made of two labels and can't be written", label));
    }
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
  const TermWriter writer{rule, plan, of_litellm, divisor};
  for (const CounterTerm& term : plan.terms) {
    if (term.counts_k) out.failures.push_back(writer.term(term, true));
    if (term.counts_n) out.requests.push_back(writer.term(term, false));
  }
  out.unit = plan.unit;
  out.outcome = plan.outcome;
  return out;
}

}  // namespace outcomed
