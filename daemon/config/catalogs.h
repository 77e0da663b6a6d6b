// The plugins a configuration may name, as tables: the loader, the schema and the reference page
// know no plugin by its class.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "detectors/catalog.h"
#include "queries/base/params.h"
#include "queries/base/time_zone.h"
#include "queries/signal.h"

namespace outcomed {

struct LitellmPreset;

// Settings of one source or receiver, before anything is made of them. The daemon knows which class
// hides behind which kind (settings_as).
class PluginSettings {
 public:
  virtual ~PluginSettings() = default;
  // As Params::visit: shows every setting, then reports broken rules over several of them.
  virtual void visit(ParamVisitor& visitor) = 0;
};

template <class Settings>
struct PluginSettingsOf final : PluginSettings {
  Settings value;
  void visit(ParamVisitor& visitor) override { value.visit(visitor); }
};

template <class Settings>
std::unique_ptr<PluginSettings> make_settings() {
  return std::make_unique<PluginSettingsOf<Settings>>();
}

// The settings as the class they are; null when they are another's.
template <class Settings>
const Settings* settings_as(const PluginSettings& settings) {
  const auto* typed = dynamic_cast<const PluginSettingsOf<Settings>*>(&settings);
  return typed ? &typed->value : nullptr;
}

// A setting of a source that steps of its signals must be as long as, or longer than.
struct StepBound {
  std::string_view setting;
  Duration value{};
  bool may_equal = false;
  std::string_view why;
};

struct SourceEntry {
  std::string_view kind;
  std::string_view summary;
  std::unique_ptr<PluginSettings> (*make)() = nullptr;
  Duration delay{};      // Default of the source's `delay`.
  bool counters = true;  // Signals name selectors of its counters.
  bool buckets = false;  // Signals may do without selectors: it holds buckets by signal name.
  bool sql = false;      // Signals are SQL statements.
  // What is wrong with a signal's SQL, else the labels it returns.
  Result<std::vector<std::string>> (*sql_labels)(std::string_view sql) = nullptr;
  Status (*check_sql)(std::string_view sql) = nullptr;
  StepBound (*step_bound)(const PluginSettings& settings) = nullptr;  // Null: there is none.
};

struct ReceiverEntry {
  std::string_view kind;
  std::string_view summary;
  std::unique_ptr<PluginSettings> (*make)() = nullptr;
};

struct Catalogs {
  std::span<const SourceEntry> sources;
  std::span<const DetectorEntry> detectors;
  std::span<const ReceiverEntry> receivers;
  // The signals of the LiteLLM preset with these settings: only those whose half is configured.
  std::function<std::vector<SignalPlan>(const LitellmPreset&)> litellm;
  std::shared_ptr<const TimeZones> zones = nullptr;
};

template <class Entry>
const Entry* find_kind(std::span<const Entry> catalog, std::string_view kind) {
  for (const Entry& entry : catalog) {
    if (entry.kind == kind) return &entry;
  }
  return nullptr;
}

}  // namespace outcomed
