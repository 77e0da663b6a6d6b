// The gateway's table in a real database: by its own migrations where they are there, else by hand.
#pragma once

#include <algorithm>
#include <cstdlib>

#include "tests/support/real_postgres.h"
#include "tests/support/spend_rows.h"

namespace outcomed::testing {

// Columns that are read, and those that the rows of the recordings fill; the gateway's indexes.
inline constexpr const char* kMinimalSpendLogs = R"(
create table "LiteLLM_SpendLogs" (
  request_id text primary key, call_type text not null default '', api_key text not null default '',
  spend double precision not null default 0, total_tokens integer not null default 0,
  prompt_tokens integer not null default 0, completion_tokens integer not null default 0,
  "startTime" timestamp(3) not null, "endTime" timestamp(3) not null,
  "completionStartTime" timestamp(3), model text not null default '', model_id text default '',
  model_group text default '', custom_llm_provider text default '', api_base text default '',
  "user" text default '', metadata jsonb default '{}', cache_hit text default '',
  cache_key text default '', request_tags jsonb default '[]', team_id text, end_user text,
  session_id text, status text);
create index on "LiteLLM_SpendLogs" ("startTime");)";

// All migration files of a version of litellm-proxy-extras as one text, in their order; empty where
// they aren't there and can't be had.
inline std::string genuine_migrations(const std::string& version) {
  namespace fs = std::filesystem;
  const fs::path root =
      peers_folder() / "litellm-proxy-extras" / version / "litellm_proxy_extras" / "migrations";
  if (!fs::exists(root)) {
    const std::string get = std::string("timeout 60 '") + OUTCOMED_SOURCE_DIR +
                            "/tests/integration/postgres/migrations' '" + peers_folder().string() +
                            "' >/dev/null 2>&1";
    if (std::system(get.c_str()) != 0 || !fs::exists(root)) return {};
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (fs::exists(entry.path() / "migration.sql")) files.push_back(entry.path() / "migration.sql");
  }
  std::ranges::sort(files);
  std::string text;
  for (const auto& file : files) text += read_file(file) + ";\n";
  return text;
}

// Loads recorded rows: those of their columns that the table has.
inline bool load_spend_rows(RealPostgres& server, const std::string& database,
                            const std::vector<SpendRowText>& rows) {
  std::vector<std::string> columns;
  std::string names;
  std::istringstream there(server.ask(
      database,
      "select column_name from information_schema.columns where table_name = 'LiteLLM_SpendLogs'"));
  for (std::string column; std::getline(there, column);) {
    const bool used =
        std::ranges::any_of(rows, [&](const SpendRowText& row) { return row.contains(column); });
    if (!used) continue;
    columns.push_back(column);
    names += (names.empty() ? "" : ", ") + ("\"" + column + "\"");
  }
  std::string lines;
  for (const SpendRowText& row : rows) lines += copy_line(row, columns);
  return server.load(database, "\"LiteLLM_SpendLogs\" (" + names + ")", lines);
}

}  // namespace outcomed::testing
