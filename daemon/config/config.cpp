#include "daemon/config/config.h"

#include <algorithm>

#include "daemon/config/values.h"

namespace outcomed {
namespace {

template <class Items>
auto* find_named(Items& items, std::string_view name) {
  const auto found =
      std::ranges::find_if(items, [&](const auto& item) { return item.name == name; });
  return found == items.end() ? nullptr : &*found;
}

// Settings of how an alert behaves, which no fold remembers.
void drop_alert_settings(std::vector<Setting>& settings) {
  std::erase_if(settings, [](const Setting& s) { return s.name == "for" || s.name == "severity"; });
  for (Setting& setting : settings) {
    for (Setting& item : setting.children) {
      std::erase_if(item.children,
                    [](const Setting& s) { return s.name == "for" || s.name == "severity"; });
    }
  }
}

}  // namespace

void SourceConfig::visit(ParamVisitor& visitor) {
  visitor.text("kind", kind, "Kind of the source. Required.");
  visitor.duration("delay", delay,
                   "A step is judged this long after its end, so that late data are in.");
  if (delay > std::chrono::hours(24 * 7)) {
    visitor.problem("delay", "longer than a week",
                    "the delay is how late data come in, such as 30s");
  }
}

void LitellmPreset::visit(ParamVisitor& visitor) {
  visitor.text("metrics", metrics, "Source of the gateway's metrics.");
  visitor.text("spend", spend, "Source of the gateway's spend tables.");
  visitor.text("version", version,
               "Version of the gateway, such as 1.81.9; it decides which counters count twice. "
               "`auto` learns that from the data.");
  visitor.text_list(
      "private", private_groups,
      "Model groups whose data must not leave, as patterns with `*`. The signal `leaks` "
      "counts their requests that another group or a foreign address served.");
  visitor.text_list(
      "private_domains", private_domains,
      "Domains of the house: deployments there are private, as are private addresses.");
  visitor.text_list("no_reasoning", no_reasoning,
                    "Consumers that should get no reasoning tokens, as patterns with `*`: aliases "
                    "of keys, or of teams. The signal `unwanted_reasoning` counts what they got.");
  visitor.flag("finish_reasons", finish_reasons,
               "Whether spend rows are asked how the answer ended, so that answers that were cut "
               "off count as waste. Only where the gateway keeps answers; the server must read "
               "each of them for that one word.");
  visitor.duration("step", step, "Length of one bucket.");
  visitor.matchers("matchers", matchers, "Only these series of the source are the gateway's.");
}

void SignalSettings::visit(ParamVisitor& visitor) {
  visitor.text("source", source, "Name of the source. Required.");
  visitor.text(
      "failures", failures,
      "Selector of the counters of failures, such as `http_requests_total{code=~\"5..\"}`. "
      "No functions: counters are read raw.");
  visitor.text("requests", requests, "Selector of the counters of all requests.");
  visitor.text_list("labels", labels, "Labels kept; rules may split by them and match them.");
  visitor.text_list("failure_labels", failure_labels,
                    "Labels kept of failures only: they split k, never n.");
  visitor.duration("step", step, "Length of one bucket.");
  visitor.text(
      "sql", sql,
      "One query that returns at, n, k and labels, with :from and :to in it; for sources of "
      "kind postgres. Without `labels` its other columns are the labels.");
  visitor.text("time_zone", time_zone,
               "IANA name: days of `sql` are days of this zone, and times without zone are local.");
  visitor.text("unit", unit, "What is counted, in the words of messages.");
  visitor.text("outcome", outcome,
               "What befell those counted as failures, in the words of messages.");
}

void RuleConfig::visit(ParamVisitor& visitor) {
  visitor.text("name", name, "Name of the rule and of its alerts. Required; each only once.");
  visitor.text("kind", kind, "Kind of the rule. Required.");
  visitor.text("signal", signal, "Name of the signal it judges. Required.");
  visitor.text_list("by", by, "Labels that split the signal into groups, each with its own alert.");
  visitor.matchers("matchers", matchers, "Only these groups of the signal.");
  visitor.labels("labels", labels, "Labels added to the alerts, for routing.");
  visitor.labels("annotations", annotations, "Texts added to the alerts, such as `runbook_url`.");
  visitor.duration("keep_firing_for", keep_firing_for,
                   "Healthy this long before a firing alert resolves.");
}

std::string RuleConfig::identity() const {
  std::vector<Setting> kept = settings;
  drop_alert_settings(kept);
  std::string text = "kind=" + kind + "\nsignal=" + signal + "\n";
  for (const std::string& label : by) text += "by=" + label + "\n";
  for (const Matcher& matcher : matchers) text += "matcher=" + matcher.to_string() + "\n";
  if (detector != nullptr) text += "memory=" + std::to_string(detector->memory_version()) + "\n";
  return text + to_text(kept);
}

void visit_route(Route& route, ParamVisitor& visitor) {
  visitor.text(
      "receiver", route.receiver,
      "Name of the receiver; children without one have their parent's. Required at the root.");
  visitor.text_list(
      "group_by", route.group_by,
      "Alerts with the same values of these labels belong together; `['...']`: by all "
      "labels. Children without it have their parent's.");
  visitor.matchers("matchers", route.matchers, "Only alerts with these labels. Not at the root.");
  visitor.flag("continue", route.goes_on, "Try the routes behind this one, too.");
}

void StoreConfig::visit(ParamVisitor& visitor) {
  visitor.path("sqlite", sqlite, "File of the history.");
  if (visitor.begin("retention", "How long history is kept.")) {
    visitor.duration("buckets", keep_buckets,
                     "Buckets shorter than an hour; rules can't look back further.");
    visitor.duration("long_buckets", keep_long_buckets, "Buckets of an hour and longer.");
    visitor.duration("episodes", keep_episodes, "Episodes, since they resolved.");
    visitor.duration("deliveries", keep_deliveries,
                     "Messages, since they were delivered or given up.");
    visitor.duration("configurations", keep_configs,
                     "Configurations that were in force, since their last use.");
    for (const auto& [name, age] :
         {std::pair("buckets", keep_buckets), std::pair("long_buckets", keep_long_buckets),
          std::pair("episodes", keep_episodes), std::pair("deliveries", keep_deliveries),
          std::pair("configurations", keep_configs)}) {
      if (age < 1h) visitor.problem(name, "too short to be of use", "at least 1h");
    }
    visitor.end();
  }
}

void HttpConfig::visit(ParamVisitor& visitor) {
  visitor.text("listen", listen, "Address of the API and /metrics.");
  visitor.url("external_url", external_url, "Where people reach it: the links in messages.");
  visitor.text_list("allowed_hosts", allowed_hosts,
                    "Host names it answers to, beside the address, localhost and external_url.");
}

void HeartbeatConfig::visit(ParamVisitor& visitor) {
  visitor.url("url", url,
              "Asked (GET) after ticks in which all sources answered, the history was written and "
              "nobody waits for a message.");
  visitor.duration("every", every, "At most one request in this time.");
  access.visit(visitor);
  if (every < 1s) visitor.problem("every", "is too short", "at least 1s");
}

const SourceConfig* Config::source(std::string_view name) const {
  return find_named(sources, name);
}
const SignalPlan* Config::signal(std::string_view name) const { return find_named(signals, name); }
const ReceiverConfig* Config::receiver(std::string_view name) const {
  return find_named(receivers, name);
}

}  // namespace outcomed
