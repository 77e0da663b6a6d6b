// What each request adds to which counter.
#include <fmt/core.h>

#include <cmath>

#include "tests/support/gateway_sim/gateway.h"

namespace outcomed::sim {
namespace {

constexpr std::int64_t kCooldownMs = 60'000;
constexpr std::uint32_t kNoOther = 0xfff;

// Kinds of recipes; the numbers only tell them apart. Failures follow, one for each effect.
enum RecipeKind : std::uint64_t { kSuccess, kAbsorbed, kFellBack, kFallbackFailed, kFailure };

}  // namespace

struct Gateway::Ending {
  std::string_view exception;  // Without the provider's name.
  std::string_view status;     // As the gateway prints it.
  std::string_view error_class;
  int client_status = 500;
  bool of_provider = true;
  std::uint32_t number = 0;
};

const Gateway::Ending& Gateway::ending_of(Effect effect, bool second) {
  static constexpr std::string_view kUnavailable = "provider_unavailable";
  static constexpr std::string_view kRefusal = "router_refusal";
  static constexpr std::string_view kInvalid = "invalid_request";
  static constexpr Ending kRefused{"RouterRateLimitError", "None", kRefusal, 429, false, 0};
  static constexpr Ending kCapped{"RouterRateLimitErrorBasic", "None", kRefusal, 429, false, 1};
  static constexpr Ending kBroken{"InternalServerError", "500", kUnavailable, 500, true, 2};
  static constexpr Ending kLimited{"RateLimitError", "429", "rate_limited", 429, true, 3};
  static constexpr Ending kBadRequest{"BadRequestError", "400", kInvalid, 400, true, 4};
  static constexpr Ending kTooLong{"ContextWindowExceededError", "400", kInvalid, 400, true, 5};
  static constexpr Ending kTimeout{"Timeout", "408", "deadline_exceeded", 408, true, 6};
  static constexpr Ending kNotFound{"NotFoundError", "404", "model_not_found", 404, true, 7};
  static constexpr Ending kAuth{"AuthenticationError", "401", "authentication", 401, true, 8};
  static constexpr Ending kNoModel{"ProxyModelNotFoundError", "400", kInvalid, 400, false, 9};
  static constexpr Ending kDown{"ServiceUnavailableError", "503", kUnavailable, 503, true, 10};
  switch (effect) {
    case Effect::refuse:
      return kRefused;
    case Effect::capped:
      return kCapped;
    case Effect::rate_limit:
      return kLimited;
    case Effect::caller_errors:
      return second ? kTooLong : kBadRequest;
    case Effect::timeouts:
      return kTimeout;
    case Effect::not_found:
      return kNotFound;
    case Effect::authentication:
      return kAuth;
    case Effect::unknown_model:
      return kNoModel;
    case Effect::never:
    case Effect::fallback_fails:
      return kDown;
    default:
      return kBroken;
  }
}

void Gateway::tell(const Asked& asked, const Ending* ending, std::string_view exception,
                   std::string_view model, std::string_view served_by) const {
  if (!on_request_) return;
  ClientRequest request{unix_of(asked.at_ms), model, 200, {}, exception, asked.stream, served_by};
  if (ending != nullptr) {
    request.status = ending->client_status;
    request.error_class = ending->error_class;
  }
  on_request_(request);
}

LabelValues Gateway::values_of(const Asked& asked) const {
  const Model& model = models_[asked.model];
  const Deployment& deployment = model.deployments[asked.deployment];
  LabelValues values;
  values.requested_model = values.group = model.name;
  values.provider_model = deployment.provider_model;
  values.model_id = deployment.id;
  values.api_base = deployment.api_base;
  values.api_provider = deployment.provider;
  values.hashed_key = keys_[asked.key];
  return values;
}

Gateway::Recipe& Gateway::recipe(std::uint64_t kind, const Asked& asked, std::uint32_t other,
                                 bool& fresh) {
  const std::uint64_t key = (kind << 56) | (std::uint64_t{asked.model} << 44) |
                            (std::uint64_t{other} << 32) | (std::uint64_t{asked.key} << 20) |
                            (std::uint64_t{asked.deployment} << 1) | (asked.stream ? 1U : 0U);
  const auto [found, made] = recipes_.try_emplace(key);
  fresh = made;
  return found->second;
}

// A success on a deployment: latency, tokens, money.
void Gateway::spend_recipe(Recipe& recipe, const LabelValues& values, bool stream) {
  recipe.total_latency = &page_.histogram(Family::total_latency, values, now());
  recipe.api_latency = &page_.histogram(Family::api_latency, values, now());
  if (stream) recipe.first_token = &page_.histogram(Family::first_token, values, now());
  recipe.input = &page_.series(Family::input_tokens, values, now());
  recipe.output = &page_.series(Family::output_tokens, values, now());
  recipe.tokens = &page_.series(Family::total_tokens, values, now());
  if (traits_.token_kinds) {
    recipe.cached = &page_.series(Family::cached_tokens, values, now());
    recipe.reasoning = &page_.series(Family::reasoning_tokens, values, now());
  }
  recipe.spend = &page_.series(Family::spend, values, now());
  recipe.state = &page_.series(Family::deployment_state, values, now());
  recipe.adds.emplace_back(&page_.series(Family::requests, values, now()), 1);
  recipe.adds.emplace_back(&page_.series(Family::deployment_success, values, now()), 1);
  recipe.adds.emplace_back(&page_.series(Family::deployment_total, values, now()), 1);
}

void Gateway::attempt_failed(Recipe& recipe, const LabelValues& values) {
  recipe.adds.emplace_back(&page_.series(Family::deployment_failure, values, now()), 1);
  recipe.adds.emplace_back(&page_.series(Family::deployment_total, values, now()), 1);
  recipe.adds.emplace_back(&page_.series(Family::api_failed, values, now()), 1);
}

Gateway::Usage Gateway::apply(Recipe& recipe, const Model& model) {
  ++served_;
  for (const auto& [series, by] : recipe.adds) series->value += by;
  if (recipe.state != nullptr) recipe.state->value = recipe.state_value;
  if (recipe.total_latency == nullptr) return {};
  const double seconds = model.latency * (0.5 + random_.waiting());
  page_.observe(*recipe.total_latency, seconds + 0.01);
  page_.observe(*recipe.api_latency, seconds);
  if (recipe.first_token != nullptr) page_.observe(*recipe.first_token, seconds / 4);
  const double input = 50 + random_.below(400);
  const double output = 20 + random_.below(200);
  recipe.input->value += input;
  recipe.output->value += output;
  recipe.tokens->value += input + output;
  if (recipe.cached != nullptr) recipe.cached->value += std::floor(input / 3);
  if (recipe.reasoning != nullptr) recipe.reasoning->value += std::floor(output / 5);
  const double spend = (input * model.input_price + output * model.output_price) / 1e6;
  recipe.spend->value += spend;
  return {seconds, input, output, spend};
}

void Gateway::note_success(const Asked& asked, const Asked& served, const Usage& usage,
                           int retries) const {
  if (!on_row_) return;
  LedgerEntry entry;
  entry.at_ms = unix_of(asked.at_ms);
  entry.seconds = usage.seconds;
  entry.asked = models_[asked.model].name;
  entry.group = models_[served.model].name;
  entry.deployment = &models_[served.model].deployments[served.deployment];
  entry.key = keys_[asked.key];
  entry.retries = retries;
  entry.fallbacks = asked.model == served.model ? 0 : 1;
  entry.input = static_cast<std::int64_t>(usage.input);
  entry.output = static_cast<std::int64_t>(usage.output);
  entry.cached = entry.input / 3;
  entry.reasoning = entry.output / 5;
  entry.spend = usage.spend;
  on_row_(entry);
}

void Gateway::note_failure(const Asked& asked, const Ending& ending, std::string_view unknown_model,
                           int fallbacks) const {
  if (!on_row_) return;
  const Model& model = models_[asked.model];
  LedgerEntry entry;
  entry.at_ms = unix_of(asked.at_ms);
  entry.seconds = 0.01;
  entry.asked = entry.group = model.name;
  entry.key = keys_[asked.key];
  entry.error_class = ending.exception;
  if (ending.status != "None") entry.error_code = ending.status;
  entry.fallbacks = fallbacks;
  if (ending.of_provider) {
    entry.seconds = model.latency;
    entry.deployment = &model.deployments[asked.deployment];
    entry.error_provider = entry.deployment->provider;
  }
  if (!unknown_model.empty()) {
    entry.asked = {};
    entry.group = traits_.collapses_unknown ? "unknown-model" : unknown_model;
  }
  on_row_(entry);
}

void Gateway::succeed(const Asked& asked, int retries) {
  bool fresh = false;
  Recipe& made = recipe(kSuccess, asked, kNoOther, fresh);
  if (fresh) {
    LabelValues values = values_of(asked);
    spend_recipe(made, values, asked.stream);
    // Before 1.81.14 two hooks count an unstreamed success, and neither knows the deployment.
    const bool twice = traits_.counts_twice && !asked.stream;
    values.status_code = "200";
    if (twice) values.model_id = "None";
    made.adds.emplace_back(&page_.series(Family::proxy_total, values, now()), twice ? 2 : 1);
  }
  const Model& model = models_[asked.model];
  note_success(asked, asked, apply(made, model), retries);
  tell(asked, nullptr, {}, model.name, model.name);
}

// A retry succeeded, on the next deployment where there is one.
void Gateway::absorb(const Asked& asked) {
  const Model& model = models_[asked.model];
  bool fresh = false;
  Recipe& made = recipe(kAbsorbed, asked, kNoOther, fresh);
  if (fresh) {
    LabelValues values = values_of(asked);
    made.exception =
        model.deployments[asked.deployment].exception_prefix() + ".InternalServerError";
    values.exception_class = made.exception;
    values.exception_status = "500";
    attempt_failed(made, values);
    made.state = &page_.series(Family::deployment_state, values, now());
    made.state_value = 1;
  }
  apply(made, model);
  Asked retried = asked;
  retried.deployment =
      (asked.deployment + 1) % static_cast<std::uint32_t>(model.deployments.size());
  succeed(retried, 1);
}

void Gateway::fail_recipe(Recipe& made, const Asked& asked, const Ending& ending,
                          std::string_view unknown_model) {
  const Model& model = models_[asked.model];
  LabelValues values = values_of(asked);
  made.exception = ending.exception;
  if (ending.of_provider) {
    const std::string prefix = model.deployments[asked.deployment].exception_prefix();
    made.exception = prefix + "." + made.exception;
  } else {
    values.model_id = values.api_provider = "None";
  }
  values.exception_class = made.exception;
  values.exception_status = values.status_code = ending.status;
  if (!unknown_model.empty()) {
    values.requested_model = traits_.collapses_unknown ? "other" : unknown_model;
  }
  const bool hidden = ending.client_status == 401;  // Before 1.106 no request counter shows it.
  if (!hidden || traits_.sees_401) {
    const double by = traits_.counts_twice ? 2 : 1;
    made.adds.emplace_back(&page_.series(Family::proxy_failed, values, now()), by);
    made.adds.emplace_back(&page_.series(Family::proxy_total, values, now()), by);
  }
  if (hidden) {
    values.provider_model = model.name;
    made.adds.emplace_back(&page_.series(Family::cooled_down, values, now()), 1);
  } else if (ending.of_provider) {
    attempt_failed(made, values);
    made.state = &page_.series(Family::deployment_state, values, now());
    made.state_value = 1;
  } else if (unknown_model.empty()) {
    // A refusal is booked on no deployment: the group's name, or nothing, in place of the model's.
    values.model_id = values.api_base = "";
    values.api_provider = traits_.group_label ? "" : "None";
    values.provider_model = traits_.group_label ? std::string_view() : model.name;
    attempt_failed(made, values);
  }
}

void Gateway::fail(const Asked& asked, const Ending& ending, const Phase* phase) {
  const bool unknown = phase != nullptr && phase->effect == Effect::unknown_model;
  const std::string_view unknown_model = unknown ? std::string_view(phase->model) : "";
  const auto place =
      unknown ? static_cast<std::uint32_t>(phase - options_.script.phases.data()) : kNoOther;
  bool fresh = false;
  Recipe& made = recipe(kFailure + ending.number, asked, place, fresh);
  if (fresh) fail_recipe(made, asked, ending, unknown_model);
  const Model& model = models_[asked.model];
  apply(made, model);
  note_failure(asked, ending, unknown_model, 0);
  tell(asked, &ending, made.exception, unknown ? unknown_model : model.name, {});
}

// While the router refuses, the deployment is tried once a minute, fails and cools down again.
void Gateway::cool_down(const Asked& asked) {
  const auto [found, first] = cooled_down_at_.try_emplace(asked.model, asked.at_ms);
  if (!first && asked.at_ms - found->second < kCooldownMs) return;
  found->second = asked.at_ms;
  LabelValues values = values_of(asked);
  values.provider_model = models_[asked.model].name;  // Here the gateway writes the group's name.
  values.exception_status = "500";
  page_.series(Family::cooled_down, values, now()).value += 1;
  page_.series(Family::deployment_state, values, now()).value = 2;
}

void Gateway::fall_back_recipe(Recipe& made, const Asked& asked, const Asked& substitute,
                               bool works) {
  const Model& model = models_[asked.model];
  const Ending& ending = ending_of(Effect::fallback_fails, false);
  LabelValues values = values_of(asked);
  made.exception = fmt::format("{}.{}", model.deployments[asked.deployment].exception_prefix(),
                               ending.exception);
  values.exception_class = made.exception;
  values.exception_status = values.status_code = ending.status;
  values.fallback_model = models_[substitute.model].name;
  attempt_failed(made, values);
  LabelValues hop = values;
  hop.model_id = "None";
  const Family hops = works ? Family::fallback_ok : Family::fallback_failed;
  made.adds.emplace_back(&page_.series(hops, hop, now()), 1);
  if (!works) {
    const double by = traits_.counts_twice ? 2 : 1;
    made.adds.emplace_back(&page_.series(Family::proxy_failed, values, now()), by);
    made.adds.emplace_back(&page_.series(Family::proxy_total, values, now()), by);
    return;
  }
  LabelValues served = values_of(substitute);
  spend_recipe(made, served, asked.stream);
  served.status_code = "200";
  // Old versions book an unstreamed one on the model asked for, all others on the substitute.
  const bool twice = traits_.counts_twice && !asked.stream;
  if (twice) served.requested_model = model.name;
  if (twice) served.model_id = "None";
  made.adds.emplace_back(&page_.series(Family::proxy_total, served, now()), twice ? 2 : 1);
}

void Gateway::fall_back(const Asked& asked, std::uint32_t other, bool works) {
  Asked substitute = asked;
  substitute.model = other;
  substitute.deployment = 0;
  bool fresh = false;
  Recipe& made = recipe(works ? kFellBack : kFallbackFailed, asked, other, fresh);
  if (fresh) fall_back_recipe(made, asked, substitute, works);
  const Usage usage = apply(made, models_[other]);
  if (works) {
    note_success(asked, substitute, usage, 0);
    tell(asked, nullptr, {}, models_[asked.model].name, models_[other].name);
  } else {
    note_failure(asked, ending_of(Effect::fallback_fails, false), {}, 1);
    tell(asked, &ending_of(Effect::fallback_fails, false), made.exception,
         models_[asked.model].name, {});
  }
}

void Gateway::note_refused_scrape() {
  if (!traits_.counts_refused_scrapes || !up()) return;
  LabelValues values;
  values.requested_model = "";
  values.exception_class = "Exception";
  values.exception_status = "None";
  values.hashed_key = "None";
  values.route = "/metrics";
  page_.series(Family::proxy_failed, values, now()).value += 1;
}

}  // namespace outcomed::sim
