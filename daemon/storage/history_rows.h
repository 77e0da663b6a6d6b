// Episodes, deliveries and configurations as rows. Callers hold the store's mutex; writers run
// inside a transaction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alerts/store.h"
#include "daemon/storage/sqlite.h"

namespace outcomed {

Status write_episodes(sqlite::Database& database, const std::vector<Episode>& episodes);
Status write_outbox(sqlite::Database& database, const std::vector<OutboxRow>& rows);
Status settle_rows(sqlite::Database& database, const std::vector<OutboxRow>& rows);
Status write_config(sqlite::Database& database, const std::string& hash, const std::string& text,
                    Timestamp now);

Result<std::vector<Episode>> read_current_episodes(sqlite::Database& database,
                                                   Timestamp resolved_since);
Result<std::vector<Episode>> read_episodes(sqlite::Database& database, const EpisodeFilter& filter);
Result<std::optional<Episode>> read_episode(sqlite::Database& database, const std::string& id);
Result<std::vector<OutboxRow>> read_queued(sqlite::Database& database, const std::string& receiver);
Result<std::vector<OutboxRow>> read_deliveries(sqlite::Database& database,
                                               const std::string& episode);
Result<std::optional<std::string>> read_last_config(sqlite::Database& database);

}  // namespace outcomed
