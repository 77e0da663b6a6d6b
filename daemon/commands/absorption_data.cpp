#include "daemon/commands/absorption_data.h"

#include <fmt/core.h>

#include <algorithm>

#include "daemon/assembly.h"
#include "daemon/commands/signal_past.h"
#include "detectors/absorption/absorption.h"
#include "detectors/absorption/wording.h"
#include "detectors/sentence.h"
#include "queries/failure_side.h"

namespace outcomed {
namespace {

// The limits that are in force, else the defaults.
AbsorptionLimits limits_of(const Config& config, const std::string& signal) {
  const auto* detector =
      first_rule_of<AbsorptionDetector>(config, signal, [](const auto&) { return true; });
  return detector != nullptr ? detector->limits() : AbsorptionLimits{};
}

const SignalPlan* find_plan(const Config& config, const std::string& name, Shell& shell) {
  const SignalPlan* plan = config.signal(name);
  if (plan == nullptr) {
    usage_error(shell,
                fmt::format("--signal: \"{}\" is no signal of this configuration; the preset "
                            "litellm with `metrics` has one named absorption",
                            name));
    return nullptr;
  }
  const std::string side(failure_side::kLabel);
  if (std::ranges::find(plan->labels, side) != plan->labels.end()) return plan;
  usage_error(shell,
              fmt::format("--signal: {} has no label \"{}\", which says whether consumers or "
                          "the provider failed",
                          name, side));
  return nullptr;
}

std::optional<ExitStatus> take_row_length(const Options& options, Shell& shell, SignalPlan& plan,
                                          Duration& length) {
  const auto row = parse_duration(options.text("step"));
  if (!row || *row <= Duration::zero()) {
    return usage_error(shell,
                       row ? "--step: must be longer than 0s" : "--step: " + row.error().message);
  }
  length = *row;
  // Shorter rows than the signal's steps, or ones that aren't made of whole steps.
  if (*row % plan.step != Duration::zero()) plan.step = *row;
  return std::nullopt;
}

std::optional<ExitStatus> keep_model(const Options& options, Shell& shell, AbsorptionData& data) {
  if (!options.has("model")) return std::nullopt;
  const auto found = std::ranges::find(data.models, options.text("model"));
  if (found == data.models.end()) {
    std::string names;
    for (const std::string& name : data.models) names += " " + (name.empty() ? "\"\"" : name);
    return usage_error(shell, fmt::format("--model: nothing was counted for \"{}\"; there are:{}",
                                          options.text("model"), names));
  }
  data.rows = data.by_model[static_cast<std::size_t>(found - data.models.begin())];
  data.by_model = {data.rows};
  data.models = {*found};
  return std::nullopt;
}

}  // namespace

void add_absorption_options(Options& options) {
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .value("signal,s", "absorption", "signal with the label `side`")
      .value("model", "only this model")
      .value("recording", "read this instead of the signal's source")
      .value("to", "end (default: now, or the end of the recording)")
      .value("step", "1h", "length of a row: 1h, 1d, 5m")
      .format({"table", "json", "csv"});
}

std::optional<ExitStatus> read_absorption(const Options& options, const char* from, Shell& shell,
                                          std::optional<AbsorptionData>& data) {
  LoadedConfig loaded;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) return end;
  const SignalPlan* offered = find_plan(loaded.config, options.text("signal"), shell);
  if (offered == nullptr) return ExitStatus::usage;
  SignalPlan plan = narrowed(*offered, {}, {"model", std::string(failure_side::kLabel)});
  Duration row{};
  if (const auto end = take_row_length(options, shell, plan, row)) return end;
  SignalPast past(std::move(plan), shell);
  if (const auto end = past.open(options, loaded.config)) return end;
  if (const auto end = past.take_range(options, from)) return end;
  const AbsorptionLimits limits = limits_of(loaded.config, offered->name);
  AbsorptionHours hours(row, limits);
  const auto add = [&](const SignalBatch& batch, const std::vector<Labels>& cells) {
    hours.add(batch, cells);
  };
  if (const auto end = past.read(add)) return end;

  data.emplace();
  data->limits = limits;
  data->range = past.range();
  data->row = row;
  data->unit = offered->unit;
  data->rows = hours.rows();
  for (const Labels& group : hours.groups()) {
    data->models.emplace_back(group.get("model"));
    data->by_model.push_back(hours.rows(group));
  }
  return keep_model(options, shell, *data);
}

std::string count_rows(std::int64_t count, Duration row) {
  const char* plural = count == 1 ? "" : "s";
  if (row == std::chrono::hours(1)) return fmt::format("{} hour{}", count, plural);
  return fmt::format("{} span{} of {}", count, plural, format_duration(row));
}

std::string with_share(std::int64_t k, std::int64_t n) {
  if (n <= 0) return fmt::format("{}", k);
  return fmt::format("{} ({})", k, format_share(static_cast<double>(k) / static_cast<double>(n)));
}

std::string part_of(std::int64_t k, std::int64_t n) {
  if (n <= 0) return fmt::format("{} of {}", k, n);
  return fmt::format("{} of {} ({})", k, n,
                     format_share(static_cast<double>(k) / static_cast<double>(n)));
}

std::vector<std::string> failing_sentences(const AbsorptionData& data) {
  std::vector<std::string> sentences;
  for (const AbsorptionRow& row : data.rows) {
    const std::string span = fmt::format("in the {} from {} on", format_duration(row.span.length),
                                         format_rfc3339(row.span.start));
    bool of_a_group = false;
    for (const AbsorptionPart& part : row.parts) {
      if (!is_failing(part.judgement.outcome)) continue;
      of_a_group = true;
      sentences.push_back(
          subject(part.group) + ": " +
          describe_absorption(part.counts, part.judgement.outcome, span, data.unit) + ".");
    }
    const AbsorptionOutcome whole = judge_absorption(row.span.counts, data.limits).outcome;
    if (of_a_group || !is_failing(whole)) continue;
    sentences.push_back(
        "whole gateway: " + describe_absorption(row.span.counts, whole, span, data.unit) + ".");
  }
  return sentences;
}

}  // namespace outcomed
