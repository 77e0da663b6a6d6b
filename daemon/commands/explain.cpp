#include <fmt/core.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "daemon/assembly.h"
#include "daemon/commands/api_client.h"
#include "daemon/commands/options.h"
#include "daemon/commands/table.h"
#include "daemon/engine/null_store.h"
#include "daemon/net/curl_client.h"
#include "daemon/state_json.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

// Without a daemon: the sources' past is folded here, as after a first start.
Result<std::string> explain_from_sources(LoadedConfig& loaded, HttpClient& http,
                                         SecretReader& secrets, const std::string& rule,
                                         const Matchers& matchers, Shell& shell) {
  Clock& clock = shell.clock;
  auto assembly = assemble(loaded.config, {http, http}, secrets, [&] { return clock.now(); });
  if (!assembly) return std::move(assembly).error();
  NullStore store;
  Engine engine(std::move(assembly->sources), std::move(assembly->rules), assembly->announcer, {},
                store, [&] { return clock.steady_now(); });
  if (const Status status = engine.restore(clock.now()); !status) return status.error();
  const TickReport report = engine.tick(clock.now());
  for (const SourceReport& source : report.sources) {
    if (source.error) {
      return Error{ErrorKind::unavailable, source.error->message}.while_doing("source " +
                                                                              source.source);
    }
    if (const std::string gaps = source.coverage.to_text(); !gaps.empty()) {
      shell.err << fmt::format("note: source {}: {}\n", source.source, gaps);
    }
  }
  return explain_json(engine, rule, matchers);
}

std::string label_text(const nlohmann::json& labels) {
  Labels set;
  for (const auto& [name, value] : labels.items()) set.set(name, value.get<std::string>());
  return set.to_string();
}

// Why a rule may have no group: labels that only failures have come with the first failure.
std::string no_group(const Config& config, const RuleConfig& rule) {
  const SignalPlan* signal = config.signal(rule.signal);
  for (const std::string& label : rule.by) {
    if (signal == nullptr ||
        std::ranges::find(signal->failure_labels, label) == signal->failure_labels.end()) {
      continue;
    }
    return fmt::format(
        "no group of this rule has failed in what was read (it is split by {}, which "
        "only failures have)\n",
        label);
  }
  return "no group of this rule has been seen\n";
}

// "state of 2026-11-30T12:00:00Z (3m ago)", and why it is not newer where the source is away.
void print_age(const nlohmann::json& document, Shell& shell) {
  Timestamp newest{};
  for (const auto& group : document.at("groups")) {
    if (!group.at("at").is_string()) continue;
    if (const auto at = parse_timestamp(group.at("at").get<std::string>())) {
      newest = std::max(newest, *at);
    }
  }
  if (newest != Timestamp{}) {
    const Duration age =
        std::chrono::floor<std::chrono::seconds>(std::max(Duration{}, shell.clock.now() - newest));
    shell.out << fmt::format("state of {} ({} ago)\n", format_rfc3339(newest),
                             format_duration(age));
  }
  const auto& silent = document.at("source_error");
  if (silent.is_string()) {
    shell.out << printable("it stands still: " + silent.get<std::string>()) << "\n";
  }
}

ExitStatus print(const std::string& answer, const std::string& if_empty, Shell& shell) try {
  const auto document = nlohmann::json::parse(answer);
  Table table({"GROUP", "SEVERITY", "PHASE", ">K", ">N", ">SHARE", ">LINE", "WHY"});
  for (const auto& group : document.at("groups")) {
    std::vector<std::pair<std::string, std::string>> facts;
    for (const auto& fact : group.at("facts"))
      facts.emplace_back(fact.at("name"), fact.at("value"));
    table.row({label_text(group.at("labels")), group.at("severity"), group.at("phase"),
               format_amount(facts, "k", group.at("k")), format_amount(facts, "n", group.at("n")),
               group.at("measured").is_null() ? "-" : format_share(group.at("measured")),
               format_share(group.at("threshold")), group.at("why")});
  }
  if (table.empty()) {
    shell.out << if_empty;
    return ExitStatus::ok;
  }
  table.print(shell.out);
  print_age(document, shell);
  for (const auto& fact : document.at("counting")) {
    shell.out << printable("counting: " + fact.get<std::string>()) << "\n";
  }
  return ExitStatus::ok;
} catch (const nlohmann::json::exception&) {
  shell.err << "outcomed: what answers at http.listen isn't the API of this version of outcomed\n";
  return ExitStatus::unavailable;
}

// LABEL=VALUE words; also Alertmanager's matchers.
Result<Matchers> matchers_of(const std::vector<std::string>& words) {
  Matchers matchers;
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto matcher = Matcher::parse(words[i]);
    if (!matcher) return std::move(matcher).error();
    matchers.push_back(*std::move(matcher));
  }
  return matchers;
}

// What is said where no group comes back; an error where the question doesn't fit the
// configuration.
Result<std::string> question_of(const Config& config, const std::vector<std::string>& words,
                                const Matchers& matchers) {
  const auto rule = std::ranges::find(config.rules, words[0], &RuleConfig::name);
  if (rule == config.rules.end()) {
    std::string names;
    for (const RuleConfig& other : config.rules) names += " " + other.name;
    return Error{ErrorKind::invalid,
                 fmt::format("there is no rule \"{}\"; there are:{}", words[0], names)};
  }
  for (const Matcher& matcher : matchers) {
    if (std::ranges::find(rule->by, matcher.name()) != rule->by.end()) continue;
    return Error{ErrorKind::invalid,
                 fmt::format("groups of {} have no label \"{}\"; they have: {}", rule->name,
                             matcher.name(), fmt::join(rule->by, ", "))};
  }
  return matchers.empty() ? no_group(config, *rule)
                          : fmt::format("no group of this rule matches; without {} all are shown\n",
                                        words.size() > 2 ? "these" : words[1]);
}

}  // namespace

ExitStatus run_explain(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "explain RULE [LABEL=VALUE …]",
      "Shows the numbers behind the present state of each group of a rule, and why it\n"
      "does or doesn't fire: from the running daemon, or from the sources when none runs.",
      "outcomed explain model_failures model=judge");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .format({"table", "json"})
      .positional("words", -1, "rule and matchers");
  if (const auto end = options.parse(arguments, shell)) return *end;
  const std::vector<std::string> words = options.texts("words");
  if (words.empty()) return usage_error(shell, "explain is followed by the name of a rule");
  const auto matchers = matchers_of(words);
  if (!matchers) return usage_error(shell, matchers.error().message);
  LoadedConfig loaded;
  const bool is_sound = load_to_ask(options.text("config"), shell, loaded);
  std::string if_empty = "no group of this rule matches, or none has been seen\n";
  if (is_sound) {
    const auto question = question_of(loaded.config, words, *matchers);
    if (!question) return usage_error(shell, question.error().message);
    if_empty = *question;
  }
  FileSecretReader secrets(shell.environment);
  CurlClient http(secrets);
  std::string path = "/api/v1/explain?rule=" + url_encode(words[0]);
  for (const Matcher& matcher : *matchers) path += "&match=" + url_encode(matcher.to_string());
  // A daemon that answers badly is an error: what the sources say anew is not its state.
  auto asked = ask_daemon(loaded.config.http, http, path, shell.err);
  Result<std::string> answer =
      !asked   ? Result<std::string>(std::move(asked).error())
      : *asked ? Result<std::string>(**std::move(asked))
      : is_sound
          ? explain_from_sources(loaded, http, secrets, words[0], *matchers, shell)
          : Result<std::string>(Error{ErrorKind::invalid, fmt::format("no daemon answers at {}",
                                                                      loaded.config.http.listen)});
  if (!answer) {
    shell.err << "outcomed: " << answer.error().message << "\n";
    return is_sound ? status_of(answer.error()) : ExitStatus::config;
  }
  if (options.text("format") == "json") {
    shell.out << *answer << "\n";
    return ExitStatus::ok;
  }
  return print(*answer, if_empty, shell);
}

}  // namespace outcomed
