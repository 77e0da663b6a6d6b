// report prices: recorded against expected cost over a span of time.
#include <fmt/core.h>

#include <algorithm>
#include <ostream>

#include "daemon/assembly.h"
#include "daemon/commands/price_text.h"
#include "daemon/commands/signal_past.h"
#include "daemon/commands/table.h"

namespace outcomed {
namespace {

// The limits that are in force, else the defaults.
PriceParams limits_of(const Config& config, const std::string& signal) {
  const auto* detector = first_rule_of<PriceDetector>(
      config, signal, [](const PriceDetector& one) { return one.params().against_prices; });
  return detector != nullptr ? detector->params() : PriceParams{};
}

const SignalPlan* find_plan(const Config& config, const std::string& name, Shell& shell) {
  const SignalPlan* plan = config.signal(name);
  if (plan == nullptr) {
    usage_error(shell,
                fmt::format("--signal: \"{}\" is no signal of this configuration; the preset "
                            "litellm with `spend` has one named spend",
                            name));
    return nullptr;
  }
  const auto has = [&](std::string_view label) {
    return std::ranges::find(plan->labels, label) != plan->labels.end();
  };
  if (has(kSpendKindLabel) && (has("model") || has("provider_model"))) return plan;
  usage_error(shell, fmt::format("--signal: {} lacks the label `{}`; amounts are told apart by "
                                 "`kind`, models by `model` and `provider_model`",
                                 name, has(kSpendKindLabel) ? "model" : kSpendKindLabel));
  return nullptr;
}

std::optional<ExitStatus> no_prices(const Options& options, const Config& config, Shell& shell) {
  if (config.prices.tables) return std::nullopt;
  shell.err << fmt::format(
      "outcomed: {}: prices: is missing, so nothing says what a request should cost; add what your "
      "provider publishes: prices: [{{provider: …, currency: USD, models: {{NAME: {{flat: {{input: "
      "…, output: …}}}}}}}}]\n",
      options.text("config"));
  return ExitStatus::config;
}

std::optional<ExitStatus> check_model(const Options& options, const PriceSpan& span,
                                      const PriceSpanReport& report, Shell& shell) {
  if (!options.has("model") || !report.names.empty()) return std::nullopt;
  std::string names;
  for (const PricedName& name : span.report().names) {
    names += (names.empty() ? " " : ", ") + to_text(name);
  }
  if (names.empty()) return std::nullopt;
  return usage_error(shell, fmt::format("--model: nothing was counted for \"{}\"; there are:{}",
                                        options.text("model"), names));
}

}  // namespace

ExitStatus run_report_prices(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "report prices [--recording PATH] [--from TIME] [--to TIME]",
      "Recorded cost against the cost by the price tables of `prices:`, model by model: the\n"
      "ratio, what is booked wrong, and one price for all hours from the last 28 days of the\n"
      "span. The limits are those of the first price rule of the configuration, else its\n"
      "defaults. Exit status 1: something was found.",
      "outcomed report prices --from now-28d --format markdown");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .value("signal,s", "spend", "signal with the label `kind`")
      .value("model", "only this model, by the gateway's name or the provider's")
      .value("recording", "read this instead of the signal's source")
      .value("from", "start: RFC 3339, Unix seconds or now-28d")
      .value("to", "end (default: now, or the end of the recording)")
      .format({"table", "json", "markdown"});
  if (const auto end = options.parse(arguments, shell)) return *end;
  const std::string format = options.text("format");
  LoadedConfig loaded;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) return *end;
  const Config& config = loaded.config;
  const SignalPlan* offered = find_plan(config, options.text("signal"), shell);
  if (offered == nullptr) return ExitStatus::usage;
  if (const auto end = no_prices(options, config, shell)) return *end;
  SignalPast past(narrowed(*offered, {}, {"model", "provider_model", std::string(kSpendKindLabel)}),
                  shell);
  if (const auto end = past.open(options, config)) return *end;
  if (const auto end = past.take_range(options, "from")) return *end;
  PriceSpan span(past.range(), config.prices.tables, limits_of(config, offered->name));
  const auto add = [&](const SignalBatch& batch, const std::vector<Labels>& cells) {
    span.add(batch, cells);
  };
  if (const auto end = past.read(add)) return *end;

  const PriceSpanReport report = span.report(options.text("model"));
  if (const auto end = check_model(options, span, report, shell)) return *end;
  const std::string_view currency = config.prices.tables->currency();
  if (format == "json") {
    shell.out << price_json(report, past.range(), currency) << "\n";
  } else if (format == "markdown") {
    shell.out << to_markdown(price_text(report, past.range(), currency));
  } else {
    print(shell.out, price_text(report, past.range(), currency));
  }
  return report.findings.empty() ? ExitStatus::ok : ExitStatus::found;
}

}  // namespace outcomed
