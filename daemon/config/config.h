// What the configuration file says, typed and checked. Each `visit` declares its settings once:
// name, unit, default and a sentence; loading, the JSON Schema and docs/configuration.md are made
// from it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alerts/routing.h"
#include "daemon/config/catalogs.h"
#include "daemon/config/prices.h"
#include "daemon/config/problem.h"
#include "daemon/config/settings.h"
#include "detectors/detector.h"
#include "queries/base/http_client.h"
#include "queries/base/matcher.h"
#include "queries/base/params.h"
#include "queries/signal.h"

namespace outcomed {

struct SourceConfig {
  std::string name;
  std::string kind;
  Duration delay{};
  std::unique_ptr<PluginSettings> settings;  // Never null in a configuration without problems.
  Place place;

  void visit(ParamVisitor& visitor);  // Without those of the kind.
};

// presets: [{litellm: {…}}]
struct LitellmPreset {
  std::string metrics;  // Name of a source; empty: not configured.
  std::string spend;    // Name of a source; empty: not configured.
  std::string version = "auto";
  std::vector<std::string> private_groups;
  std::vector<std::string> private_domains;
  std::vector<std::string> no_reasoning;
  bool finish_reasons = false;
  Duration step = std::chrono::minutes(1);
  Matchers matchers;
  std::shared_ptr<const PriceTables> prices = nullptr;  // Of the section `prices`.

  void visit(ParamVisitor& visitor);
};

// One entry of `signals:`.
struct SignalSettings {
  std::string source;
  std::string failures;
  std::string requests;
  std::vector<std::string> labels;
  std::vector<std::string> failure_labels;
  Duration step = std::chrono::minutes(1);
  std::string sql;
  std::string time_zone;
  std::string unit = "requests";
  std::string outcome = "failed";

  void visit(ParamVisitor& visitor);
};

struct RuleConfig {
  std::string name;
  std::string kind;
  std::string signal;
  std::vector<std::string> by;
  Matchers matchers;
  Labels labels;
  Labels annotations;
  Duration keep_firing_for{};

  std::unique_ptr<Detector> detector;  // Never null in a configuration without problems.
  std::vector<Setting> settings;       // Of the detector, as they are in force, defaults included.
  std::string file;
  Place place;
  std::string path;  // rules[2]

  void visit(ParamVisitor& visitor);  // Without those of the kind.
  // Everything the memory of the rule's folds depends on, in one stable text.
  [[nodiscard]] std::string identity() const;
};

struct ReceiverPart {
  std::string kind;
  std::unique_ptr<PluginSettings> settings;
};

struct ReceiverConfig {
  std::string name;
  std::vector<ReceiverPart> parts;  // None: messages to it are dropped.
  Place place;
};

// One route without its children; its meaning is alerts/routing.h's.
void visit_route(Route& route, ParamVisitor& visitor);

struct StoreConfig {
  std::string sqlite = "/var/lib/outcomed/history.db";
  Duration keep_buckets = std::chrono::hours(24 * 35);        // Steps shorter than an hour.
  Duration keep_long_buckets = std::chrono::hours(24 * 400);  // An hour and longer.
  Duration keep_episodes = std::chrono::hours(24 * 400);
  Duration keep_deliveries = std::chrono::hours(24 * 35);
  Duration keep_configs = std::chrono::hours(24 * 400);

  // How far back buckets of this length can be read.
  [[nodiscard]] Duration keep(Duration step) const {
    return step < std::chrono::hours(1) ? keep_buckets : keep_long_buckets;
  }
  void visit(ParamVisitor& visitor);
};

struct HttpConfig {
  std::string listen = "127.0.0.1:9469";
  std::string external_url;
  std::vector<std::string> allowed_hosts;

  void visit(ParamVisitor& visitor);
};

// A request after every cycle in which everything worked; none where `url` is empty.
struct HeartbeatConfig {
  std::string url;
  Duration every = std::chrono::minutes(1);
  HttpAccess access;

  void visit(ParamVisitor& visitor);
};

struct Config {
  std::vector<SourceConfig> sources;
  std::optional<LitellmPreset> litellm;
  // Of the preset, then the user's own; `labels` and `failure_labels` are all that each offers.
  std::vector<SignalPlan> signals;
  std::vector<RuleConfig> rules;
  bool default_rules = false;  // `rules` are the built-in ones.
  std::vector<ReceiverConfig> receivers;
  std::optional<Route> route;
  StoreConfig store;
  HttpConfig http;
  PricesConfig prices;
  HeartbeatConfig heartbeat;

  [[nodiscard]] const SourceConfig* source(std::string_view name) const;
  [[nodiscard]] const SignalPlan* signal(std::string_view name) const;
  [[nodiscard]] const ReceiverConfig* receiver(std::string_view name) const;
};

}  // namespace outcomed
