// sources and presets.
#include <fmt/core.h>

#include <algorithm>

#include "daemon/config/loading.h"
#include "daemon/config/words.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

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

bool is_version(std::string_view text) {
  return text == "auto" ||
         (!text.empty() && text.front() >= '0' && text.front() <= '9' &&
          text.find('.') != std::string_view::npos && std::ranges::all_of(text, [](char c) {
            return is_digit(c) || c == '.' || c == '-' || (c >= 'a' && c <= 'z');
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
  for (const auto& [name, given] :
       {std::pair<std::string_view, bool>("no_reasoning", !preset.no_reasoning.empty()),
        std::pair<std::string_view, bool>("finish_reasons", preset.finish_reasons)}) {
    if (!given || !preset.spend.empty() || visitor.is_broken("spend")) continue;
    visitor.problem(name, "is read from the gateway's spend tables, and none are given",
                    "name a source of kind postgres: spend: ledger");
  }
  if (!is_version(preset.version)) {
    visitor.problem("version", shown(preset.version) + " is not a version",
                    "write auto, or a version such as 1.81.9");
  }
  check_step(visitor, preset.step);
  visitor.finish();
  if (loading.catalogs.litellm) {
    preset.prices = loading.config.prices.tables;
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

}  // namespace outcomed
