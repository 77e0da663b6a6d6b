#include "daemon/runtime/reporting.h"

#include <utility>

namespace outcomed {
namespace {

std::string_view result_name(const DeliveryReport& report) {
  if (report.outcome == SendResult::Outcome::delivered) return "delivered";
  if (!report.dead.empty()) return "dead";
  return report.outcome == SendResult::Outcome::rejected ? "rejected" : "retry";
}

}  // namespace

void Reporting::condition(const std::string& key, const std::string& event, const std::string& what,
                          const LogFields& fields) {
  RepeatLimiter::Answer answer;
  {
    const std::lock_guard lock(mutex_);
    answer = repeats_.seen(key, what, clock_.now());
  }
  LogFields all = fields;
  switch (answer.say) {
    case RepeatLimiter::Say::nothing:
      return;
    case RepeatLimiter::Say::started:
    case RepeatLimiter::Say::changed:
      all.emplace_back("reason", what);
      break;
    case RepeatLimiter::Say::still:
      all.emplace_back("reason", what);
      all.emplace_back("times", answer.seen);
      all.emplace_back("since", format_rfc3339(answer.since));
      break;
    case RepeatLimiter::Say::ended:
      all.emplace_back("times", answer.seen);
      all.emplace_back("since", format_rfc3339(answer.since));
      log_.info(event + ": over", all);
      return;
  }
  log_.warn(event, all);
}

void Reporting::source(const SourceReport& report) {
  const std::string error = report.error ? report.error->message : "";
  condition("source " + report.source, "source does not answer", error,
            {{"source", report.source}});
  if (report.error) metrics_.fetch_failed(report.source, report.error->kind);
  if (report.buckets > 0) {
    metrics_.fetched(report.source, report.fetch_time, report.buckets);
    metrics_.watermark(report.source, report.folded.end);
  }
  if (report.buckets > 0) problems_of(report);
}

void Reporting::problems_of(const SourceReport& report) {
  std::map<std::string, Problem> now;
  for (const Problem& problem : report.problems) {
    metrics_.problem(report.source, problem.what);
    now.emplace("problem " + report.source + " " + problem.what + " " + problem.where, problem);
  }
  std::map<std::string, Problem>& before = problems_[report.source];
  const auto say = [&](const std::string& key, const Problem& problem, const std::string& what) {
    condition(key, "problem with the data", what,
              {{"source", report.source}, {"what", problem.what}, {"where", problem.where}});
  };
  for (const auto& [key, problem] : now) say(key, problem, problem.message);
  for (const auto& [key, problem] : before) {
    if (!now.contains(key)) say(key, problem, "");
  }
  before = std::move(now);
}

void Reporting::ticked(const TickReport& report, const TickTiming& timing, const Engine& engine) {
  metrics_.ticked(timing.took, timing.late, timing.missed);
  metrics_.committed(report.commit.has_value());
  condition("commit", "store can't be written: judging and telling go on from memory",
            report.commit ? "" : report.commit.error().message, {});
  for (const SourceReport& one : report.sources) source(one);
  for (const Episode& episode : report.episodes) {
    const bool over = episode.resolved_at.has_value();
    metrics_.episode(over ? "resolved" : "fired");
    LogFields fields = {
        {"rule", episode.key.rule},
        {"severity", episode.key.severity},
        {"group", episode.key.group.to_string()},
        {"episode", episode.id},
        {"sentence",
         over && !episode.resolve_sentence.empty() ? episode.resolve_sentence : episode.sentence}};
    if (over) fields.emplace_back("reason", episode.resolve_reason);
    log_.info(over ? "alert resolved" : "alert fired", fields);
  }
  std::map<Phase, std::size_t> phases = {{Phase::pending, 0}, {Phase::firing, 0}};
  for (const RuleSpec& rule : engine.rules()) {
    for (const auto& view : engine.active(rule.name)) ++phases[view.state->phase];
  }
  metrics_.alerts("pending", phases[Phase::pending]);
  metrics_.alerts("firing", phases[Phase::firing]);
  log_.debug("tick finished", {{"ms", timing.took.count()}, {"late_ms", timing.late.count()}});
  if (timing.missed > 0) {
    log_.info("steps were judged late",
              {{"steps", timing.missed}, {"late_ms", timing.late.count()}});
  }
}

void Reporting::incomplete(const std::string& source, const std::string& gaps) {
  log_.warn("steps were not judged", {{"source", source}, {"reason", gaps}});
}

void Reporting::polled(const std::string& source, const Status& result, Duration took) {
  metrics_.fetched(source, took, 0);
  if (!result) metrics_.fetch_failed(source, result.error().kind);
  condition("poll " + source, "the page can't be read", result ? "" : result.error().message,
            {{"source", source}});
}

void Reporting::delivered(const DeliveryReport& report) {
  metrics_.delivered(report.receiver, result_name(report), report.took);
  const bool fine = report.outcome == SendResult::Outcome::delivered;
  if (fine) {
    log_.info("told", {{"receiver", report.receiver},
                       {"alerts", report.alerts},
                       {"attempts", report.attempts},
                       {"answer", report.detail}});
  }
  // Each of them, however often the answer was the same: nobody else will say that these are lost.
  for (const DeadLetter& letter : report.dead) {
    log_.error("given up telling",
               {{"receiver", report.receiver},
                {"alert", letter.alert},
                {"status", letter.status == AlertStatus::firing ? "firing" : "resolved"},
                {"episode", letter.episode},
                {"attempts", report.attempts},
                {"reason", report.detail}});
  }
  // While another message waits it isn't over; a dead letter neither is the end of it nor a wait.
  if (fine ? report.waiting > 0 : report.dead.size() == report.alerts) return;
  condition("deliver " + report.receiver, "could not tell", fine ? "" : report.detail,
            {{"receiver", report.receiver}, {"alerts", report.alerts}});
}

void Reporting::outbox_depth(const std::string& outbox, OutboxDelivery::Depth depth,
                             Timestamp now) {
  metrics_.outbox(outbox, depth.rows, depth.oldest ? now - *depth.oldest : Duration::zero());
}

void Reporting::mirrored(const std::string& receiver, const MirrorDelivery::Round& round) {
  const bool fine = round.result.outcome == SendResult::Outcome::delivered;
  metrics_.delivered(receiver, fine ? "delivered" : "retry", Duration::zero());
  condition("mirror " + receiver + " " + round.peer, "could not tell",
            fine ? "" : round.result.detail,
            {{"receiver", receiver}, {"peer", round.peer}, {"alerts", round.alerts}});
}

void Reporting::heartbeat(const Status& result) {
  condition("heartbeat", "the heartbeat could not be sent", result ? "" : result.error().message,
            {});
}

void Reporting::store_failed(const std::string& task, const Error& error) {
  condition("store " + task, "store failed", error.message, {{"task", task}});
}

void Reporting::reloaded(bool success, const std::vector<ConfigProblem>& problems,
                         const std::string& message) {
  metrics_.reloaded(success, clock_.now());
  for (const ConfigProblem& problem : problems) {
    log_.error("configuration", {{"problem", to_text(problem)}});
  }
  if (success) {
    log_.info("configuration in force", {{"hash", message}});
  } else {
    log_.error("the old configuration stays in force", {{"reason", message}});
  }
}

}  // namespace outcomed
