#include "daemon/plugins.h"

#include <fmt/core.h>

#include <array>

#include "alerts/alertmanager/alertmanager.h"
#include "alerts/webhook/webhook.h"
#include "daemon/calendar/time_zones.h"
#include "daemon/sql/pq_client.h"
#include "queries/exposition/exposition_source.h"
#include "queries/litellm/preset.h"
#include "queries/litellm/spend_signals.h"
#include "queries/postgres/postgres_source.h"
#include "queries/prometheus/prometheus_source.h"
#include "queries/recording/recording_source.h"

namespace outcomed {
namespace {

Status check_sql(std::string_view sql) {
  const auto parsed = parse_sql_text(sql);
  return parsed ? ok() : Status(parsed.error());
}

StepBound of_prometheus(const PluginSettings& settings) {
  return {"timeout", settings_as<PrometheusSettings>(settings)->timeout, false,
          "a slow answer would delay the next step: lower it, or raise the step"};
}

StepBound of_page(const PluginSettings& settings) {
  return {"scrape_interval", settings_as<ExpositionSettings>(settings)->scrape_interval, true,
          "steps could not be told apart: scrape more often, or raise the step"};
}

constexpr std::array<SourceEntry, 4> kSources = {{
    {"prometheus", "a server with Prometheus' query API", make_settings<PrometheusSettings>, 30s,
     true, false, false, nullptr, nullptr, of_prometheus},
    {"exposition", "a /metrics page read directly", make_settings<ExpositionSettings>, 5s, true,
     false, false, nullptr, nullptr, of_page},
    {"recording", "a file or folder of recorded data", make_settings<RecordingSettings>, 0s, true,
     true},
    // The gateway writes its rows in batches, up to a minute after the requests.
    {"postgres", "a PostgreSQL database: the gateway's, or one's own",
     make_settings<PostgresSettings>, 90s, false, false, true, sql_label_columns, check_sql},
}};

constexpr std::array<ReceiverEntry, 2> kReceivers = {{
    {"alertmanager", "Alertmanager's API v2", make_settings<AlertmanagerSettings>},
    {"webhook", "Alertmanager-compatible JSON to a URL", make_settings<WebhookSettings>},
}};

std::vector<SignalPlan> litellm_signals(const LitellmPreset& preset) {
  std::vector<SignalPlan> plans;
  if (!preset.metrics.empty()) {
    plans = litellm::signals({preset.metrics,
                              preset.version,
                              preset.step,
                              {preset.private_groups, {preset.private_domains}}});
  }
  for (SignalPlan& plan : plans) {
    for (CounterTerm& term : plan.terms) {
      term.selector.matchers.insert(term.selector.matchers.end(), preset.matchers.begin(),
                                    preset.matchers.end());
    }
  }
  if (preset.spend.empty()) return plans;
  for (SignalPlan& plan :
       litellm::spend_signals({preset.spend,
                               preset.step,
                               !preset.metrics.empty(),
                               {preset.prices,
                                {preset.private_groups, {preset.private_domains}},
                                preset.no_reasoning,
                                preset.finish_reasons}})) {
    plans.push_back(std::move(plan));
  }
  return plans;
}

}  // namespace

const Catalogs& catalogs() {
  static const Catalogs kCatalogs{kSources, detector_catalog(), kReceivers, litellm_signals,
                                  system_time_zones()};
  return kCatalogs;
}

Result<std::shared_ptr<Source>> make_source(const SourceConfig& config,
                                            std::vector<SignalPlan> plans, HttpClient& http,
                                            SecretReader& secrets) {
  if (const auto* settings = settings_as<PrometheusSettings>(*config.settings)) {
    auto source = PrometheusSource::make(*settings, std::move(plans), http);
    if (!source) return std::move(source).error();
    return std::shared_ptr<Source>(*std::move(source));
  }
  if (const auto* settings = settings_as<ExpositionSettings>(*config.settings)) {
    return std::shared_ptr<Source>(
        std::make_shared<ExpositionSource>(*settings, std::move(plans), http));
  }
  if (const auto* settings = settings_as<RecordingSettings>(*config.settings)) {
    return std::shared_ptr<Source>(std::make_shared<RecordingSource>(*settings, std::move(plans)));
  }
  if (const auto* settings = settings_as<PostgresSettings>(*config.settings)) {
    auto source =
        PostgresSource::make(*settings, std::move(plans), std::make_shared<PqClient>(secrets));
    if (!source) return std::move(source).error();
    return std::shared_ptr<Source>(*std::move(source));
  }
  return Error{ErrorKind::invalid,
               fmt::format("source {}: kind {} can't be made", config.name, config.kind)};
}

Result<ReceiverPlugin> make_receiver(const ReceiverPart& part, HttpClient& http,
                                     SecretReader& secrets, std::function<Timestamp()> now) {
  if (const auto* settings = settings_as<WebhookSettings>(*part.settings)) {
    return ReceiverPlugin(std::shared_ptr<Receiver>(
        std::make_shared<WebhookReceiver>(*settings, http, secrets, std::move(now))));
  }
  if (const auto* settings = settings_as<AlertmanagerSettings>(*part.settings)) {
    return ReceiverPlugin(alertmanager_mirrors(*settings, http));
  }
  return Error{ErrorKind::invalid, fmt::format("receivers of kind {} can't be made", part.kind)};
}

}  // namespace outcomed
