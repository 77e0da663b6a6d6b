#include <fmt/core.h>

#include <ostream>

#include "daemon/commands/options.h"
#include "daemon/rule_terms.h"
#include "queries/litellm/double_count.h"

namespace outcomed {
namespace {

bool is_preset_signal(const Config& config, const SignalPlan& plan) {
  if (!config.litellm) return false;
  for (const std::string_view name :
       {"requests", "provider", "refusals", "fallbacks", "cooldowns", "absorption", "leaks"}) {
    if (plan.name == name) return true;
  }
  return false;
}

}  // namespace

ExitStatus run_rules(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "rules export [--format prometheus]",
      "Writes the share rules as a Prometheus rule file on standard output, for those who\n"
      "want the same lines watched without outcomed. docs/rule_export.md says where the two\n"
      "can't be equal. Rules of other kinds are named on standard error and left out.",
      "outcomed rules export --config outcomed.yaml > outcomed.rules.yaml");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .format({"prometheus"})
      .positional("words", -1, "export");
  if (const auto end = options.parse(arguments, shell)) return *end;
  if (options.texts("words") != std::vector<std::string>{"export"}) {
    return usage_error(shell, "write outcomed rules export, and nothing after it but options");
  }
  LoadedConfig loaded;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) return *end;
  int divisor = 1;
  if (loaded.config.litellm) {
    divisor = litellm::divisor_of_version(loaded.config.litellm->version);
    if (divisor == 0) {
      divisor = 1;
      shell.err
          << "note: `version: auto` can't be learned by a rule file: failed requests are taken "
             "as counted once (true since LiteLLM 1.81.14)\n";
    }
  }
  std::vector<ExportRule> rules;
  for (const RuleConfig& rule : loaded.config.rules) {
    const SignalPlan& plan = *loaded.config.signal(rule.signal);
    auto written = export_rule(rule, plan, is_preset_signal(loaded.config, plan), divisor);
    if (!written) {
      shell.err << "note: " << written.error().message << "\n";
      continue;
    }
    rules.push_back(*std::move(written));
  }
  auto text = export_prometheus(rules);
  if (!text) {
    shell.err << "outcomed: " << text.error().message << "\n";
    return ExitStatus::config;
  }
  shell.out << *text;
  return ExitStatus::ok;
}

}  // namespace outcomed
