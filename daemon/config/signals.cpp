// signals.
#include <fmt/core.h>

#include <algorithm>

#include "daemon/config/loading.h"
#include "daemon/config/words.h"

namespace outcomed {
namespace {

Selector read_selector(NodeVisitor& visitor, std::string_view name, const std::string& text) {
  Result<Selector> selector = Selector::parse(text);
  if (selector) return *std::move(selector);
  visitor.problem(name, selector.error().message);
  return {};
}

CounterTerm counter_term(Selector selector, bool n, bool k) {
  CounterTerm term;
  term.selector = std::move(selector);
  term.counts_n = n;
  term.counts_k = k;
  term.labels = [](const Labels& raw) { return std::optional<Labels>(raw); };
  return term;
}

void read_selectors(NodeVisitor& visitor, const SignalSettings& settings, const SourceEntry* source,
                    SignalPlan& plan) {
  if (source && !source->counters && !(settings.failures.empty() && settings.requests.empty())) {
    visitor.problem(settings.failures.empty() ? "requests" : "failures",
                    fmt::format("a source of kind {} has no counters", source->kind),
                    "remove the selectors");
    return;
  }
  if (settings.failures.empty() && settings.requests.empty()) {
    if (source && !source->buckets) {
      visitor.problem("failures", "is missing",
                      "write selectors of counters: failures: 'errors_total', requests: "
                      "'requests_total'");
    }
    return;
  }
  for (const auto& [name, text] :
       {std::pair<std::string_view, const std::string&>("failures", settings.failures),
        std::pair<std::string_view, const std::string&>("requests", settings.requests)}) {
    if (text.empty()) {
      visitor.problem(name, "is missing", "failures and requests belong together");
    } else {
      const bool k = name == "failures";
      plan.terms.push_back(counter_term(read_selector(visitor, name, text), !k, k));
    }
  }
}

constexpr Duration kDay = std::chrono::hours(24);

// When days of the zone begin, as far as one hour can say for all year: in its standard time, the
// smaller offset of mid-January and mid-July.
Duration day_anchor(const TimeZone& zone) {
  const auto offset = [&](unsigned month) {
    return zone.offset(std::chrono::sys_days(std::chrono::year_month_day(
        std::chrono::year(2026), std::chrono::month(month), std::chrono::day(15))));
  };
  const Duration standard = std::min(offset(1), offset(7));
  return ((-standard) % kDay + kDay) % kDay;
}

void read_time_zone(Section& section, NodeVisitor& visitor, const SignalSettings& settings,
                    SignalPlan& plan) {
  const TimeZones* zones = section.loading.catalogs.zones.get();
  if (settings.time_zone.empty() || zones == nullptr) return;
  plan.zone = zones->find(settings.time_zone);
  if (plan.zone == nullptr) {
    visitor.problem("time_zone", shown(settings.time_zone) + " is no time zone",
                    "write an IANA name such as Europe/Moscow");
    return;
  }
  plan.time_zone = settings.time_zone;
  if (plan.step % kDay == Duration::zero()) plan.anchor = day_anchor(*plan.zone);
}

void read_sql(Section& section, NodeVisitor& visitor, const SignalSettings& settings,
              const SourceEntry* source, SignalPlan& plan) {
  if (!settings.failures.empty() || !settings.requests.empty()) {
    visitor.problem("sql", "failures and requests are counters, sql is a query",
                    "keep one of them");
  }
  if (!settings.failure_labels.empty()) {
    visitor.problem("failure_labels", "each row of sql has an n of its own", "use labels");
  }
  read_time_zone(section, visitor, settings, plan);
  plan.sql = settings.sql;
  if (source == nullptr) return;
  if (!source->sql) {
    visitor.problem("sql", fmt::format("a source of kind {} isn't asked in SQL", source->kind),
                    "name a source of kind postgres, or remove the setting");
    return;
  }
  const bool declared = !settings.labels.empty();
  if (declared && source->check_sql != nullptr) {
    if (const Status fine = source->check_sql(settings.sql); !fine) {
      visitor.problem("sql", fine.error().message);
    }
  } else if (!declared && source->sql_labels != nullptr) {
    auto labels = source->sql_labels(settings.sql);
    if (labels) {
      plan.labels = *std::move(labels);
    } else {
      visitor.problem("sql", labels.error().message);
    }
  }
}

void read_counts(NodeVisitor& visitor, const SignalSettings& settings, const SourceEntry* source,
                 SignalPlan& plan) {
  if (!settings.time_zone.empty()) {
    visitor.problem("time_zone", "is read with sql only", "remove it; days are days of UTC");
  }
  if (source != nullptr && source->sql) {
    visitor.problem("sql", "is missing", "write a query that returns at, n, k and labels");
    return;
  }
  read_selectors(visitor, settings, source, plan);
}

void load_signal(Section& section, const Node::Entry& entry) {
  Loading& loading = section.loading;
  SignalSettings settings;
  NodeVisitor visitor(entry.value, join_path("signals", entry.key), section.problems,
                      loading.folder);
  settings.visit(visitor);
  SignalPlan plan;
  plan.name = entry.key;
  plan.source = settings.source;
  plan.labels = settings.labels;
  plan.failure_labels = settings.failure_labels;
  plan.step = settings.step;
  plan.unit = settings.unit;
  plan.outcome = settings.outcome;
  const SourceEntry* source = nullptr;
  if (require(visitor, section.problems, "source", settings.source, "name a source")) {
    source = find_source(section, visitor, "source", settings.source);
  }
  if (!settings.sql.empty()) {
    read_sql(section, visitor, settings, source, plan);
  } else {
    read_counts(visitor, settings, source, plan);
  }
  check_label_list(visitor, section.problems, "labels", settings.labels);
  check_label_list(visitor, section.problems, "failure_labels", settings.failure_labels,
                   settings.labels);
  check_step(visitor, settings.step);
  visitor.finish();
  if (!add_signal(loading, std::move(plan))) {
    section.problems.add(entry.place, join_path("signals", entry.key),
                         "the litellm preset has a signal of this name", "choose another name");
  }
}

}  // namespace

void load_signals(Section& section) {
  for (const Node::Entry* entry :
       named_entries(section, "signals", section.loading.broken_signals)) {
    load_signal(section, *entry);
  }
}

}  // namespace outcomed
