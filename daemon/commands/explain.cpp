#include <fmt/core.h>

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
                                         const Matchers& matchers, Clock& clock) {
  auto assembly = assemble(loaded.config, http, secrets, [&] { return clock.now(); });
  if (!assembly) return std::move(assembly).error();
  NullStore store;
  Engine engine(std::move(assembly->sources), std::move(assembly->rules), assembly->announcer, {},
                store, [&] { return clock.steady_now(); });
  if (const Status status = engine.restore(clock.now()); !status) return status.error();
  const TickReport report = engine.tick(clock.now());
  for (const SourceReport& source : report.sources) {
    if (source.error) return Error{*source.error}.while_doing("source " + source.source);
  }
  return explain_json(engine, rule, matchers);
}

std::string label_text(const nlohmann::json& labels) {
  Labels set;
  for (const auto& [name, value] : labels.items()) set.set(name, value.get<std::string>());
  return set.to_string();
}

ExitStatus print(const std::string& answer, Shell& shell) try {
  const auto document = nlohmann::json::parse(answer);
  Table table({"GROUP", "SEVERITY", "PHASE", ">K", ">N", ">SHARE", ">LINE", "WHY"});
  for (const auto& group : document.at("groups")) {
    table.row({label_text(group.at("labels")), group.at("severity"), group.at("phase"),
               fmt::format("{}", group.at("k").get<std::int64_t>()),
               fmt::format("{}", group.at("n").get<std::int64_t>()),
               format_share(group.at("measured")), format_share(group.at("threshold")),
               group.at("why")});
  }
  if (table.empty()) {
    shell.out << "no group of this rule has been seen\n";
    return ExitStatus::ok;
  }
  table.print(shell.out);
  for (const auto& fact : document.at("counting")) {
    shell.out << "counting: " << fact.get<std::string>() << "\n";
  }
  return ExitStatus::ok;
} catch (const nlohmann::json::exception& e) {
  shell.err << "outcomed: the daemon's answer can't be read: " << e.what() << "\n";
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

}  // namespace

ExitStatus run_explain(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "explain RULE [LABEL=VALUE …]",
      "Shows the numbers behind the present state of each group of a rule, and why it\n"
      "does or doesn't fire: from the running daemon, or from the sources when none runs.",
      "outcomed explain model_failures model=judge");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .value("format,f", "table", "table or json")
      .positional("words", -1, "rule and matchers");
  if (const auto end = options.parse(arguments, shell)) return *end;
  const std::vector<std::string> words = options.texts("words");
  if (words.empty()) return usage_error(shell, "explain is followed by the name of a rule");
  LoadedConfig loaded;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) return *end;
  const auto& rules = loaded.config.rules;
  if (std::ranges::find(rules, words[0], &RuleConfig::name) == rules.end()) {
    std::string names;
    for (const RuleConfig& rule : rules) names += " " + rule.name;
    return usage_error(shell,
                       fmt::format("there is no rule \"{}\"; there are:{}", words[0], names));
  }
  const auto matchers = matchers_of(words);
  if (!matchers) return usage_error(shell, matchers.error().message);

  FileSecretReader secrets(shell.environment);
  CurlClient http(secrets);
  std::string path = "/api/v1/explain?rule=" + url_encode(words[0]);
  for (const Matcher& matcher : *matchers) path += "&match=" + url_encode(matcher.to_string());
  // A daemon that answers badly is an error: what the sources say anew is not its state.
  auto asked = ask_daemon(loaded.config.http, http, path);
  Result<std::string> answer =
      !asked   ? Result<std::string>(std::move(asked).error())
      : *asked ? Result<std::string>(**std::move(asked))
               : explain_from_sources(loaded, http, secrets, words[0], *matchers, shell.clock);
  if (!answer) {
    shell.err << "outcomed: " << answer.error().message << "\n";
    return status_of(answer.error());
  }
  if (options.text("format") == "json") {
    shell.out << *answer << "\n";
    return ExitStatus::ok;
  }
  return print(*answer, shell);
}

}  // namespace outcomed
