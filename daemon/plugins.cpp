#include "daemon/plugins.h"

#include <fmt/core.h>

#include <array>

#include "alerts/alertmanager/alertmanager.h"
#include "alerts/webhook/webhook.h"
#include "queries/exposition/exposition_source.h"
#include "queries/litellm/preset.h"
#include "queries/prometheus/prometheus_source.h"
#include "queries/recording/recording_source.h"

namespace outcomed {
namespace {

constexpr std::array<SourceEntry, 3> kSources = {{
    {"prometheus", "a server with Prometheus' query API", make_settings<PrometheusSettings>, 30s},
    {"exposition", "a /metrics page read directly", make_settings<ExpositionSettings>, 5s},
    {"recording", "a file or folder of recorded data", make_settings<RecordingSettings>, 0s, true,
     true},
}};

constexpr std::array<ReceiverEntry, 2> kReceivers = {{
    {"alertmanager", "Alertmanager's API v2", make_settings<AlertmanagerSettings>},
    {"webhook", "Alertmanager-compatible JSON to a URL", make_settings<WebhookSettings>},
}};

std::vector<SignalPlan> litellm_signals(const LitellmPreset& preset) {
  if (preset.metrics.empty()) return {};
  std::vector<SignalPlan> plans = litellm::signals({preset.metrics, preset.version, preset.step});
  for (SignalPlan& plan : plans) {
    for (CounterTerm& term : plan.terms) {
      term.selector.matchers.insert(term.selector.matchers.end(), preset.matchers.begin(),
                                    preset.matchers.end());
    }
  }
  return plans;
}

}  // namespace

const Catalogs& catalogs() {
  static const Catalogs kCatalogs{kSources, detector_catalog(), kReceivers, litellm_signals};
  return kCatalogs;
}

Result<std::shared_ptr<Source>> make_source(const SourceConfig& config,
                                            std::vector<SignalPlan> plans, HttpClient& http) {
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
    return ReceiverPlugin(std::shared_ptr<Mirror>(
        std::make_shared<AlertmanagerMirror>(*settings, http, std::chrono::minutes(1))));
  }
  return Error{ErrorKind::invalid, fmt::format("receivers of kind {} can't be made", part.kind)};
}

}  // namespace outcomed
