// Catalogues for tests of the loader: the real detectors and receivers, and sources with the
// settings such sources have.
#pragma once

#include <string>

#include "alerts/alertmanager/alertmanager.h"
#include "alerts/webhook/webhook.h"
#include "daemon/config/catalogs.h"
#include "daemon/config/config.h"
#include "daemon/config/loader.h"
#include "queries/base/http_client.h"
#include "queries/litellm/preset.h"
#include "queries/postgres/settings.h"
#include "queries/postgres/sql_text.h"

namespace outcomed::testing {

struct MetricsServer {
  std::string url;
  HttpAccess access;
  Duration timeout = 10s;
  std::int64_t max_bytes = 64 << 20;
  void visit(ParamVisitor& visitor) {
    visitor.url("url", url, "Address.");
    access.visit(visitor);
    visitor.duration("timeout", timeout, "Longest wait.");
    visitor.size("max_bytes", max_bytes, "Largest answer.");
    if (url.empty()) visitor.problem("url", "is missing", "write http://host:port");
  }
};

struct MetricsPage {
  std::string url;
  HttpAccess access;
  Duration scrape_interval = 15s;
  void visit(ParamVisitor& visitor) {
    visitor.url("url", url, "Address.");
    access.visit(visitor);
    visitor.duration("scrape_interval", scrape_interval, "Between two looks.");
  }
};

struct Recorded {
  std::string path;
  void visit(ParamVisitor& visitor) { visitor.path("path", path, "Where it is."); }
};

inline std::vector<SignalPlan> litellm_plans(const LitellmPreset& preset) {
  if (preset.metrics.empty()) return {};
  litellm::PresetSettings settings;
  settings.source = preset.metrics;
  settings.version = preset.version;
  settings.step = preset.step;
  return litellm::signals(settings);
}

inline const Catalogs& test_catalogs() {
  static const SourceEntry sources[] = {
      {"prometheus", "query API", make_settings<MetricsServer>, 30s},
      {"exposition", "a metrics page", make_settings<MetricsPage>, 0s},
      {"recording", "a file", make_settings<Recorded>, 0s, true, true},
      {"postgres", "a database", make_settings<PostgresSettings>, 90s, false, false, true,
       sql_label_columns},
  };
  static const ReceiverEntry receivers[] = {
      {"alertmanager", "Alertmanager", make_settings<AlertmanagerSettings>},
      {"webhook", "a webhook", make_settings<WebhookSettings>},
  };
  static const Catalogs catalogs{sources, detector_catalog(), receivers, litellm_plans};
  return catalogs;
}

// Loads a text as outcomed.yaml of the folder /etc/outcomed would be, but shown as "outcomed.yaml".
inline LoadedConfig load_text(std::string_view text, const Catalogs& catalogs = test_catalogs()) {
  return load_config_text(text, "outcomed.yaml", catalogs);
}

}  // namespace outcomed::testing
