#include "daemon/gateway/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/config/files.h"
#include "daemon/config/node_visitor.h"
#include "daemon/config/words.h"
#include "daemon/gateway/names.h"
#include "daemon/gateway/rule_list.h"
#include "queries/base/ascii.h"
#include "queries/base/glob.h"

namespace outcomed {
namespace {

std::optional<FindingLevel> level_of(std::string_view text) {
  for (const FindingLevel level :
       {FindingLevel::error, FindingLevel::warning, FindingLevel::note}) {
    if (text == to_string(level)) return level;
  }
  return std::nullopt;
}

void load_switch(const Node::Entry& entry, GatewayPolicy& policy, ProblemSink& problems) {
  const std::string path = join_path("checks", entry.key);
  std::vector<std::string> ids;
  for (const GatewayRule& rule : rule_list()) ids.emplace_back(rule.id);
  if (std::ranges::find(ids, entry.key) == ids.end()) {
    const auto near = suggest(entry.key, ids);
    problems.add(entry.place, path, "unknown check " + shown(entry.key),
                 near ? fmt::format("did you mean {}?", *near)
                      : fmt::format("one of {}", fmt::join(ids, ", ")));
    return;
  }
  if (entry.value.kind != Node::Kind::map) {
    problems.add(entry.value.place, path, kind_text(entry.value),
                 "write {enabled: false, reason: …} or {level: note}");
    return;
  }
  CheckSwitch own;
  std::string level;
  NodeVisitor visitor(entry.value, path, problems, {});
  visitor.flag("enabled", own.enabled, "");
  visitor.text("reason", own.reason, "");
  visitor.text("level", level, "");
  if (!own.enabled && own.reason.empty()) {
    visitor.problem("enabled", "is switched off without a reason",
                    "write reason: why this doesn't apply here");
  }
  own.level = level_of(level);
  if (!level.empty() && !own.level) {
    visitor.problem("level", shown(level) + " is no level", "one of error, warning, note");
  }
  visitor.finish();
  policy.checks[entry.key] = own;
}

void load_switches(const Node& map, GatewayPolicy& policy, ProblemSink& problems) {
  if (map.kind == Node::Kind::null) return;
  if (map.kind != Node::Kind::map) {
    problems.add(map.place, "checks", kind_text(map), "write {CHECK: {enabled: false, reason: …}}");
    return;
  }
  for (const Node::Entry& entry : map.entries) load_switch(entry, policy, problems);
}

bool is_domain(std::string_view text) {
  return !text.empty() && text != "." && std::ranges::all_of(text, [](char c) {
    return is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
  });
}

}  // namespace

bool operator==(const GatewayPolicy&, const GatewayPolicy&) = default;

void GatewayPolicy::visit(ParamVisitor& visitor) {
  if (visitor.begin("cooldown", "When a deployment is left out, and for how long.")) {
    visitor.duration("longest", longest_cooldown, "The longest cooldown allowed.");
    visitor.count("min_errors", min_errors, {1, 1'000'000},
                  "Errors that must have happened when a cooldown begins.");
    visitor.end();
  }
  if (visitor.begin("retries", "What happens after the provider's 429.")) {
    visitor.count("rate_limit", min_rate_limit_retries, {0, 100}, "Fewest retries of a 429.");
    visitor.duration("min_pause", min_pause, "Shortest pause before a retry (retry_after).");
    visitor.end();
  }
  if (visitor.begin("private", "Groups whose data must not leave the house.")) {
    visitor.text_list("groups", private_groups, "Their names; * stands for anything.");
    visitor.text_list("domains", private_domains, "Names in these domains are private addresses.");
    for (const std::string& domain : private_domains) {
      if (is_domain(domain)) continue;
      visitor.problem("domains", shown(domain) + " is not a domain",
                      "write corp.example: the name and all below it");
    }
    visitor.text_list("variables", private_variables,
                      "Environment variables known to hold private addresses.");
    visitor.flag("carrier_grade_nat", carrier_grade_nat, "Whether 100.64.0.0/10 is private.");
    visitor.flag("fallbacks_among_private", fallbacks_among_private,
                 "Whether a private group may fall back to other private groups.");
    visitor.end();
  }
  visitor.share("price_tolerance", price_tolerance, "Difference of prices that is no finding.");
  if (visitor.begin("quotas", "How a deployment with a daily quota is known.")) {
    visitor.text_list("models", quota_models, "Names of such models; * stands for anything.");
    visitor.text_list("settings", quota_settings,
                      "Settings of litellm_params or model_info that state a daily quota.");
    visitor.end();
  }
}

bool GatewayPolicy::is_private(std::string_view group) const {
  return any_glob_matches(private_groups, group);
}

LoadedPolicy load_policy_text(std::string_view text, const std::string& name) {
  LoadedPolicy loaded;
  ProblemSink problems(name, loaded.problems);
  Node root;
  if (!parse_yaml(text, root, problems)) return loaded;
  if (root.kind != Node::Kind::map && root.kind != Node::Kind::null) {
    problems.add(root.place, "", "is no mapping of settings",
                 "see outcomed gateway check --print-defaults");
    return loaded;
  }
  NodeVisitor top(root, "", problems, {});
  loaded.policy.visit(top);
  if (const Node::Entry* prices = top.take("prices")) {
    loaded.policy.prices = load_published_prices(prices->value, "prices", problems);
  }
  if (const Node::Entry* checks = top.take("checks")) {
    load_switches(checks->value, loaded.policy, problems);
  }
  top.finish();
  sort_problems(loaded.problems);
  return loaded;
}

LoadedPolicy load_policy(const std::filesystem::path& path) {
  const Result<std::string> text = read_config_text(path);
  if (text) return load_policy_text(*text, path.string());
  LoadedPolicy loaded;
  ProblemSink(path.string(), loaded.problems).add({}, "", text.error());
  return loaded;
}

}  // namespace outcomed
