#include <fmt/core.h>
#include <malloc.h>

#include <ostream>
#include <set>

#include "daemon/assembly.h"
#include "daemon/commands/episode_table.h"
#include "daemon/commands/options.h"
#include "daemon/commands/table.h"
#include "daemon/engine/null_store.h"
#include "daemon/episode_json.h"
#include "daemon/net/curl_client.h"
#include "daemon/net/secret_reader.h"

namespace outcomed {
namespace {

// What the recordings among the sources hold together, and whether others are live.
struct Held {
  std::optional<TimeRange> recorded;
  bool live = false;
};

Result<Held> held_by(Assembly& assembly) {
  Held held;
  for (const SourceUnit& unit : assembly.sources) {
    auto span = unit.source->span();
    if (!span) return std::move(span).error();
    if (!*span) {
      held.live = true;
    } else if (!held.recorded) {
      held.recorded = **span;
    } else {
      held.recorded = TimeRange{std::min(held.recorded->begin, (*span)->begin),
                                std::max(held.recorded->end, (*span)->end)};
    }
  }
  return held;
}

// The span to replay: what was asked for, as far as recorded data goes.
Result<TimeRange> span_of(const Options::Span& asked, const Held& held, Timestamp now) {
  const auto& data = held.recorded;
  if (!data && !asked.from) {
    return Error{ErrorKind::invalid, "--from is needed for live sources: --from now-2d"};
  }
  TimeRange range{asked.from.value_or(data ? data->begin : now),
                  asked.to.value_or(data ? data->end : now)};
  if (!held.live && data) {
    range = {std::max(range.begin, data->begin), std::min(range.end, data->end)};
    if (range.end <= range.begin) {
      return Error{ErrorKind::invalid,
                   fmt::format("there is nothing between --from and --to: the recording goes from "
                               "{} to {}",
                               format_rfc3339(data->begin), format_rfc3339(data->end))};
    }
  }
  if (Status status = sensible_span(range); !status) return std::move(status).error();
  return range;
}

// Chunk after chunk of the same size comes and goes: pages given back to the system each time would
// be faulted in anew, which costs as much as the counting. 32 MiB is the greatest threshold of
// glibc.
void keep_pages() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

void print_table(std::ostream& out, TimeRange range, const Engine& engine) {
  const auto& episodes = engine.replayed();
  if (episodes.empty()) {
    out << "no episodes\n";
  } else {
    print_episodes(out, episodes, false);
    out << "\n";
    for (const Episode& episode : episodes) out << printable(episode.sentence) << "\n";
  }
  out << fmt::format("\n{} to {} ({}): {} buckets, {} episodes\n", format_rfc3339(range.begin),
                     format_rfc3339(range.end), format_duration(range.length()),
                     engine.folded_buckets(), episodes.size());
}

}  // namespace

ExitStatus run_backtest(const std::vector<std::string>& arguments, Shell& shell) {
  Options options(
      "backtest [--recording PATH] [--from TIME] [--to TIME]",
      "Runs the rules over the past with the engine of the daemon and a replay clock, and\n"
      "lists the episodes they would have had. Nobody is told, nothing is stored.",
      "outcomed backtest --config outcomed.yaml --recording ./pages --format json");
  options.value("config,c", std::string(kDefaultConfig), "configuration file")
      .value("recording", "read this instead of every source: folder of pages, .om or .csv")
      .value("from", "start: RFC 3339, Unix seconds or now-2d")
      .value("to", "end, likewise (default: now, or the end of the recording)")
      .format({"table", "json", "csv"});
  if (const auto end = options.parse(arguments, shell)) return *end;
  const auto asked = options.span(shell.clock.now());
  if (!asked) return usage_error(shell, asked.error().message);
  LoadedConfig loaded;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) return *end;

  keep_pages();
  FileSecretReader secrets(shell.environment);
  CurlClient http(secrets);
  auto assembly =
      options.has("recording")
          ? assemble_replay(loaded.config, options.text("recording"))
          : assemble(loaded.config, {http, http}, secrets, [&] { return shell.clock.now(); });
  if (!assembly) {
    shell.err << "outcomed: " << assembly.error().message << "\n";
    return status_of(assembly.error());
  }
  const auto held = held_by(*assembly);
  if (!held) return source_failed(shell, held.error());
  const auto range = span_of(*asked, *held, shell.clock.now());
  if (!range) return usage_error(shell, range.error().message);
  NullStore store;
  EngineSettings settings;
  settings.config_hash = loaded.hash;
  settings.chunk_values = 4'000'000;  // It lives shortly, and months are many requests.
  Engine engine(std::move(assembly->sources), std::move(assembly->rules), assembly->announcer,
                settings, store, [&] { return shell.clock.steady_now(); });
  const Status status = engine.replay(*range, [&](double done) {
    if (shell.err_is_terminal) shell.err << fmt::format("\rbacktest {:3.0f} %", done * 100);
  });
  if (shell.err_is_terminal) shell.err << "\r\033[K";
  if (!status) return source_failed(shell, status.error());
  for (const Problem& problem : engine.replay_problems()) {
    shell.err << note_line(problem);
  }
  std::set<std::string> facts;
  for (const RuleSpec& rule : engine.rules()) {
    for (std::string& fact : engine.facts(rule.signal)) facts.insert(std::move(fact));
  }
  for (const std::string& fact : facts) shell.err << "note: " << fact << "\n";
  const std::string format = options.text("format");
  if (format == "json") {
    shell.out << backtest_json(*range, engine.folded_buckets(), engine.replay_problems(),
                               engine.replayed())
              << "\n";
  } else if (format == "csv") {
    print_episodes_csv(shell.out, engine.replayed());
  } else {
    print_table(shell.out, *range, engine);
  }
  return ExitStatus::ok;
}

}  // namespace outcomed
