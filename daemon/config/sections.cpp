// sources, presets, signals, store and http.
#include <fmt/core.h>

#include <algorithm>

#include "daemon/config/loading.h"
#include "daemon/config/values.h"

namespace outcomed {
namespace {

constexpr Duration kShortestStep = 1s;
constexpr Duration kLongestStep = std::chrono::hours(24 * 31);

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

// The entries of a section that maps names to mappings; names of those that are none go to
// `broken`.
std::vector<const Node::Entry*> named_entries(Section& section, std::string_view name,
                                              NameTable& broken) {
  std::vector<const Node::Entry*> entries;
  const Node::Entry* map = section.top.take(name);
  if (!map) return entries;
  if (map->value.kind != Node::Kind::map) {
    section.problems.add(map->value.place, std::string(name), kind_text(map->value),
                         fmt::format("write a mapping from names to {}", name));
    return entries;
  }
  for (const Node::Entry& entry : map->value.entries) {
    const std::string path = join_path(name, entry.key);
    if (!is_plain_name(entry.key)) {
      section.problems.add(entry.place, path, shown(entry.key) + " can't be a name",
                           "use letters, digits and _ - .");
      broken.add(entry.key);
    } else if (entry.value.kind != Node::Kind::map) {
      section.problems.add(entry.value.place, path, kind_text(entry.value),
                           "write a mapping of settings");
      broken.add(entry.key);
    } else {
      entries.push_back(&entry);
    }
  }
  return entries;
}

void load_source(Section& section, const Node::Entry& entry) {
  Loading& loading = section.loading;
  SourceConfig source;
  source.name = entry.key;
  source.place = entry.place;
  NodeVisitor visitor(entry.value, join_path("sources", entry.key), section.problems,
                      loading.folder);
  const Node::Entry* kind = entry.value.find("kind");
  const SourceEntry* plugin =
      kind ? find_kind(loading.catalogs.sources, kind->value.text) : nullptr;
  if (plugin) source.delay = plugin->delay;
  source.visit(visitor);
  if (plugin) {
    source.settings = plugin->make();
    source.settings->visit(visitor);
    visitor.finish();
  } else if (require(visitor, section.problems, "kind", source.kind,
                     "name the kind of the source")) {
    report_unknown_kind(section.problems, visitor.place_of("kind"), visitor.path_of("kind"),
                        KindOf::source, source.kind, kinds_of(loading.catalogs.sources));
  }
  loading.sources.add(source.name);
  loading.config.sources.push_back(std::move(source));
}

// The source of that name, or a message. Null also where the source itself could not be loaded.
const SourceEntry* find_source(Section& section, NodeVisitor& visitor, std::string_view setting,
                               const std::string& name) {
  Loading& loading = section.loading;
  if (loading.sources.holds(name)) {
    return find_kind(loading.catalogs.sources,
                     loading.config.sources[loading.sources.at(name)].kind);
  }
  if (!loading.broken_sources.holds(name)) {
    section.problems.add(visitor.place_of(setting), visitor.path_of(setting),
                         "unknown source " + shown(name),
                         nearest_hint(section.problems, name, loading.sources.names(), "sources"));
  }
  return nullptr;
}

// Signals keep the order in which they are added; a name that is taken stays with the first.
bool add_signal(Loading& loading, SignalPlan plan) {
  if (!loading.signals.add(plan.name)) return false;
  loading.config.signals.push_back(std::move(plan));
  return true;
}

void check_step(NodeVisitor& visitor, Duration step) {
  if (step < kShortestStep || step > kLongestStep) {
    visitor.problem("step", format_duration(step) + " is no step", "between 1s and 31d");
  }
}

bool is_version(std::string_view text) {
  return text == "auto" ||
         (!text.empty() && text.front() >= '0' && text.front() <= '9' &&
          text.find('.') != std::string_view::npos && std::ranges::all_of(text, [](char c) {
            return (c >= '0' && c <= '9') || c == '.' || c == '-' || (c >= 'a' && c <= 'z');
          }));
}

void load_litellm(Section& section, const Node& node, const std::string& path) {
  Loading& loading = section.loading;
  LitellmPreset preset;
  NodeVisitor visitor(node, path, section.problems, loading.folder);
  preset.visit(visitor);
  if (preset.metrics.empty() && preset.spend.empty() && !visitor.is_broken("metrics") &&
      !visitor.is_broken("spend")) {
    section.problems.add(node.place, path, "neither metrics nor spend is given",
                         "name the source of the gateway's metrics: metrics: prom");
  }
  if (!preset.metrics.empty()) {
    const SourceEntry* source = find_source(section, visitor, "metrics", preset.metrics);
    if (source && !source->counters) {
      visitor.problem("metrics", fmt::format("a source of kind {} has no counters", source->kind),
                      "name a source of metrics");
    }
  }
  if (!preset.spend.empty()) {
    const SourceEntry* source = find_source(section, visitor, "spend", preset.spend);
    if (source && !source->sql) {
      visitor.problem("spend", fmt::format("a source of kind {} has no spend tables", source->kind),
                      "name a source of kind postgres, or remove the setting");
    }
  }
  if (!is_version(preset.version)) {
    visitor.problem("version", shown(preset.version) + " is not a version",
                    "write auto, or a version such as 1.81.9");
  }
  check_step(visitor, preset.step);
  visitor.finish();
  if (loading.catalogs.litellm) {
    LitellmPreset asked = preset;
    // Rules may name signals of a half whose setting is wrong: one mistake, one message.
    if (visitor.is_broken("metrics")) asked.metrics = "?";
    if (visitor.is_broken("spend")) asked.spend = "?";
    for (SignalPlan& plan : loading.catalogs.litellm(asked)) {
      add_signal(loading, std::move(plan));
    }
  }
  loading.config.litellm = std::move(preset);
}

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

// `sql` and `time_zone` are read from a later version on; here they get one message.
bool refuse_sql(Section& section, NodeVisitor& visitor) {
  const bool zone = visitor.take("time_zone") != nullptr;
  const Node::Entry* sql = visitor.take("sql");
  if (sql) {
    section.problems.add(sql->value.place, visitor.path_of("sql"),
                         "kind postgres isn't built in this version",
                         "use counters: failures and requests");
  } else if (zone) {
    visitor.problem("time_zone", "isn't read by this version", "remove it; days are days of UTC");
  }
  return sql != nullptr;
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
  const bool sql = refuse_sql(section, visitor);
  const SourceEntry* source = nullptr;
  if (require(visitor, section.problems, "source", settings.source, "name a source")) {
    source = find_source(section, visitor, "source", settings.source);
  }
  if (!sql) read_selectors(visitor, settings, source, plan);
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

void check_listen(NodeVisitor& top, const HttpConfig& http) {
  if (const Result<ListenAddress> address = parse_listen(http.listen); !address) {
    const std::string& message = address.error().message;
    const std::size_t split = message.rfind("; ");
    top.problem("listen", message.substr(0, split), message.substr(split + 2));
  }
  for (const std::string& host : http.allowed_hosts) {
    const bool plain = !host.empty() && std::ranges::all_of(host, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '.' || c == '-' || c == '_';
    });
    if (!plain) {
      top.problem("allowed_hosts", shown(host) + " is not a host name", "write names without port");
    }
  }
}

}  // namespace

void load_sources(Section& section) {
  if (!section.top.take("sources")) {
    section.problems.add({1, 1}, "sources", "is missing",
                         "name at least one source: sources: {prom: {kind: prometheus, url: …}}");
  }
  for (const Node::Entry* entry :
       named_entries(section, "sources", section.loading.broken_sources)) {
    load_source(section, *entry);
  }
}

void load_presets(Section& section) {
  const Node::Entry* list = section.top.take("presets");
  if (!list) return;
  constexpr std::string_view kExample = "write a list: [{litellm: {metrics: prom}}]";
  if (list->value.kind != Node::Kind::sequence) {
    section.problems.add(list->value.place, "presets", kind_text(list->value),
                         std::string(kExample));
    return;
  }
  for (std::size_t i = 0; i < list->value.items.size(); ++i) {
    const Node& item = list->value.items[i];
    const std::string path = item_path("presets", i);
    if (item.kind != Node::Kind::map) {
      section.problems.add(item.place, path, kind_text(item), std::string(kExample));
      continue;
    }
    for (const Node::Entry& entry : item.entries) {
      const std::string entry_path = join_path(path, entry.key);
      if (entry.key != "litellm") {
        section.problems.add(entry.place, entry_path, "unknown preset " + shown(entry.key),
                             nearest_hint(section.problems, entry.key, {"litellm"}, "presets"));
      } else if (entry.value.kind != Node::Kind::map) {
        section.problems.add(entry.value.place, entry_path, kind_text(entry.value),
                             "write {metrics: prom}");
      } else if (section.loading.config.litellm) {
        section.problems.add(entry.place, entry_path, "the preset litellm stands twice",
                             "keep one: its signals have fixed names");
      } else {
        load_litellm(section, entry.value, entry_path);
      }
    }
  }
}

void load_signals(Section& section) {
  for (const Node::Entry* entry :
       named_entries(section, "signals", section.loading.broken_signals)) {
    load_signal(section, *entry);
  }
}

void load_store_and_http(Section& section) {
  if (section.top.begin("store", "")) {
    section.loading.config.store.visit(section.top);
    section.top.end();
    section.loading.retention_known = !section.top.is_broken("store");
  }
  if (section.top.begin("http", "")) {
    section.loading.config.http.visit(section.top);
    check_listen(section.top, section.loading.config.http);
    section.top.end();
  }
}

}  // namespace outcomed
