#include "daemon/config/loading.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "alerts/text.h"
#include "daemon/config/words.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

constexpr std::array<std::string_view, 6> kLaterSections = {
    "mute_time_intervals", "time_intervals", "inhibit_rules", "silences", "templates", "calendars"};
constexpr std::array<std::string_view, 5> kLaterRules = {"latency", "budget", "channel",
                                                         "shared_fate", "silence"};
constexpr std::array<std::string_view, 4> kLaterReceivers = {"slack", "pagerduty", "telegram",
                                                             "email"};

bool holds(std::span<const std::string_view> words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

constexpr Duration kShortestStep = 1s;
constexpr Duration kLongestStep = std::chrono::hours(24 * 31);

bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 100 && std::ranges::all_of(name, [](char c) {
    return is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
  });
}

std::string comma_list(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

bool is_later_section(std::string_view name) { return holds(kLaterSections, name); }

bool is_later_kind(KindOf of, std::string_view kind) {
  switch (of) {
    case KindOf::source:
      return false;
    case KindOf::rule:
      return holds(kLaterRules, kind);
    case KindOf::receiver:
      return holds(kLaterReceivers, kind);
  }
  return false;
}

std::string nearest_hint(const ProblemSink& problems, std::string_view text,
                         const std::vector<std::string>& known, std::string_view what) {
  if (!problems.is_crowded()) {
    if (const auto near = suggest(text, known)) return fmt::format("did you mean {}?", *near);
  }
  if (known.empty()) return fmt::format("there are no {} here", what);
  constexpr std::size_t kMany = 30;
  std::vector<std::string> some(
      known.begin(), known.begin() + static_cast<std::ptrdiff_t>(std::min(known.size(), kMany)));
  if (known.size() > kMany) some.emplace_back("…");
  return fmt::format("{} here: {}", what, comma_list(some));
}

void report_unknown_kind(ProblemSink& problems, Place place, const std::string& path, KindOf of,
                         std::string_view kind, const std::vector<std::string>& known) {
  if (is_later_kind(of, kind)) {
    problems.add(place, path, fmt::format("kind {} isn't built in this version", kind),
                 fmt::format("kinds here: {}", comma_list(known)));
    return;
  }
  std::string word(kind);
  if (word.ends_with("_configs")) word.resize(word.size() - std::string_view("_configs").size());
  problems.add(place, path, fmt::format("unknown kind {}", shown(kind)),
               nearest_hint(problems, word, known, "kinds"));
}

bool require(NodeVisitor& visitor, ProblemSink& problems, std::string_view name,
             const std::string& value, std::string hint) {
  if (!value.empty()) return true;
  if (visitor.is_broken(name)) return false;
  const bool there = visitor.take(name) != nullptr;
  problems.add(visitor.place_of(name), visitor.path_of(name), there ? "is empty" : "is missing",
               std::move(hint));
  return false;
}

void check_label_list(NodeVisitor& visitor, ProblemSink& problems, std::string_view name,
                      const std::vector<std::string>& labels,
                      const std::vector<std::string>& others) {
  const Node::Entry* entry = visitor.take(name);
  if (!entry || visitor.is_broken(name)) return;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto report = [&](std::string message, std::string hint) {
      problems.add(entry->value.items[i].place, item_path(visitor.path_of(name), i),
                   std::move(message), std::move(hint));
    };
    if (!is_label_name(labels[i]) || labels[i].starts_with("__")) {
      report(shown(labels[i]) + " is not a label name",
             "use letters, digits and _, not starting with a digit or __");
    } else if (std::find(labels.begin(), labels.begin() + static_cast<std::ptrdiff_t>(i),
                         labels[i]) != labels.begin() + static_cast<std::ptrdiff_t>(i)) {
      report(labels[i] + " stands twice", "remove one of them");
    } else if (std::ranges::find(others, labels[i]) != others.end()) {
      report(labels[i] + " stands in labels too", "keep it in one of the two lists");
    }
  }
}

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

}  // namespace outcomed
