#include "queries/litellm/preset.h"

#include "queries/error_class.h"
#include "queries/failure_side.h"
#include "queries/litellm/classify.h"
#include "queries/litellm/double_count.h"
#include "queries/litellm/leaks.h"

namespace outcomed::litellm {
namespace {

constexpr std::string_view kFailed = "litellm_proxy_failed_requests_metric_total";
constexpr std::string_view kLatency = "litellm_request_total_latency_metric_count";
constexpr std::string_view kServedByFallback = "litellm_deployment_successful_fallbacks_total";
constexpr std::string_view kFailedFallback = "litellm_deployment_failed_fallbacks_total";
constexpr std::string_view kDeploymentSuccess = "litellm_deployment_success_responses_total";
constexpr std::string_view kDeploymentFailure = "litellm_deployment_failure_responses_total";
constexpr std::string_view kCooledDown = "litellm_deployment_cooled_down_total";
// Team, alias and key alias of the gateway's own probes since about 1.86.
constexpr std::string_view kHealthCheck = "litellm-internal-health-check";

// LiteLLM writes Python's None for absent labels.
std::string_view value(const Labels& raw, std::string_view name) {
  const std::string_view text = raw.get(name);
  return text == "None" ? std::string_view() : text;
}

bool is_health_check(const Labels& raw) {
  return raw.get("team") == kHealthCheck || raw.get("team_alias") == kHealthCheck ||
         raw.get("api_key_alias") == kHealthCheck;
}

// The labels that requests, successes and fallbacks share.
const std::vector<std::string> kConsumerLabels = {"model", "team", "team_alias", "api_key_alias",
                                                  "hashed_api_key"};

Labels consumer_labels(const Labels& raw, std::string_view model_label) {
  Labels labels;
  for (const std::string& name : kConsumerLabels) {
    if (name != "model") labels.set(name, std::string(value(raw, name)));
  }
  labels.set("model", std::string(value(raw, model_label)));
  return labels;
}

// A label rule over consumer labels that leaves out health checks.
LabelRule consumers(const std::string& model_label) {
  return [model_label](const Labels& raw) -> std::optional<Labels> {
    if (is_health_check(raw)) return std::nullopt;
    return consumer_labels(raw, model_label);
  };
}

std::optional<Labels> failed_labels(const Labels& raw) {
  if (is_health_check(raw)) return std::nullopt;
  Labels labels = consumer_labels(raw, "requested_model");
  const std::string_view exception = value(raw, "exception_class");
  const std::string_view status = value(raw, "exception_status");
  labels.set("error_class", std::string(classify(exception, status)));
  labels.set("exception_class", std::string(exception));
  labels.set("exception_status", std::string(status));
  return labels;
}

std::optional<Labels> refused_labels(const Labels& raw) {
  const std::string_view cause =
      refusal_cause(value(raw, "exception_class"), value(raw, "exception_status"));
  if (cause.empty() || is_health_check(raw)) return std::nullopt;
  Labels labels = consumer_labels(raw, "requested_model");
  labels.set("cause", std::string(cause));
  return labels;
}

std::optional<Labels> fallback_labels(const Labels& raw) {
  if (is_health_check(raw)) return std::nullopt;
  Labels labels = consumer_labels(raw, "requested_model");
  labels.set("fallback_model", std::string(value(raw, "fallback_model")));
  return labels;
}

std::optional<Labels> attempt_labels(const Labels& raw) {
  if (is_health_check(raw)) return std::nullopt;
  Labels labels;
  labels.set("model", std::string(value(raw, "requested_model")));
  labels.set("deployment", std::string(value(raw, "model_id")));
  labels.set("provider", std::string(value(raw, "api_provider")));
  return labels;
}

std::optional<Labels> failed_attempt_labels(const Labels& raw) {
  const std::string_view exception = value(raw, "exception_class");
  const std::string_view status = value(raw, "exception_status");
  // What never left the gateway is booked here too, refusals even on a deployment.
  if (!reached_provider(exception, status)) return std::nullopt;
  std::optional<Labels> labels = attempt_labels(raw);
  if (labels) labels->set("error_class", std::string(classify(exception, status)));
  return labels;
}

Labels on_side(Labels labels, std::string_view side) {
  labels.set(std::string(failure_side::kLabel), std::string(side));
  return labels;
}

// The label rule of requests or attempts, with their side.
LabelRule sided(LabelRule rule, std::string_view side) {
  return [rule = std::move(rule), side](const Labels& raw) -> std::optional<Labels> {
    std::optional<Labels> labels = rule(raw);
    if (!labels) return std::nullopt;
    return on_side(*std::move(labels), side);
  };
}

// Failed requests that are ours; with `part`, only those of that part of them.
LabelRule consumer_failures(std::string_view side, std::string_view part = {}) {
  return [side, part](const Labels& raw) -> std::optional<Labels> {
    const std::string_view exception = value(raw, "exception_class");
    const std::string_view status = value(raw, "exception_status");
    const std::string_view error_class = classify(exception, status);
    if (is_health_check(raw) || failure_side::is_callers_error(error_class)) return std::nullopt;
    const bool refused = !refusal_cause(exception, status).empty();
    if (!part.empty() && failure_side::of_failure(error_class, refused) != part) {
      return std::nullopt;
    }
    return on_side(consumer_labels(raw, "requested_model"), side);
  };
}

// Attempts that a provider saw and failed at; all of them, or only what counts as its failure.
LabelRule provider_attempts(bool only_failures) {
  return [only_failures](const Labels& raw) -> std::optional<Labels> {
    const std::string_view exception = value(raw, "exception_class");
    const std::string_view status = value(raw, "exception_status");
    if (is_health_check(raw) || !reached_provider(exception, status)) return std::nullopt;
    if (only_failures && !failure_side::is_provider_failure(classify(exception, status))) {
      return std::nullopt;
    }
    return on_side(consumer_labels(raw, "requested_model"), failure_side::kProvider);
  };
}

std::optional<Labels> cooldown_labels(const Labels& raw) {
  Labels labels;
  labels.set("deployment", std::string(value(raw, "model_id")));
  labels.set("provider", std::string(value(raw, "api_provider")));
  labels.set("exception_status", std::string(value(raw, "exception_status")));
  return labels;
}

Matcher match(std::string name, Matcher::Op op, std::string text) {
  return *Matcher::make(std::move(name), op, std::move(text));
}

Selector select(std::string_view metric) { return {std::string(metric), {}}; }

// Since 1.106 a refused scrape of the gateway's own /metrics counts as a failed request.
Selector select_failed() {
  return {std::string(kFailed), {match("route", Matcher::Op::not_match, "/metrics.*")}};
}

struct Counts {
  bool n = true;
  bool k = false;
  int sign = 1;
};

CounterTerm term(Selector selector, LabelRule labels, Counts counts, bool calibrated = false) {
  return {std::move(selector), counts.sign, counts.n, counts.k, calibrated, std::move(labels)};
}

// Successes, booked on the model that was asked for.
void add_successes(SignalPlan& plan) {
  plan.terms.push_back(term(select(kLatency), consumers("requested_model"), {}));
  plan.terms.push_back(
      term(select(kServedByFallback), consumers("fallback_model"), {true, false, -1}));
  plan.terms.push_back(term(select(kServedByFallback), consumers("requested_model"), {}));
}

SignalPlan plan_of(const PresetSettings& settings, std::string name, std::string help) {
  SignalPlan plan;
  plan.name = std::move(name);
  plan.source = settings.source;
  plan.step = settings.step;
  plan.labels = kConsumerLabels;
  plan.help = std::move(help);
  return plan;
}

SignalPlan requests(const PresetSettings& settings, std::shared_ptr<Calibration> calibration) {
  SignalPlan plan =
      plan_of(settings, "requests", "Failures that consumers saw, of all their requests.");
  plan.failure_labels = {"error_class", "exception_class", "exception_status"};
  plan.terms.push_back(term(select_failed(), failed_labels, {true, true}, true));
  add_successes(plan);
  plan.calibration = std::move(calibration);
  plan.neutral = {match("error_class", Matcher::Op::match, "invalid_request|policy_rejection")};
  return plan;
}

SignalPlan refusals(const PresetSettings& settings, std::shared_ptr<Calibration> calibration) {
  SignalPlan plan =
      plan_of(settings, "refusals", "Requests the gateway refused by itself, of all requests.");
  plan.failure_labels = {"cause"};
  plan.terms.push_back(term(select_failed(), consumers("requested_model"), {}, true));
  plan.terms.push_back(term(select_failed(), refused_labels, {false, true}, true));
  add_successes(plan);
  plan.calibration = std::move(calibration);
  plan.outcome = "refused by the gateway";
  return plan;
}

SignalPlan fallbacks(const PresetSettings& settings, std::shared_ptr<Calibration> calibration) {
  SignalPlan plan =
      plan_of(settings, "fallbacks", "Requests that needed a fallback, of all requests.");
  plan.failure_labels = {"fallback_model"};
  plan.terms.push_back(term(select(kServedByFallback), fallback_labels, {false, true}));
  plan.terms.push_back(term(select(kFailedFallback), fallback_labels, {false, true}));
  plan.terms.push_back(term(select_failed(), consumers("requested_model"), {}, true));
  add_successes(plan);
  plan.calibration = std::move(calibration);
  plan.outcome = "needed a fallback";
  return plan;
}

SignalPlan provider(const PresetSettings& settings) {
  SignalPlan plan = plan_of(settings, "provider",
                            "Provider 5xx and timeouts of all deployment attempts that the gateway "
                            "counted; a lower bound, since retries are mostly not counted.");
  plan.labels = {"model", "deployment", "provider"};
  plan.failure_labels = {"error_class"};
  plan.terms.push_back(term(select(kDeploymentFailure), failed_attempt_labels, {true, true}));
  plan.terms.push_back(term(select(kDeploymentSuccess), attempt_labels, {}));
  plan.neutral = {
      match("error_class", Matcher::Op::not_match, "provider_unavailable|deadline_exceeded")};
  plan.unit = "provider attempts";
  return plan;
}

// Each side is a k of n of its own; their sum means nothing.
SignalPlan absorption(const PresetSettings& settings, std::shared_ptr<Calibration> calibration) {
  SignalPlan plan = plan_of(settings, "absorption",
                            "Requests that failed for consumers and attempts that failed at the "
                            "provider, side by side. Counted attempts are a lower bound.");
  plan.labels.emplace_back(failure_side::kLabel);
  const std::string_view consumer = failure_side::kConsumer;
  plan.terms.push_back(
      term(select_failed(), sided(consumers("requested_model"), consumer), {}, true));
  plan.terms.push_back(term(select_failed(), consumer_failures(consumer), {false, true}, true));
  add_successes(plan);
  for (CounterTerm& success : plan.terms) {
    if (!success.calibrated) success.labels = sided(std::move(success.labels), consumer);
  }
  for (const std::string_view part :
       {failure_side::kRefused, failure_side::kRejected, failure_side::kPassedOn}) {
    plan.terms.push_back(term(select_failed(), consumer_failures(part, part), {true, true}, true));
  }
  plan.terms.push_back(term(select(kDeploymentFailure), provider_attempts(false), {}));
  plan.terms.push_back(term(select(kDeploymentFailure), provider_attempts(true), {false, true}));
  plan.terms.push_back(term(select(kDeploymentSuccess),
                            sided(consumers("requested_model"), failure_side::kProvider), {}));
  plan.calibration = std::move(calibration);
  return plan;
}

SignalPlan cooldowns(const PresetSettings& settings) {
  SignalPlan plan = plan_of(settings, "cooldowns", "Times a deployment was cooled down (n = k).");
  plan.labels = {"deployment", "provider", "exception_status"};
  plan.terms.push_back(term(select(kCooledDown), cooldown_labels, {true, true}));
  plan.unit = "cooldowns";
  plan.outcome = "began";
  return plan;
}

}  // namespace

std::vector<SignalPlan> signals(const PresetSettings& settings) {
  const auto calibration = std::make_shared<DoubleCount>(settings.version);
  std::vector<SignalPlan> all = {
      requests(settings, calibration),  provider(settings),  refusals(settings, calibration),
      fallbacks(settings, calibration), cooldowns(settings), absorption(settings, calibration)};
  if (!settings.keep_private.groups.empty()) all.push_back(leaks(settings));
  return all;
}

}  // namespace outcomed::litellm
