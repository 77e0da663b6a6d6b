#include "daemon/commands/rescore_input.h"

#include <fmt/core.h>

#include <array>
#include <istream>
#include <ostream>

#include "daemon/rescore/score_file.h"
#include "daemon/rescore/score_query.h"
#include "daemon/sql/pq_client.h"
#include "queries/postgres/sql_text.h"
#include "queries/recording/file_pieces.h"

namespace outcomed {
namespace {

constexpr std::size_t kMostSqlBytes = std::size_t{1} << 20;

Error usage(std::string message) { return {ErrorKind::invalid, std::move(message)}; }

ExitStatus say(Shell& shell, const Error& error) {
  shell.err << "outcomed: " << error.message << "\n";
  // Refused by the server: the query is wrong, or the role.
  const bool ours = error.kind == ErrorKind::invalid || error.kind == ErrorKind::rejected;
  return ours ? ExitStatus::usage : ExitStatus::unavailable;
}

Result<std::string> standard_input(std::istream* in) {
  if (in == nullptr) return usage("there is no standard input");
  std::string text(kMostSqlBytes + 1, '\0');
  in->read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in->gcount()));
  return text;
}

Result<std::string> file_text(const std::string& path) {
  std::string text;
  Status status = read_pieces(path, [&](std::string_view piece) {
    text += piece;
    return text.size() > kMostSqlBytes ? Status(usage("more than 1 MiB")) : ok();
  });
  if (!status) return std::move(status).error();
  return text;
}

// What --sql means: the query itself, @FILE, or - for standard input.
Result<std::string> query_text(const std::string& given, Shell& shell) {
  auto text = given == "-"             ? standard_input(shell.in)
              : given.starts_with('@') ? file_text(given.substr(1))
                                       : Result<std::string>(given);
  const std::string place =
      given == "-" || given.starts_with('@') ? "--sql " + given : std::string("--sql");
  if (!text) return std::move(text).error().while_doing(place);
  if (text->size() > kMostSqlBytes) return usage(place + ": more than 1 MiB");
  if (text->starts_with("\xEF\xBB\xBF")) text->erase(0, 3);  // A byte order mark.
  auto query = parse_whole_query(*text);
  if (!query) return std::move(query).error().while_doing(place);
  return std::move(query->text);
}

struct Database {
  std::string source;  // Its name.
  PostgresSettings settings;
};

std::string names_of(const std::vector<Database>& databases) {
  std::string names;
  for (const Database& one : databases) names += (names.empty() ? "" : ", ") + one.source;
  return names;
}

// The source that --source names, or the only one.
Result<Database> find_database(const Config& config, const Options& options) {
  std::vector<Database> there;
  for (const SourceConfig& source : config.sources) {
    const auto* settings = settings_as<PostgresSettings>(*source.settings);
    if (settings != nullptr) there.push_back({source.name, *settings});
  }
  if (there.empty()) {
    return usage(
        fmt::format("{} has no source of kind postgres; add one: sources: {{ledger: "
                    "{{kind: postgres, host: …, dbname: …, user: …}}}}",
                    options.text("config")));
  }
  const std::string wanted = options.text("source");
  if (wanted.empty() && there.size() == 1) return there.front();
  if (wanted.empty()) {
    return usage(fmt::format("--source is needed: which of {} is to be asked", names_of(there)));
  }
  for (const Database& one : there) {
    if (one.source == wanted) return one;
  }
  return usage(fmt::format("--source: \"{}\" is no source of kind postgres; there are: {}", wanted,
                           names_of(there)));
}

// What can be done about it, where that isn't plain.
std::string remedy(ErrorKind kind, const Database& database) {
  const PostgresSettings& settings = database.settings;
  switch (kind) {
    case ErrorKind::timeout:
      return fmt::format("; ask for less, or raise its timeout ({})",
                         format_duration(settings.timeout));
    case ErrorKind::too_large:
      return fmt::format("; ask for less, or raise its max_rows ({})", settings.max_rows);
    case ErrorKind::unauthorized:
      return fmt::format("; role {} must be let in, and have select on what is read",
                         settings.access.user);
    default:
      return {};
  }
}

std::optional<ExitStatus> ask_database(const ScoreInput& input, const Options& options,
                                       const ScoreColumns& columns, Shell& shell, ScoreRows& rows) {
  const bool table = input.kind == ScoreInput::Kind::table;
  const auto sql = table ? Result<std::string>(input.text) : query_text(input.text, shell);
  if (!sql) return say(shell, sql.error());
  LoadedConfig loaded;
  if (const auto end = load_or_report(options.text("config"), shell, loaded)) return end;
  const auto database = find_database(loaded.config, options);
  if (!database) return say(shell, database.error());
  FileSecretReader secrets(shell.environment);
  PqClient client(secrets);
  PostgresSession session(database->settings, client);
  auto read = table ? read_score_table(session, *sql, input.origin, columns)
                    : read_score_query(session, *sql, input.origin, columns);
  if (read) {
    for (const std::string& fact : session.facts()) shell.err << "note: " << fact << "\n";
    rows = *std::move(read);
    return std::nullopt;
  }
  Error error = std::move(read).error();
  if (error.kind == ErrorKind::invalid) return say(shell, error);
  error.message += remedy(error.kind, *database);
  return say(shell, std::move(error).while_doing(fmt::format(
                        "{}: source {}", table ? "--table" : "--sql", database->source)));
}

std::optional<ExitStatus> read_csv(const ScoreInput& input, const ScoreColumns& columns,
                                   Shell& shell, ScoreRows& rows) {
  const auto text = read_score_file(input.text);
  if (!text) return say(shell, text.error());
  auto read = read_score_rows(*text, input.origin, columns);
  if (!read) return say(shell, read.error());
  rows = *std::move(read);
  return std::nullopt;
}

}  // namespace

void add_score_input_options(Options& options) {
  options.value("csv", "file with a header line, plain or gzip")
      .value("sql", "a query for the rows, @FILE that holds it, or - for standard input")
      .value("table", "table or view of the rows: scores, public.scores, \"Odd name\"")
      .value("config,c", std::string(kDefaultConfig), "configuration file, for --sql and --table")
      .value("source", "its source of kind postgres (default: the only one)");
}

Result<ScoreInput> score_input_of(const Options& options) {
  constexpr std::array kKinds = {std::pair("csv", ScoreInput::Kind::csv),
                                 std::pair("sql", ScoreInput::Kind::sql),
                                 std::pair("table", ScoreInput::Kind::table)};
  std::optional<ScoreInput> input;
  for (const auto& [name, kind] : kKinds) {
    if (!options.has(name)) continue;
    if (input) return usage("give one of --csv, --sql and --table: the rows come from one place");
    input = ScoreInput{kind, options.text(name), {}};
    if (input->text.empty()) return usage(fmt::format("--{} is empty", name));
  }
  if (!input) return usage("--csv is needed, or --sql or --table: where the scores are");
  if (input->kind == ScoreInput::Kind::csv && options.has("source")) {
    return usage("--source has no meaning with --csv");
  }
  input->origin = input->kind == ScoreInput::Kind::csv   ? input->text
                  : input->kind == ScoreInput::Kind::sql ? "the query"
                                                         : "table " + input->text;
  return *input;
}

std::optional<ExitStatus> read_scores(const ScoreInput& input, const Options& options,
                                      const ScoreColumns& columns, Shell& shell, ScoreRows& rows) {
  if (input.kind == ScoreInput::Kind::csv) return read_csv(input, columns, shell, rows);
  return ask_database(input, options, columns, shell, rows);
}

}  // namespace outcomed
