#include "alerts/rule_export/rule_export.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "alerts/rule_export/expression.h"
#include "alerts/rule_export/yaml_text.h"
#include "alerts/text.h"
#include "queries/base/matcher.h"

namespace outcomed {
namespace {

bool lists(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string check_term(const ExportTerm& term, std::string_view what) {
  if (const auto selector = Selector::parse(term.selector); !selector) {
    return fmt::format("{}: {}", what, selector.error().message);
  }
  if (term.sign != 1 && term.sign != -1) return fmt::format("{}: the sign is 1 or -1", what);
  if (term.divisor < 1) return fmt::format("{}: the divisor must be at least 1", what);
  for (const ExportMapping& mapping : term.labels) {
    if (!is_label_name(mapping.target) ||
        (!mapping.source.empty() && !is_label_name(mapping.source))) {
      return fmt::format("{}: \"{}\" <- \"{}\": not label names", what, mapping.target,
                         mapping.source);
    }
    const auto regex = Matcher::make("x", Matcher::Op::match, mapping.regex);
    if (!regex) return fmt::format("{}: {}", what, regex.error().message);
  }
  return {};
}

std::string check_labels(const ExportRule& rule) {
  std::set<std::string_view> seen;
  for (const std::string& label : rule.by) {
    if (!is_label_name(label)) return fmt::format("by: \"{}\" is not a label name", label);
    if (!seen.insert(label).second) return fmt::format("by: \"{}\" is listed twice", label);
    // The labels of a Prometheus rule overwrite those of the series.
    if (label == "severity" || label == "alertname") {
      return fmt::format("by: Prometheus needs the label \"{}\" for itself", label);
    }
  }
  for (const Labels* labels : {&rule.labels, &rule.annotations}) {
    for (const auto& [name, value] : labels->pairs()) {
      if (!is_label_name(name)) return fmt::format("\"{}\" is not a label name", name);
    }
  }
  return {};
}

// Why a rule can't be written; empty when it can.
std::string check_rule(const ExportRule& rule) {
  if (rule.name.empty()) return "it has no name";
  if (rule.window <= Duration::zero()) return "the window must be longer than zero";
  if (rule.step <= Duration::zero()) return "the step must be longer than zero";
  if (rule.keep_firing < Duration::zero()) return "keep_firing_for must not be negative";
  if (rule.tiers.empty()) return "it has no threshold";
  for (const ExportTier& tier : rule.tiers) {
    if (!std::isfinite(tier.threshold)) return "a threshold is not a number";
    if (tier.hold < Duration::zero()) return "`for` must not be negative";
  }
  if (rule.failures.empty()) return "its signal has no failure counters";
  if (rule.requests.empty()) return "its signal has no request counters";
  for (const ExportTerm& term : rule.failures) {
    if (auto problem = check_term(term, "failures"); !problem.empty()) return problem;
  }
  for (const ExportTerm& term : rule.requests) {
    if (auto problem = check_term(term, "requests"); !problem.empty()) return problem;
  }
  return check_labels(rule);
}

std::string percent(double share) { return fmt::format("{:.6g}%", share * 100); }

// Ours are templates; what the user wrote is copied.
std::map<std::string, std::string> annotations_of(const ExportRule& rule, const ExportTier& tier) {
  std::string title = template_literal(rule.name);
  std::string_view separator = ": ";
  for (const std::string& label : rule.by) {
    title += fmt::format("{}{}={{{{ $labels.{} }}}}", separator, label, label);
    separator = ", ";
  }
  if (!tier.severity.empty()) title += " (" + template_literal(tier.severity) + ")";
  std::map<std::string, std::string> annotations;
  annotations["summary"] = title;
  annotations["description"] =
      fmt::format("{{{{ $value | humanizePercentage }}}} of {} {} in the last {}; the line is {}.",
                  template_literal(rule.unit), template_literal(rule.outcome),
                  format_duration(rule.window), percent(tier.threshold));
  for (const auto& [name, value] : rule.annotations.pairs()) {
    annotations[name] = template_literal(value);
  }
  return annotations;
}

std::map<std::string, std::string> rule_labels_of(const ExportRule& rule, const ExportTier& tier) {
  std::map<std::string, std::string> labels;
  for (const auto& [name, value] : rule.labels.pairs()) {
    const bool reserved = name == "alertname" || name == "__name__" || lists(rule.by, name);
    if (!reserved) labels[name] = template_literal(value);
  }
  if (!tier.severity.empty()) labels["severity"] = template_literal(tier.severity);
  return labels;
}

std::string yaml_map(std::string_view name, const std::map<std::string, std::string>& pairs) {
  if (pairs.empty()) return {};
  std::string text = fmt::format("        {}:\n", name);
  for (const auto& [key, value] : pairs) {
    text += fmt::format("          {}: {}\n", key, yaml_string(value));
  }
  return text;
}

std::string yaml_alert(const ExportRule& rule, const ExportTier& tier) {
  std::string text = fmt::format("      - alert: {}\n", yaml_string(rule.name));
  text += yaml_block("        ", "expr", alert_expression(rule, tier));
  text += fmt::format("        for: {}\n", format_duration(tier.hold));
  if (rule.keep_firing > Duration::zero()) {
    text += fmt::format("        keep_firing_for: {}\n", format_duration(rule.keep_firing));
  }
  if (rule.resolve_line) {
    text += fmt::format("        # resolve_{} {} has no equivalent: the line itself resolves.\n",
                        rule.below ? "above" : "below", percent(*rule.resolve_line));
  }
  text += yaml_map("labels", rule_labels_of(rule, tier));
  return text + yaml_map("annotations", annotations_of(rule, tier));
}

}  // namespace

Result<std::string> export_prometheus(const std::vector<ExportRule>& rules) {
  std::map<Duration, std::string> groups;
  for (const ExportRule& rule : rules) {
    if (const std::string problem = check_rule(rule); !problem.empty()) {
      return Error{ErrorKind::invalid, fmt::format("rule \"{}\": {}", rule.name, problem)};
    }
    for (const ExportTier& tier : rule.tiers) groups[rule.step] += yaml_alert(rule, tier);
  }
  std::string text =
      "# Written by `outcomed rules export`. docs/rule_export.md says where these rules differ.\n";
  text += groups.empty() ? "groups: []\n" : "groups:\n";
  for (const auto& [step, alerts] : groups) {
    const std::string interval = format_duration(step);
    text +=
        fmt::format("  - name: outcomed-{}\n    interval: {}\n    rules:\n", interval, interval);
    text += alerts;
  }
  return text;
}

}  // namespace outcomed
