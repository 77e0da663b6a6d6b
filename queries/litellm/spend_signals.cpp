#include "queries/litellm/spend_signals.h"

#include <utility>

#include "queries/failure_side.h"

namespace outcomed::litellm {
namespace {

const std::vector<std::string> kConsumer = {"model", "team", "team_alias", "api_key_alias",
                                            "hashed_api_key"};

SignalPlan plan_of(const SpendSettings& settings, std::string name, std::string help) {
  SignalPlan plan;
  plan.name = std::move(name);
  plan.source = settings.source;
  plan.step = settings.step;
  plan.labels = kConsumer;
  plan.help = std::move(help);
  plan.rows = [ledger = settings.ledger](const std::vector<SignalPlan>& plans) {
    return std::make_unique<LedgerCounter>(plans, ledger);
  };
  return plan;
}

Matcher match(std::string name, Matcher::Op op, std::string text) {
  return *Matcher::make(std::move(name), op, std::move(text));
}

SignalPlan requests(const SpendSettings& settings) {
  SignalPlan plan = plan_of(settings, settings.has_metrics ? "requests_by_rows" : "requests",
                            "Failures that consumers saw, of all their requests; from the rows of "
                            "the gateway's database.");
  plan.failure_labels = {"error_class", "exception_class", "exception_status"};
  plan.neutral = {match("error_class", Matcher::Op::match, "invalid_request|policy_rejection")};
  if (settings.has_metrics) plan.same_as = "requests";
  return plan;
}

SignalPlan fallbacks(const SpendSettings& settings) {
  SignalPlan plan = plan_of(settings, "fallbacks",
                            "Requests that needed a fallback, of all requests, by the model that "
                            "was asked for.");
  plan.failure_labels = {"fallback_model"};
  plan.outcome = "needed a fallback";
  return plan;
}

// The same sides as the metrics' signal of that name: each a k of n of its own.
SignalPlan absorption(const SpendSettings& settings) {
  SignalPlan plan = plan_of(settings, "absorption",
                            "Requests that failed for consumers and attempts that failed at the "
                            "provider, side by side, request by request.");
  plan.labels.emplace_back(failure_side::kLabel);
  return plan;
}

SignalPlan reasoning(const SpendSettings& settings) {
  SignalPlan plan = plan_of(settings, "reasoning",
                            "Reasoning tokens, of all completion tokens, as the answers say.");
  plan.labels.emplace_back("consumer");
  plan.unit = "completion tokens";
  plan.outcome = "were spent on reasoning";
  return plan;
}

SignalPlan unwanted_reasoning(const SpendSettings& settings) {
  SignalPlan plan = reasoning(settings);
  plan.name = "unwanted_reasoning";
  plan.help = "Reasoning tokens of consumers that should have none, of their completion tokens.";
  return plan;
}

// Amounts are thousand-millionths of this; LiteLLM books in dollars unless its owner's prices say
// otherwise.
void make_money(SignalPlan& plan, const SpendSettings& settings) {
  plan.money = true;
  const PriceTables* prices = settings.ledger.prices.get();
  plan.unit = prices == nullptr || prices->currency().empty() ? "USD" : prices->currency();
}

SignalPlan probes(const SpendSettings& settings) {
  SignalPlan plan =
      plan_of(settings, "probes", "The gateway's own health checks, of all calls in its rows.");
  plan.labels = {"model"};
  plan.unit = "calls";
  plan.outcome = "were the gateway's own health checks";
  return plan;
}

SignalPlan probe_spend(const SpendSettings& settings) {
  SignalPlan plan = plan_of(settings, "probe_spend",
                            "What the gateway's own health checks cost, of all that was paid.");
  plan.labels = {"model"};
  make_money(plan, settings);
  plan.outcome = "went to the gateway's own health checks";
  return plan;
}

SignalPlan wasted(const SpendSettings& settings, std::string name, std::string help) {
  SignalPlan plan = plan_of(settings, std::move(name), std::move(help));
  plan.labels.emplace_back("consumer");
  plan.failure_labels = {"cause"};
  plan.outcome = settings.ledger.finish_reasons
                     ? "went into requests that failed or were cut off"
                     : "went into requests that failed (those cut off aren't looked for)";
  return plan;
}

SignalPlan wasted_spend(const SpendSettings& settings) {
  SignalPlan plan = wasted(settings, "wasted_spend",
                           "What failed requests, repeated attempts and (with finish_reasons) "
                           "cut-off answers cost, of all that consumers' requests cost.");
  make_money(plan, settings);
  return plan;
}

SignalPlan wasted_tokens(const SpendSettings& settings) {
  SignalPlan plan = wasted(settings, "wasted_tokens",
                           "The same in tokens that were paid for, prompt and completion.");
  plan.unit = "tokens";
  return plan;
}

// As the metrics' signal of that name, but for requests whose rows name them.
SignalPlan leaks(const SpendSettings& settings) {
  SignalPlan plan = plan_of(settings, settings.has_metrics ? "leaks_by_rows" : "leaks",
                            "Requests of private groups that were sent to another group or a "
                            "foreign address; from the rows of the gateway's database.");
  plan.labels = {"model"};
  plan.failure_labels = {"served_by", "way"};
  plan.outcome = "were sent outside";
  return plan;
}

SignalPlan spend(const SpendSettings& settings) {
  SignalPlan plan = plan_of(settings, "spend",
                            "Recorded cost, tokens and expected cost, by `kind`; amounts stand in "
                            "n, money in thousand-millionths.");
  plan.labels = {"model", "model_id", "provider", "provider_model", "kind"};
  plan.unit = "units";
  plan.outcome = "";
  return plan;
}

}  // namespace

std::vector<SignalPlan> spend_signals(const SpendSettings& settings) {
  std::vector<SignalPlan> plans = {requests(settings)};
  if (!settings.has_metrics) {
    plans.push_back(fallbacks(settings));
    plans.push_back(absorption(settings));
  }
  plans.push_back(reasoning(settings));
  if (!settings.ledger.no_reasoning.empty()) plans.push_back(unwanted_reasoning(settings));
  plans.push_back(probes(settings));
  plans.push_back(probe_spend(settings));
  plans.push_back(wasted_spend(settings));
  plans.push_back(wasted_tokens(settings));
  plans.push_back(spend(settings));
  if (!settings.ledger.keep_private.groups.empty()) plans.push_back(leaks(settings));
  return plans;
}

}  // namespace outcomed::litellm
