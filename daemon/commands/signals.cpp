#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <sstream>

#include "daemon/assembly.h"
#include "daemon/commands/options.h"
#include "daemon/commands/table.h"
#include "daemon/net/curl_client.h"
#include "daemon/net/secret_reader.h"
#include "queries/recording/csv_writer.h"
#include "queries/recording/recording_source.h"

namespace outcomed {
namespace {

std::vector<std::string> split_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string offered_labels(const SignalPlan& plan) {
  std::string text;
  for (const auto* names : {&plan.labels, &plan.failure_labels}) {
    for (const std::string& name : *names) text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

// Live sources hold more than one question of minutes: they are asked in pieces.
constexpr std::int64_t kStepsAtOnce = 1440;

struct Question {
  SignalPlan plan;
  std::vector<std::string> by;
  std::shared_ptr<Source> source;
  TimeRange range;
};

ExitStatus write_csv(Question& question, Shell& shell) {
  write_buckets_csv_header(shell.out, question.by);
  std::size_t skipped = 0;
  std::vector<Problem> said;
  std::vector<std::string> facts;  // Of the whole: as the last piece has them.
  for (Timestamp at = question.range.begin; at < question.range.end;) {
    const Timestamp end = std::min(question.range.end, at + question.plan.step * kStepsAtOnce);
    auto fetched = question.source->fetch({at, end});
    if (!fetched) return source_failed(shell, fetched.error());
    for (const Problem& problem : fetched->problems) {
      if (std::ranges::find(said, problem) != said.end()) continue;
      said.push_back(problem);
      shell.err << note_line(problem);
    }
    facts = std::move(fetched->facts);
    skipped +=
        write_buckets_csv(shell.out, question.by,
                          {&question.plan, &question.source->cells(0), &fetched->batches.front()});
    at = end;
  }
  for (const std::string& fact : facts) shell.err << "note: " << fact << "\n";
  if (skipped > 0) shell.err << fmt::format("note: {} steps without complete data\n", skipped);
  return ExitStatus::ok;
}

// Whole steps around the span.
TimeRange whole_steps(TimeRange range, const SignalPlan& plan) {
  range.begin = begin_of_step(plan, range.begin);
  const Timestamp end = begin_of_step(plan, range.end);
  range.end = end < range.end ? end + plan.step : end;
  return range;
}

}  // namespace

ExitStatus run_signals(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "signals --signal NAME [--by LABEL,…] [--recording PATH]",
      "Prints the buckets of a signal as this version reads them, as CSV that can be read\n"
      "back as a recording: signal,start,seconds,n,k and the labels. Labels that split only\n"
      "failures (error_class) repeat n on each row.",
      "outcomed signals --signal requests --by model,error_class --recording ./pages");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .value("signal,s", "name of the signal")
      .value("by,b", "labels to keep, separated by commas")
      .value("recording", "read this instead of the signal's source")
      .value("from", "start: RFC 3339, Unix seconds or now-2h")
      .value("to", "end, likewise")
      .value("step", "length of a bucket, where it shall differ from the signal's: 5s")
      .format({"csv"});
  if (const auto end = options.parse(arguments, shell)) return *end;
  LoadedConfig loaded;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) return *end;
  const SignalPlan* offered = loaded.config.signal(options.text("signal"));
  if (offered == nullptr) {
    std::string names;
    for (const SignalPlan& plan : loaded.config.signals) names += " " + plan.name;
    return usage_error(shell, fmt::format("--signal: \"{}\" is no signal of this configuration;"
                                          " there are:{}",
                                          options.text("signal"), names));
  }
  Question question;
  question.by = split_commas(options.text("by"));
  for (const std::string& label : question.by) {
    const auto has = [&](const std::vector<std::string>& names) {
      return std::ranges::find(names, label) != names.end();
    };
    if (!has(offered->labels) && !has(offered->failure_labels)) {
      return usage_error(shell, fmt::format("--by: {} has no label \"{}\"; it has: {}",
                                            offered->name, label, offered_labels(*offered)));
    }
  }
  std::vector<std::string> once;  // A column for each.
  for (const std::string& label : question.by) {
    if (std::ranges::find(once, label) == once.end()) once.push_back(label);
  }
  question.by = std::move(once);
  question.plan = narrowed(*offered, {}, question.by);
  if (const std::string step = options.text("step"); !step.empty()) {
    const auto parsed = parse_duration(step);
    if (!parsed || *parsed <= Duration::zero()) {
      return usage_error(
          shell, parsed ? "--step: must be longer than 0s" : "--step: " + parsed.error().message);
    }
    question.plan.step = *parsed;
  }
  FileSecretReader secrets(shell.environment);
  CurlClient http(secrets);
  if (options.has("recording")) {
    question.plan.anchor = {};  // Steps of recordings are multiples since the epoch.
    question.source = std::make_shared<RecordingSource>(
        RecordingSettings{options.text("recording")}, std::vector{question.plan});
  } else {
    auto made = make_source(*loaded.config.source(offered->source), {question.plan}, http, secrets);
    if (!made) {
      shell.err << "outcomed: " << made.error().message << "\n";
      return status_of(made.error());
    }
    question.source = *std::move(made);
  }
  const Timestamp now = shell.clock.now();
  const auto asked = options.span(now);
  if (!asked) return usage_error(shell, asked.error().message);
  auto span = question.source->span();
  if (!span) return source_failed(shell, span.error());
  if (!*span && !asked->from)
    return usage_error(shell, "--from is needed for live sources: --from now-2h");
  // What is going on now has no whole last step yet.
  const Duration delay = loaded.config.source(offered->source)->delay;
  const Timestamp newest = begin_of_step(question.plan, now - delay);
  question.range = whole_steps({asked->from.value_or(*span ? (*span)->begin : now),
                                asked->to.value_or(*span ? (*span)->end : newest)},
                               question.plan);
  if (const Status sensible = sensible_span(question.range); !sensible) {
    return usage_error(shell, sensible.error().message);
  }
  return write_csv(question, shell);
}

}  // namespace outcomed
