#include "queries/litellm/leaks.h"

#include <utility>

#include "queries/base/glob.h"
#include "queries/litellm/classify.h"

namespace outcomed::litellm {
namespace {

// LiteLLM writes Python's None for absent labels.
std::string_view label(const Labels& raw, std::string_view name) {
  const std::string_view text = raw.get(name);
  return text == "None" ? std::string_view() : text;
}

bool is_private(const PrivateGroups& rules, std::string_view group) {
  return any_glob_matches(rules.groups, group);
}

Labels request_of(const Labels& raw) {
  Labels labels;
  labels.set("model", std::string(label(raw, "requested_model")));
  return labels;
}

Labels leak_of(const Labels& raw, std::string_view served_by, std::string_view way) {
  Labels labels = request_of(raw);
  labels.set("served_by", std::string(served_by));
  labels.set("way", std::string(way));
  return labels;
}

LabelRule private_requests(const PrivateGroups& rules) {
  return [rules](const Labels& raw) -> std::optional<Labels> {
    if (!is_private(rules, label(raw, "requested_model"))) return std::nullopt;
    return request_of(raw);
  };
}

LabelRule private_fallbacks(const PrivateGroups& rules, std::string_view way) {
  return [rules, way](const Labels& raw) -> std::optional<Labels> {
    const std::string_view served_by = label(raw, "fallback_model");
    if (!is_private(rules, label(raw, "requested_model")) || is_private(rules, served_by)) {
      return std::nullopt;
    }
    return leak_of(raw, served_by, way);
  };
}

// A base without a host (the provider's own default) is outside: only what is known to be private
// stays.
std::optional<Labels> foreign_deployment(const PrivateGroups& rules, const Labels& raw,
                                         std::string_view way) {
  if (!is_private(rules, label(raw, "requested_model"))) return std::nullopt;
  const auto host = url_host(label(raw, "api_base"));
  if (host && is_private_host(*host, rules.hosts)) return std::nullopt;
  return leak_of(raw, label(raw, "litellm_model_name"), way);
}

LabelRule foreign_successes(const PrivateGroups& rules) {
  return [rules](const Labels& raw) { return foreign_deployment(rules, raw, "deployment"); };
}

LabelRule foreign_failures(const PrivateGroups& rules) {
  return [rules](const Labels& raw) -> std::optional<Labels> {
    // A refusal was sent nowhere; it is booked without a deployment, and in 1.81.9 at times on one.
    if (label(raw, "model_id").empty() ||
        !refusal_cause(label(raw, "exception_class"), label(raw, "exception_status")).empty()) {
      return std::nullopt;
    }
    return foreign_deployment(rules, raw, "failed deployment");
  };
}

CounterTerm term(std::string_view metric, LabelRule labels, bool n, bool k) {
  CounterTerm term;
  term.selector.metric = std::string(metric);
  term.counts_n = n;
  term.counts_k = k;
  term.labels = std::move(labels);
  return term;
}

}  // namespace

SignalPlan leaks(const PresetSettings& settings) {
  const PrivateGroups& rules = settings.keep_private;
  SignalPlan plan;
  plan.name = "leaks";
  plan.source = settings.source;
  plan.step = settings.step;
  plan.labels = {"model"};
  plan.failure_labels = {"served_by", "way"};
  plan.unit = "requests";
  plan.outcome = "were sent outside";
  plan.help = "Requests of private groups that were sent to another group or a foreign address.";
  plan.terms.push_back(
      term("litellm_request_total_latency_metric_count", private_requests(rules), true, false));
  plan.terms.push_back(term("litellm_deployment_successful_fallbacks_total",
                            private_fallbacks(rules, "fallback"), true, true));
  // It failed there, but it was sent there.
  plan.terms.push_back(term("litellm_deployment_failed_fallbacks_total",
                            private_fallbacks(rules, "failed fallback"), true, true));
  plan.terms.push_back(
      term("litellm_deployment_success_responses_total", foreign_successes(rules), false, true));
  plan.terms.push_back(
      term("litellm_deployment_failure_responses_total", foreign_failures(rules), true, true));
  return plan;
}

}  // namespace outcomed::litellm
