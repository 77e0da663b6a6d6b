// signals.
#include <fmt/core.h>

#include "daemon/config/loading.h"

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

// `sql` and `time_zone` are read from a later version on; here they get one message.
bool refuse_sql(Section& section, NodeVisitor& visitor, const Node& node) {
  const bool zone = node.find("time_zone") && visitor.take("time_zone");
  const Node::Entry* sql = node.find("sql") ? visitor.take("sql") : nullptr;
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
  const bool sql = refuse_sql(section, visitor, entry.value);
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

}  // namespace

void load_signals(Section& section) {
  for (const Node::Entry* entry :
       named_entries(section, "signals", section.loading.broken_signals)) {
    load_signal(section, *entry);
  }
}

}  // namespace outcomed
