#include "daemon/commands/signal_past.h"

#include <fmt/core.h>

#include <algorithm>
#include <ostream>
#include <utility>

#include "daemon/commands/table.h"
#include "daemon/plugins.h"
#include "queries/recording/recording_source.h"

namespace outcomed {
namespace {

// Live sources hold more than one question of minutes: they are asked in pieces.
constexpr std::int64_t kStepsAsked = 1440;

Timestamp end_of_step(const SignalPlan& plan, Timestamp t) {
  const Timestamp begin = begin_of_step(plan, t);
  return begin < t ? begin + plan.step : begin;
}

}  // namespace

SignalPast::SignalPast(SignalPlan plan, Shell& shell)
    : plan_(std::move(plan)), shell_(shell), secrets_(shell.environment), http_(secrets_) {}

ExitStatus SignalPast::say(const Error& error) {
  shell_.err << "outcomed: " << error.message << "\n";
  return status_of(error);
}

std::optional<ExitStatus> SignalPast::open(const Options& options, const Config& config) {
  const SourceConfig& source = *config.source(plan_.source);
  delay_ = source.delay;
  if (options.has("recording")) {
    plan_.anchor = {};  // Steps of recordings are multiples since the epoch.
    source_ = std::make_shared<RecordingSource>(RecordingSettings{options.text("recording")},
                                                std::vector{plan_});
    return std::nullopt;
  }
  auto made = make_source(source, {plan_}, http_, secrets_);
  if (!made) return say(made.error());
  source_ = *std::move(made);
  return std::nullopt;
}

std::optional<ExitStatus> SignalPast::take_range(const Options& options, const char* from_name) {
  const Timestamp now = shell_.clock.now();
  const auto asked = options.span(now, from_name);
  if (!asked) return usage_error(shell_, asked.error().message);
  auto span = source_->span();
  if (!span) return source_failed(shell_, span.error());
  if (!*span && !asked->from) {
    return usage_error(
        shell_, fmt::format("--{} is needed for live sources: --{} now-2d", from_name, from_name));
  }
  // What is going on now has no whole last step yet.
  const Timestamp newest = *span ? (*span)->end : begin_of_step(plan_, now - delay_);
  range_ = {begin_of_step(plan_, asked->from.value_or(*span ? (*span)->begin : now)),
            end_of_step(plan_, asked->to.value_or(newest))};
  const Status sensible = sensible_span(range_, from_name);
  if (sensible) return std::nullopt;
  return usage_error(shell_, sensible.error().message);
}

std::optional<ExitStatus> SignalPast::read(const Take& take) {
  std::vector<Problem> said;
  for (Timestamp at = range_.begin; at < range_.end;) {
    const Timestamp end = std::min(range_.end, at + plan_.step * kStepsAsked);
    auto fetched = source_->fetch({at, end});
    if (!fetched) return source_failed(shell_, fetched.error());
    for (const Problem& problem : fetched->problems) {
      if (std::ranges::find(said, problem) != said.end()) continue;
      said.push_back(problem);
      shell_.err << note_line(problem);
    }
    take(fetched->batches.front(), source_->cells(0));
    at = end;
  }
  return std::nullopt;
}

}  // namespace outcomed
