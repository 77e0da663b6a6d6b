// From YAML to the model: sections, credentials, and which of two spellings is in force.
#include "daemon/gateway/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "daemon/config/words.h"

namespace outcomed {
namespace {

constexpr std::array<std::string_view, 4> kSections = {"model_list", "router_settings",
                                                       "litellm_settings", "general_settings"};

// A mapping or list of some file.
struct Part {
  const Node* node = nullptr;
  std::string file;
  std::string path;

  [[nodiscard]] GatewaySpot spot() const { return {file, node->place, path}; }
  [[nodiscard]] Part item(std::size_t index) const {
    return {&node->items[index], file, item_path(path, index)};
  }
  // Nothing where the key is absent or null.
  [[nodiscard]] std::optional<Part> at(std::string_view key) const {
    if (node->kind != Node::Kind::map) return std::nullopt;
    const Node::Entry* entry = node->find(key);
    if (!entry || entry->value.kind == Node::Kind::null) return std::nullopt;
    return Part{&entry->value, file, join_path(path, key)};
  }
};

class GatewayReader {
 public:
  explicit GatewayReader(std::string file) { out_.config.file = std::move(file); }

  // Only files that were parsed; the first one is the main file.
  LoadedGateway read(const std::deque<SourceText>& texts, std::vector<ConfigProblem> problems,
                     std::vector<ConfigProblem> duplicates) {
    out_.problems = std::move(problems);
    out_.config.duplicates = std::move(duplicates);
    for (const SourceText& text : texts) add_source(text);
    if (texts.empty()) return std::move(out_);
    read_credentials();
    for (const Part& list : model_lists_) read_model_list(list);
    read_settings(texts.front());
    sort_problems(out_.problems);
    return std::move(out_);
  }

 private:
  void problem(const Part& part, std::string message, std::string hint) {
    ProblemSink(part.file, out_.problems)
        .add(part.node->place, part.path, std::move(message), std::move(hint));
  }

  // An included file adds to lists and replaces everything else, as the gateway does it.
  void add_source(const SourceText& text) {
    const Part root{&text.root, text.file, ""};
    if (text.root.kind != Node::Kind::map) {
      problem(root, "holds no settings", "write model_list: and the like, as a mapping");
      return;
    }
    for (const std::string_view name : {"model_list", "credential_list"}) {
      const std::optional<Part> list = root.at(name);
      if (!list) continue;
      if (list->node->kind != Node::Kind::sequence) {
        problem(*list, "is not a list", "write one entry a deployment: - model_name: …");
        continue;
      }
      (name == "model_list" ? model_lists_ : credential_lists_).push_back(*list);
    }
    for (const std::string_view name :
         {"router_settings", "litellm_settings", "general_settings"}) {
      const std::optional<Part> section = root.at(name);
      if (!section) continue;
      if (section->node->kind != Node::Kind::map) {
        problem(*section, "is not a mapping", "write one setting a line: name: value");
        continue;
      }
      sections_[std::string(name)] = *section;
    }
  }

  GatewayValues scalars(const std::optional<Part>& map) {
    GatewayValues values;
    if (!map || map->node->kind != Node::Kind::map) return values;
    for (const Node::Entry& entry : map->node->entries) {
      if (entry.value.kind != Node::Kind::scalar) continue;
      values[entry.key] = {entry.value.text,
                           {map->file, entry.value.place, join_path(map->path, entry.key)},
                           entry.value.quoted};
    }
    return values;
  }

  void read_credentials() {
    for (const Part& list : credential_lists_) {
      for (std::size_t i = 0; i < list.node->items.size(); ++i) {
        const Part item = list.item(i);
        const GatewayValues head = scalars(item);
        const GatewayValue* name = value_at(head, "credential_name");
        if (name) credentials_[name->text] = scalars(item.at("credential_values"));
      }
    }
  }

  void read_model_list(const Part& list) {
    for (std::size_t i = 0; i < list.node->items.size(); ++i) read_deployment(list.item(i));
  }

  void read_deployment(const Part& item) {
    const GatewayValues head = scalars(item);
    const GatewayValue* name = value_at(head, "model_name");
    if (!name) {
      problem(item, "the deployment has no model_name", "write model_name: NAME");
      return;
    }
    const std::optional<Part> params = item.at("litellm_params");
    if (!params || params->node->kind != Node::Kind::map) {
      problem(item, fmt::format("{} has no litellm_params", shown(name->text)),
              "write litellm_params: {model: PROVIDER/MODEL}");
      return;
    }
    GatewayDeployment deployment;
    deployment.group = *name;
    deployment.spot = item.spot();
    deployment.params = scalars(params);
    deployment.stray_off_peak = scalars(params->at("off_peak_pricing"));
    if (const std::optional<Part> info = item.at("model_info")) {
      deployment.info = scalars(info);
      deployment.allowed_fails_policy = scalars(info->at("allowed_fails_policy"));
      deployment.off_peak_pricing = scalars(info->at("off_peak_pricing"));
    }
    if (const GatewayValue* wanted = value_at(deployment.params, "litellm_credential_name")) {
      const auto credential = credentials_.find(wanted->text);
      if (credential != credentials_.end()) {
        deployment.params.insert(credential->second.begin(), credential->second.end());
      }
    }
    if (const GatewayValue* model = value_at(deployment.params, "model")) {
      deployment.model = model->text;
    }
    out_.config.deployments.push_back(std::move(deployment));
  }

  std::optional<Part> section(std::string_view name) const {
    const auto found = sections_.find(name);
    return found == sections_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<Part> setting(std::string_view section_name, std::string_view key) const {
    const std::optional<Part> part = section(section_name);
    return part ? part->at(key) : std::nullopt;
  }

  void read_settings(const SourceText& main) {
    GatewayConfig& config = out_.config;
    if (model_lists_.empty() && sections_.empty() && out_.problems.empty()) {
      problem({&main.root, main.file, ""},
              fmt::format("none of {} is here", fmt::join(kSections, ", ")),
              "name the configuration of a LiteLLM proxy");
    }
    config.router = scalars(section("router_settings"));
    config.litellm = scalars(section("litellm_settings"));
    config.general = scalars(section("general_settings"));
    const std::optional<Part> router = section("router_settings");
    config.router_spot =
        router ? router->spot() : GatewaySpot{main.file, {1, 1}, "router_settings"};
    config.allowed_fails_policy = scalars(setting("router_settings", "allowed_fails_policy"));
    config.retry_policy = scalars(setting("router_settings", "retry_policy"));
    if (const auto groups = setting("router_settings", "model_group_retry_policy")) {
      for (const Node::Entry& entry : groups->node->entries) {
        config.group_retry_policies[entry.key] = scalars(groups->at(entry.key));
      }
    }
    if (const auto budgets = setting("router_settings", "provider_budget_config")) {
      for (const Node::Entry& entry : budgets->node->entries) {
        const GatewayValues budget = scalars(budgets->at(entry.key));
        const GatewayValue* period = value_at(budget, "time_period");
        if (!period) period = value_at(budget, "budget_duration");
        if (period) config.provider_budgets[entry.key] = *period;
      }
    }
    read_all_fallbacks();
    read_aliases();
    find_unread();
  }

  void read_all_fallbacks() {
    for (const FallbackKind kind : {FallbackKind::general, FallbackKind::context_window,
                                    FallbackKind::content_policy, FallbackKind::by_default}) {
      const std::string_view name = setting_name(kind);
      std::optional<Part> list = setting("router_settings", name);
      const std::optional<Part> other = setting("litellm_settings", name);
      // `router's or litellm's`, in Python: an empty list gives way too.
      const bool given =
          list && !(list->node->kind == Node::Kind::sequence && list->node->items.empty());
      if (given && other) shadowed(*other);
      if (!given) list = other;
      if (!list) continue;
      if (list->node->kind != Node::Kind::sequence) {
        problem(
            *list, "is not a list",
            kind == FallbackKind::by_default ? "write [GROUP, …]" : "write [{GROUP: [GROUP, …]}]");
        continue;
      }
      if (kind == FallbackKind::by_default) {
        if (list->node->items.empty()) continue;
        out_.config.fallbacks.push_back({kind, "*", targets(*list), list->spot()});
      } else {
        read_fallbacks(*list, kind);
      }
    }
  }

  void shadowed(const Part& part) {
    out_.config.unread.push_back(
        {part.spot(), "is not read: router_settings has the same setting, and that one counts",
         "keep it in router_settings alone", true});
  }

  void read_fallbacks(const Part& list, FallbackKind kind) {
    for (std::size_t i = 0; i < list.node->items.size(); ++i) {
      const Part item = list.item(i);
      if (item.node->kind != Node::Kind::map || item.node->entries.empty()) {
        problem(item, "is not a mapping of one group to its fallbacks",
                "write {GROUP: [GROUP, …]}");
        continue;
      }
      const Node::Entry& first = item.node->entries.front();
      const Part to{&first.value, item.file, join_path(item.path, first.key)};
      out_.config.fallbacks.push_back(
          {kind, first.key, targets(to), {item.file, first.place, to.path}});
      for (std::size_t k = 1; k < item.node->entries.size(); ++k) {
        const Node::Entry& entry = item.node->entries[k];
        out_.config.unread.push_back(
            {{item.file, entry.place, join_path(item.path, entry.key)},
             "is not read: the gateway takes one group of each entry of the list, the first",
             fmt::format("write an entry of its own: - {}: […]", shown(entry.key)),
             false});
      }
    }
  }

  std::vector<GatewayValue> targets(const Part& list) {
    std::vector<GatewayValue> names;
    if (list.node->kind == Node::Kind::scalar) {
      names.push_back({list.node->text, list.spot(), list.node->quoted});
    }
    for (std::size_t i = 0; i < list.node->items.size(); ++i) {
      Part item = list.item(i);
      if (const auto model = item.at("model")) item = *model;  // {model: …, messages: …}
      if (item.node->kind == Node::Kind::scalar) {
        names.push_back({item.node->text, item.spot(), item.node->quoted});
      }
    }
    return names;
  }

  void read_aliases() {
    for (const auto& [section_name, key] : {std::pair{"router_settings", "model_group_alias"},
                                            std::pair{"litellm_settings", "model_group_alias_map"},
                                            std::pair{"litellm_settings", "model_alias_map"}}) {
      const std::optional<Part> map = setting(section_name, key);
      if (!map || map->node->kind != Node::Kind::map) continue;
      for (const Node::Entry& entry : map->node->entries) {
        const Node* target = &entry.value;
        if (target->kind == Node::Kind::map) {
          const Node::Entry* model = target->find("model");
          if (!model) continue;
          target = &model->value;
        }
        if (target->kind != Node::Kind::scalar) continue;
        out_.config.aliases.push_back(
            {entry.key, target->text, {map->file, entry.place, join_path(map->path, entry.key)}});
      }
    }
  }

  void find_unread() {
    GatewayConfig& config = out_.config;
    if (const GatewayValue* value = value_at(config.litellm, "cooldown_time")) {
      config.unread.push_back({value->spot, "is not read there: the cooldown keeps its default",
                               "move it to router_settings", false});
    }
    for (const std::string_view key : {"allowed_fails", "num_retries"}) {
      const GatewayValue* value = value_at(config.litellm, key);
      if (value && value_at(config.router, key)) {
        config.unread.push_back(
            {value->spot, "is not read: router_settings has the same setting, and that one counts",
             "keep it in router_settings alone", true});
      }
    }
  }

  LoadedGateway out_;
  std::vector<Part> model_lists_;
  std::vector<Part> credential_lists_;
  std::map<std::string, Part, std::less<>> sections_;
  std::map<std::string, GatewayValues, std::less<>> credentials_;
};

}  // namespace

LoadedGateway read_gateway(const std::string& name, ParsedFiles files) {
  return GatewayReader(name).read(files.texts, std::move(files.problems),
                                  std::move(files.duplicates));
}

}  // namespace outcomed
