#include <fmt/core.h>

#include <charconv>
#include <ostream>

#include "daemon/commands/api_client.h"
#include "daemon/commands/episode_table.h"
#include "daemon/commands/options.h"
#include "daemon/commands/table.h"
#include "daemon/episode_json.h"
#include "daemon/net/curl_client.h"
#include "daemon/storage/sqlite_store.h"

namespace outcomed {
namespace {

struct Where {
  std::string store;  // Set by --store: the file, and nobody is asked.
  Config config;
  bool is_sound = true;  // The configuration; else only the daemon is asked.
};

ExitStatus status_of_answer(const Where& where) {
  return where.is_sound ? ExitStatus::io : ExitStatus::config;
}

// Where no daemon answered: the file of the history.
Result<std::unique_ptr<SqliteStore>> open_file(const Where& where) {
  if (!where.is_sound) {
    return Error{ErrorKind::unavailable,
                 fmt::format("no daemon answers at {}; mend the file, or name the history with "
                             "--store",
                             where.config.http.listen)};
  }
  return SqliteStore::open_read_only(where.store.empty() ? where.config.store.sqlite : where.store);
}

ExitStatus report(Shell& shell, const Error& error, ExitStatus status) {
  shell.err << "outcomed: " << error.message << "\n";
  return status;
}

std::string query_of(const EpisodeFilter& filter) {
  std::string query = fmt::format("?limit={}", filter.limit);
  if (filter.rule) query += "&rule=" + url_encode(*filter.rule);
  if (filter.from) query += "&from=" + url_encode(format_rfc3339(*filter.from));
  if (filter.to) query += "&to=" + url_encode(format_rfc3339(*filter.to));
  if (filter.open_only) query += "&open=true";
  return query;
}

// The daemon's answer, or that of the file where none runs.
Result<std::string> list_answer(const Where& where, HttpClient& http, const EpisodeFilter& filter,
                                std::ostream& notes) {
  if (where.store.empty()) {
    auto asked = ask_daemon(where.config.http, http, "/api/v1/episodes" + query_of(filter), notes);
    if (!asked) return std::move(asked).error();
    if (*asked) return **std::move(asked);
  }
  auto store = open_file(where);
  if (!store) return std::move(store).error();
  auto episodes = (*store)->episodes(filter);
  if (!episodes) return std::move(episodes).error();
  return episodes_json(*episodes);
}

Result<std::string> show_answer(const Where& where, HttpClient& http, const std::string& id,
                                std::ostream& notes) {
  if (where.store.empty()) {
    auto asked = ask_daemon(where.config.http, http, "/api/v1/episodes/" + url_encode(id), notes);
    if (!asked) return std::move(asked).error();
    if (*asked) return **std::move(asked);
  }
  auto store = open_file(where);
  if (!store) return std::move(store).error();
  auto episode = (*store)->episode(id);
  if (!episode) return std::move(episode).error();
  if (!*episode) return Error{ErrorKind::invalid, fmt::format("there is no episode {}", id)};
  auto deliveries = (*store)->deliveries(id);
  if (!deliveries) return std::move(deliveries).error();
  return episode_json(**episode, *deliveries);
}

void print_one(std::ostream& out, const Episode& e) {
  Table table({"", ""});
  const auto row = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) table.row({name, value});
  };
  row("episode", e.id);
  row("rule", e.key.rule);
  row("group", e.key.group.to_string());
  row("severity", e.key.severity);
  row("began", format_rfc3339(e.onset));
  row("first breach", format_rfc3339(e.pending_at));
  row("fired", format_rfc3339(e.fired_at));
  row("resolved", e.resolved_at
                      ? fmt::format("{} ({}) after {}", format_rfc3339(*e.resolved_at),
                                    e.resolve_reason, format_duration(*e.resolved_at - e.fired_at))
                      : "still firing");
  for (const auto& [name, value] : e.facts) row(name, value);
  row("configuration", e.config_hash);
  out << printable(e.sentence) << "\n";
  if (!e.resolve_sentence.empty()) {
    out << "When it resolved: " << printable(e.resolve_sentence) << "\n";
  }
  table.print(out);
}

void print_deliveries(std::ostream& out, const std::vector<OutboxRow>& rows) {
  if (rows.empty()) return;
  Table table({"told", "of", "state", ">attempts", "queued", "settled", "last answer"});
  for (const OutboxRow& row : rows) {
    table.row({printable(row.receiver), row.status == AlertStatus::firing ? "firing" : "resolved",
               std::string(to_string(row.state)), fmt::format("{}", row.attempts),
               short_time(format_rfc3339(row.created_at)),
               row.settled_at == Timestamp{} ? "-" : short_time(format_rfc3339(row.settled_at)),
               printable(row.last_answer)});
  }
  out << "\n";
  table.print(out);
}

// As many as the API gives at once.
std::optional<std::size_t> limit_of(const Options& options) {
  constexpr std::size_t kMost = 10'000;
  const std::string text = options.text("limit");
  std::size_t limit = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && limit > 0 && limit <= kMost ? std::optional(limit) : std::nullopt;
}

ExitStatus list(const Options& options, const Where& where, HttpClient& http, Shell& shell) {
  const Timestamp now = shell.clock.now();
  const auto span = options.span(now);
  if (!span) return usage_error(shell, span.error().message);
  EpisodeFilter filter;
  filter.from = span->from;
  filter.to = span->to;
  if (options.has("rule")) filter.rule = options.text("rule");
  filter.open_only = options.has("open");
  const std::optional<std::size_t> limit = limit_of(options);
  if (!limit) return usage_error(shell, "--limit: a number from 1 to 10000");
  filter.limit = *limit;
  auto answer = list_answer(where, http, filter, shell.err);
  if (!answer) return report(shell, answer.error(), status_of_answer(where));
  auto episodes = episodes_from_json(*answer);
  if (!episodes) return report(shell, episodes.error(), ExitStatus::io);
  if (episodes->size() == filter.limit) {
    shell.err << fmt::format(
        "note: these are the newest {}; where there are more, --to {} goes on with older ones\n",
        filter.limit, format_rfc3339(episodes->back().fired_at));
  }
  const std::string format = options.text("format");
  if (format == "json") {
    shell.out << *answer << "\n";
    return ExitStatus::ok;
  }
  if (format == "csv") {
    print_episodes_csv(shell.out, *episodes);
  } else if (episodes->empty()) {
    shell.out << "no episodes\n";
  } else {
    print_episodes(shell.out, *episodes, true);
  }
  return ExitStatus::ok;
}

ExitStatus show(const Options& options, const Where& where, HttpClient& http, const std::string& id,
                Shell& shell) {
  auto answer = show_answer(where, http, id, shell.err);
  if (!answer) {
    return report(
        shell, answer.error(),
        answer.error().kind == ErrorKind::invalid ? ExitStatus::usage : status_of_answer(where));
  }
  if (options.text("format") == "json") {
    shell.out << *answer << "\n";
    return ExitStatus::ok;
  }
  auto episodes = episodes_from_json("{\"episodes\":[" + *answer + "]}");
  if (!episodes) return report(shell, episodes.error(), ExitStatus::io);
  if (options.text("format") == "csv") {
    print_episodes_csv(shell.out, *episodes);
    return ExitStatus::ok;
  }
  const auto deliveries = deliveries_from_json(*answer);
  if (!deliveries) return report(shell, deliveries.error(), ExitStatus::io);
  print_one(shell.out, episodes->front());
  print_deliveries(shell.out, *deliveries);
  return ExitStatus::ok;
}

}  // namespace

ExitStatus run_history(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "history list|show [EPISODE]",
      "Lists or shows stored episodes: from the running daemon, or from the file when none\n"
      "runs. Both give the same answer.",
      "outcomed history list --from now-7d --format json");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .value("store", "read this file instead of asking the daemon")
      .value("from", "episodes that were firing at or after this time")
      .value("to", "episodes that fired before this time")
      .value("rule", "only of this rule")
      .flag("open", "only those that are firing")
      .value("limit", std::string("1000"), "at most so many, the newest ones")
      .format({"table", "json", "csv"})
      .positional("words", -1, "list, or show and the episode's id");
  if (const auto end = options.parse(arguments, shell)) return *end;
  const std::vector<std::string> words = options.texts("words");
  const bool shows = words.size() == 2 && words[0] == "show";
  if (!shows && !(words.size() == 1 && words[0] == "list")) {
    return usage_error(shell, "history is followed by list, or by show EPISODE");
  }
  Where where;
  where.store = options.text("store");
  if (where.store.empty()) {
    LoadedConfig loaded;
    where.is_sound = load_to_ask(options.text("config"), shell, loaded);
    where.config = std::move(loaded.config);
  }
  FileSecretReader secrets(shell.environment);
  CurlClient http(secrets);
  return shows ? show(options, where, http, words[1], shell) : list(options, where, http, shell);
}

}  // namespace outcomed
