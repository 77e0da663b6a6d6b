#include "tests/support/gateway_sim/gateway.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace outcomed::sim {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr double kDayMs = 86'400'000;
constexpr double kStreamed = 0.4;

}  // namespace

std::string to_json(const ClientRequest& request) {
  const auto text = [](std::string_view value) {
    return value.empty() ? std::string("null") : fmt::format("\"{}\"", value);
  };
  return fmt::format(
      "{{\"at\":{}.{:03},\"model\":\"{}\",\"status\":{},\"class\":{},\"exception\":{},\"stream\":{}"
      ","
      "\"served_by\":{}}}\n",
      request.at_ms / 1000, request.at_ms % 1000, request.model, request.status,
      text(request.error_class), text(request.exception), request.stream, text(request.served_by));
}

Result<Gateway> Gateway::make(GatewayOptions options, OnRequest on_request, OnRow on_row) {
  auto traits = traits_of(options.version);
  if (!traits) return std::move(traits).error();
  if (options.models < 1 || options.models > 4000) {
    return Error{ErrorKind::invalid, "models: from 1 to 4000"};
  }
  if (options.keys < 1 || options.keys > 4000) {
    return Error{ErrorKind::invalid, "keys: from 1 to 4000"};
  }
  if (!(options.rate > 0) || !(options.speed > 0)) {
    return Error{ErrorKind::invalid, "rate and speed must be above 0"};
  }
  Gateway gateway(std::move(options), *std::move(traits), std::move(on_request), std::move(on_row));
  if (Status status = gateway.check_script(); !status) return std::move(status).error();
  return gateway;
}

Gateway::Gateway(GatewayOptions options, VersionTraits traits, OnRequest on_request, OnRow on_row)
    : options_(std::move(options)),
      traits_(std::move(traits)),
      on_request_(std::move(on_request)),
      on_row_(std::move(on_row)),
      models_(make_models(options_.models)),
      page_(traits_),
      random_(options_.seed) {
  double sum = 0;
  for (const Model& model : models_) weights_.push_back(sum += model.weight);
  Random hash(options_.seed ^ 0x6b6579);
  for (int i = 0; i < options_.keys; ++i) {
    std::string key;
    for (int word = 0; word < 4; ++word) key += fmt::format("{:016x}", hash.next());
    keys_.push_back(i == 0 && traits_.master_key_alias ? "litellm_proxy_master_key" : key);
  }
  // The process started a little before its first request.
  started_ms_ = -5'000;
  schedule_restart();
  schedule_next();
}

Status Gateway::check_script() const {
  for (const Phase& phase : options_.script.phases) {
    const bool named = phase.effect != Effect::unknown_model && !phase.model.empty();
    for (const std::string& name : {named ? phase.model : std::string(), phase.other}) {
      if (name.empty() || find_model(name)) continue;
      return Error{ErrorKind::invalid,
                   fmt::format("the script names the model {}, which is not among the {} models",
                               name, models_.size())};
    }
    if (phase.effect == Effect::unknown_model && phase.model.empty()) {
      return Error{ErrorKind::invalid, "unknown_model needs the name that is asked for"};
    }
  }
  return ok();
}

std::optional<std::uint32_t> Gateway::find_model(std::string_view name) const {
  const auto found = std::ranges::find(models_, name, &Model::name);
  if (found == models_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - models_.begin());
}

std::int64_t Gateway::unix_of(std::int64_t timeline_ms) const {
  // Rounded up: what a scrape at a moment has counted was answered at that moment or before.
  return options_.origin_ms +
         std::llround(std::ceil(static_cast<double>(timeline_ms) / options_.speed));
}

ProcessFacts Gateway::process() const {
  return {static_cast<double>(unix_of(started_ms_)) / 1000,
          20 + static_cast<double>(served_) * 0.004};
}

void Gateway::write_page(std::string& out, bool openmetrics) const {
  if (up()) page_.write(out, openmetrics, process());
}

// ---- time ----

void Gateway::advance_to_unix(std::int64_t unix_ms) {
  advance_to(static_cast<std::int64_t>(
      std::floor(static_cast<double>(unix_ms - options_.origin_ms) * options_.speed)));
}

void Gateway::advance_to(std::int64_t timeline_ms) {
  while (true) {
    const auto request_at = static_cast<std::int64_t>(std::ceil(next_ms_));
    if (std::min(request_at, restart_at_ms_) > timeline_ms) break;
    if (restart_at_ms_ <= request_at) {
      now_ms_ = restart_at_ms_;
      restart();
    } else {
      now_ms_ = std::max(now_ms_, request_at);
      one_request(request_at);
      schedule_next();
    }
  }
  now_ms_ = std::max(now_ms_, timeline_ms);
}

// Arrivals are a Poisson process; the day's swing thins it out.
void Gateway::schedule_next() {
  const double swing = options_.script.swing;
  const double per_ms = options_.rate / 1000 * (1 + swing);
  while (true) {
    next_ms_ += random_.waiting() / per_ms;
    if (swing == 0) return;
    const double day = (static_cast<double>(options_.origin_ms) + next_ms_) / kDayMs;
    const double share = 1 - swing * std::cos(2 * 3.14159265358979323846 * day);
    if (random_.chance(share / (1 + swing))) return;
  }
}

void Gateway::schedule_restart() {
  restart_at_ms_ = kNever;
  const std::int64_t cycle = options_.script.cycle_ms;
  for (const Phase& phase : options_.script.phases) {
    if (phase.effect != Effect::restart) continue;
    std::int64_t at = phase.begin_ms;
    if (cycle > 0 && at <= now_ms_) at += ((now_ms_ - at) / cycle + 1) * cycle;
    if (at <= now_ms_ || at >= restart_at_ms_) continue;
    restart_at_ms_ = at;
    restart_length_ms_ = phase.end_ms == kNever ? 0 : phase.end_ms - phase.begin_ms;
  }
}

void Gateway::restart() {
  page_.clear();
  recipes_.clear();
  cooled_down_at_.clear();
  served_ = 0;
  down_until_ms_ = started_ms_ = now_ms_ + restart_length_ms_;
  schedule_restart();
}

// ---- one request ----

void Gateway::one_request(std::int64_t at_ms) {
  // Always the same draws, so that a phase changes what happens to a request and not which come.
  const double pick = random_.uniform() * weights_.back();
  const double which = random_.uniform();
  Asked asked;
  asked.key = random_.below(static_cast<std::uint32_t>(keys_.size()));
  asked.stream = random_.chance(kStreamed);
  asked.at_ms = at_ms;
  const auto model = std::ranges::upper_bound(weights_, pick) - weights_.begin();
  asked.model =
      std::min(static_cast<std::uint32_t>(model), static_cast<std::uint32_t>(models_.size() - 1));
  asked.deployment = static_cast<std::uint32_t>(
      which * static_cast<double>(models_[asked.model].deployments.size()));
  if (!up()) return;  // Nobody answers, nothing is counted.
  for (const Phase& phase : options_.script.phases) {
    const bool mine = phase.model.empty() || phase.model == models_[asked.model].name;
    if (phase.effect == Effect::quiet && mine && options_.script.on(phase, at_ms)) return;
    if (phase.effect == Effect::born && mine && !options_.script.on(phase, at_ms)) return;
  }
  serve(asked);
}

void Gateway::serve(const Asked& asked) {
  using enum Effect;
  for (const Phase& phase : options_.script.phases) {
    const bool passive = phase.effect == quiet || phase.effect == restart || phase.effect == born;
    const bool anybody = phase.model.empty() || phase.effect == unknown_model;
    if (passive || (!anybody && phase.model != models_[asked.model].name)) continue;
    if (!options_.script.on(phase, asked.at_ms) || !random_.chance(phase.share)) continue;
    switch (phase.effect) {
      case absorb:
        return this->absorb(asked);
      case fallback:
      case fallback_fails:
        return fall_back(asked, *find_model(phase.other), phase.effect == fallback);
      case refuse:
        cool_down(asked);
        break;
      default:
        break;
    }
    return fail(asked, ending_of(phase.effect, random_.chance(0.5)), &phase);
  }
  if (random_.chance(options_.script.noise)) return fail(asked, ending_of(outage, false), nullptr);
  succeed(asked);
}

}  // namespace outcomed::sim
