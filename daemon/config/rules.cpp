// rules, from the main file, rules.d and the built-in text alike.
#include <fmt/core.h>

#include <algorithm>

#include "daemon/config/loading.h"
#include "daemon/config/recording_visitor.h"
#include "daemon/config/words.h"

namespace outcomed {
namespace {

bool is_rule_name(std::string_view name) {
  return !name.empty() && name.size() <= 200 && name.front() != ' ' && name.back() != ' ' &&
         name.find('\n') == std::string_view::npos && name.find('\t') == std::string_view::npos;
}

void check_name(Section& section, NodeVisitor& visitor, const RuleConfig& rule) {
  if (!require(visitor, section.problems, "name", rule.name, "alerts are told apart by it")) return;
  if (!is_rule_name(rule.name)) {
    visitor.problem("name", in_quotes(rule.name) + " can't be a name", "write one short line");
    return;
  }
  const Place at = visitor.place_of("name");
  const auto [first, fresh] = section.loading.rule_places.emplace(
      rule.name, fmt::format("{}:{}:{}", rule.file, at.line, at.column));
  if (!fresh) {
    visitor.problem(
        "name",
        fmt::format("{} is the name of another rule, at {}", in_quotes(rule.name), first->second),
        "rename one of them");
  }
}

std::string unknown_signal_hint(const Section& section, const std::string& name) {
  const Loading& loading = section.loading;
  if (!loading.config.litellm && loading.catalogs.litellm) {
    LitellmPreset both;
    both.metrics = both.spend = "?";
    for (const SignalPlan& plan : loading.catalogs.litellm(both)) {
      if (plan.name == name) return "it comes with presets: [{litellm: {metrics: …}}]";
    }
  }
  return nearest_hint(section.problems, name, loading.signals.names(), "signals");
}

const SignalPlan* find_signal(Section& section, NodeVisitor& visitor, const RuleConfig& rule) {
  Loading& loading = section.loading;
  if (loading.signals.holds(rule.signal)) {
    return &loading.config.signals[loading.signals.at(rule.signal)];
  }
  if (!loading.broken_signals.holds(rule.signal)) {
    section.problems.add(visitor.place_of("signal"), visitor.path_of("signal"),
                         "unknown signal " + shown(rule.signal),
                         unknown_signal_hint(section, rule.signal));
  }
  return nullptr;
}

void check_labels(Section& section, NodeVisitor& visitor, const RuleConfig& rule,
                  const SignalPlan& signal) {
  std::vector<std::string> offered = signal.labels;
  offered.insert(offered.end(), signal.failure_labels.begin(), signal.failure_labels.end());
  const auto check = [&](std::string_view setting, std::size_t i, const std::string& label) {
    if (std::ranges::find(offered, label) != offered.end()) return;
    const Node::Entry* entry = visitor.take(setting);
    if (!entry || i >= entry->value.items.size()) return;
    section.problems.add(entry->value.items[i].place, item_path(visitor.path_of(setting), i),
                         fmt::format("signal {} has no label {}", signal.name, shown(label)),
                         nearest_hint(section.problems, label, offered, "labels"));
  };
  check_label_list(visitor, section.problems, "by", rule.by);
  if (!visitor.is_broken("by")) {
    for (std::size_t i = 0; i < rule.by.size(); ++i) check("by", i, rule.by[i]);
  }
  if (!visitor.is_broken("matchers")) {
    for (std::size_t i = 0; i < rule.matchers.size(); ++i) {
      check("matchers", i, rule.matchers[i].name());
    }
  }
}

// A detector that sees the members of a group apart needs labels that tell requests apart, too.
void check_member_labels(Section& section, NodeVisitor& visitor, const RuleConfig& rule,
                         const SignalPlan& signal) {
  const std::vector<std::string> members = rule.detector->member_labels();
  for (const std::string& label : members) {
    const bool offered = std::ranges::find(signal.labels, label) != signal.labels.end();
    if (offered && std::ranges::find(rule.by, label) == rule.by.end()) continue;
    section.problems.add(
        visitor.place_of("kind"), visitor.path_of("kind"),
        offered ? fmt::format("{} tells the members of a group apart and can't be in `by`",
                              shown(label))
                : fmt::format("{} needs the label {}, which signal {} has not", rule.kind,
                              shown(label), signal.name),
        offered ? "take it out of `by`"
                : nearest_hint(section.problems, label, signal.labels, "labels"));
  }
  const auto splits_failures = std::ranges::find_if(rule.by, [&](const std::string& label) {
    return std::ranges::find(signal.failure_labels, label) != signal.failure_labels.end();
  });
  if (members.empty() || splits_failures == rule.by.end()) return;
  visitor.problem(
      "by", fmt::format("{} splits only failures of {}", shown(*splits_failures), signal.name),
      "rules over members of a group are split by labels of all requests");
}

// Labels of the rule must not pass for labels of the group.
void check_own_labels(Section& section, NodeVisitor& visitor, const RuleConfig& rule) {
  const Node::Entry* labels = visitor.take("labels");
  if (!labels) return;
  for (const Node::Entry& entry : labels->value.entries) {
    const bool fixed = entry.key == "alertname" || entry.key == "severity";
    if (!fixed && std::ranges::find(rule.by, entry.key) == rule.by.end()) continue;
    section.problems.add(
        entry.place, join_path(visitor.path_of("labels"), entry.key),
        fmt::format("the label {} is set by outcomed", entry.key),
        entry.key == "severity" ? "set severity beside the line of the rule" : "use another name");
  }
}

// `for` may stand in the rule or in its tiers.
std::string_view where_is(const Node& rule, std::string_view setting) {
  return rule.find(setting) || !rule.find("tiers") ? setting : "tiers";
}

void check_spans(Section& section, NodeVisitor& visitor, const Node& node, const RuleConfig& rule,
                 const SignalPlan& signal) {
  const Duration kept = section.loading.config.store.keep(signal.step);
  const std::string_view setting =
      signal.step < 1h ? "store.retention.buckets" : "store.retention.long_buckets";
  const auto too_long = [&](std::string_view what) {
    return fmt::format("{} is longer than buckets are kept ({})", what, format_duration(kept));
  };
  const std::string raise = fmt::format("shorten it, or raise {}", setting);
  for (const Tier& tier : rule.detector->tiers()) {
    if (tier.hold > kept) {
      visitor.problem(where_is(node, "for"), too_long("for"), raise);
      break;
    }
  }
  // What has a long memory is saved itself, and goes on from that.
  if (!rule.detector->long_memory() && rule.detector->reach() > kept) {
    visitor.problem("window",
                    fmt::format("looks back {}, and buckets are kept {}",
                                format_duration(rule.detector->reach()), format_duration(kept)),
                    raise);
  }
  if (rule.keep_firing_for > kept) {
    visitor.problem("keep_firing_for", too_long("keep_firing_for"), raise);
  }
}

void note_short_window(Section& section, NodeVisitor& visitor, const RuleConfig& rule,
                       const SignalPlan& signal) {
  for (const Setting& setting : rule.settings) {
    if (setting.name != "window" || visitor.is_broken("window")) continue;
    const Result<Duration> window = parse_duration(setting.value);
    if (!window || *window < signal.step || *window >= 2 * signal.step) continue;
    const Place at = visitor.place_of("window");
    ProblemSink(rule.file, section.loading.notes)
        .add(at, visitor.path_of("window"),
             fmt::format("{} holds a single step of signal {}", setting.value, signal.name),
             "two or more steps make a steadier share");
  }
}

// Two alerts with the same severity would be one.
void check_tiers(NodeVisitor& visitor, const RuleConfig& rule) {
  const std::vector<Tier>& tiers = rule.detector->tiers();
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].severity.empty()) {
      visitor.problem("severity", "is empty", "write page, ticket or a word of yours");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (tiers[i].severity == tiers[j].severity) {
        visitor.problem("tiers",
                        fmt::format("two tiers have the severity {}", shown(tiers[i].severity)),
                        "give each its own");
      }
    }
  }
}

// A built-in rule whose signal is the user's own, by the same name but without the labels that the
// rule needs, is no fault of theirs. True: there are problems since `before`; they are notes now.
bool leave_out(Loading& loading, std::size_t before) {
  if (loading.problems.size() == before) return false;
  for (std::size_t i = before; i < loading.problems.size(); ++i) {
    ConfigProblem note = loading.problems[i];
    note.message = "this built-in rule is left out: " + note.message;
    loading.notes.push_back(std::move(note));
  }
  loading.problems.resize(before);
  return true;
}

void load_rule(Section& section, const Node& node, const std::string& path, bool built_in) {
  Loading& loading = section.loading;
  const Node::Entry* named = node.find("signal");
  if (built_in && (!named || !loading.signals.holds(named->value.text))) return;

  RuleConfig rule;
  rule.file = section.problems.file();
  rule.place = node.place;
  rule.path = path;
  NodeVisitor visitor(node, path, section.problems, loading.folder);
  rule.visit(visitor);
  check_name(section, visitor, rule);
  const SignalPlan* signal = nullptr;
  if (require(visitor, section.problems, "signal", rule.signal, "name the signal it judges")) {
    signal = find_signal(section, visitor, rule);
  }
  const DetectorEntry* plugin = find_kind(loading.catalogs.detectors, rule.kind);
  if (plugin) {
    SignalWords words;
    if (signal) words = {signal->unit, signal->outcome, signal->step, loading.catalogs.zones, {}};
    words.prices = loading.config.prices.tables;
    words.money = signal && signal->money;
    SettingRecorder recorder(SettingRecorder::Mode::values);
    RecordingVisitor both(visitor, recorder);
    rule.detector = plugin->make(both, words);
    rule.settings = recorder.take();
  } else if (require(visitor, section.problems, "kind", rule.kind, "name the kind of the rule")) {
    report_unknown_kind(section.problems, visitor.place_of("kind"), visitor.path_of("kind"),
                        KindOf::rule, rule.kind, kinds_of(loading.catalogs.detectors));
  }
  check_own_labels(section, visitor, rule);
  const std::size_t before = section.problems.size();
  if (signal) check_labels(section, visitor, rule, *signal);
  if (rule.detector && signal) check_member_labels(section, visitor, rule, *signal);
  if (built_in && leave_out(loading, before)) return;
  if (rule.detector) check_tiers(visitor, rule);
  if (rule.detector && signal) {
    if (loading.retention_known) check_spans(section, visitor, node, rule, *signal);
    note_short_window(section, visitor, rule, *signal);
  }
  if (plugin) visitor.finish();
  loading.config.rules.push_back(std::move(rule));
}

}  // namespace

void load_rules(Section& section, bool built_in) {
  const Node::Entry* list = section.top.take("rules");
  if (!list) return;
  section.loading.has_rules = true;
  if (list->value.kind != Node::Kind::sequence) {
    const bool null = list->value.kind == Node::Kind::null;
    section.problems.add(list->value.place, "rules", kind_text(list->value),
                         null ? "remove the key to use the built-in rules, or write [] for none"
                              : "write a list of rules");
    return;
  }
  for (std::size_t i = 0; i < list->value.items.size(); ++i) {
    const Node& item = list->value.items[i];
    const std::string path = item_path("rules", i);
    if (item.kind == Node::Kind::map) {
      load_rule(section, item, path, built_in);
    } else {
      section.problems.add(item.place, path, kind_text(item), "write a mapping of settings");
    }
  }
}

}  // namespace outcomed
