#include "daemon/storage/tick_rows.h"

#include <fmt/core.h>

#include "daemon/storage/history_rows.h"
#include "daemon/storage/row_codec.h"

namespace outcomed {
namespace {

using sqlite::Blob;
using sqlite::Database;
using sqlite::Statement;

Status write_sources(Database& database, const std::vector<SourceRow>& rows) {
  Statement put =
      database.prepare("INSERT OR REPLACE INTO source VALUES (?, ?, ?)", "store a source");
  for (const SourceRow& row : rows) {
    if (Status done = put.run({row.source, row.watermark, Blob{row.memory}}); !done) return done;
  }
  return ok();
}

// An id that came to mean something else would relabel the stored buckets silently.
Status write_cells(Database& database, const std::vector<CellRow>& rows) {
  Statement put = database.prepare(
      "INSERT INTO cell VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET labels = labels "
      "WHERE labels = ?3",
      "store a cell");
  for (const CellRow& row : rows) {
    const Packed labels = pack(row.labels);
    if (Status done = put.run({row.signal, row.id, labels}); !done) return done;
    if (database.changes() == 0) {
      return Error{ErrorKind::invalid,
                   fmt::format("cell {} of signal {} is already another one than {}", row.id,
                               row.signal, row.labels.to_string())};
    }
  }
  return ok();
}

Status write_buckets(Database& database, const std::vector<BucketRow>& rows) {
  Statement put =
      database.prepare("INSERT OR REPLACE INTO bucket VALUES (?, ?, ?, ?, ?)", "store a bucket");
  for (const BucketRow& row : rows) {
    Status done =
        put.run({row.signal, row.start, row.length.count(), row.coverage, Blob{row.cells}});
    if (!done) return done;
  }
  return ok();
}

Status write_snapshots(Database& database, const std::vector<SnapshotRow>& rows) {
  Statement put =
      database.prepare("INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?)", "store a snapshot");
  for (const SnapshotRow& row : rows) {
    Status done = put.run({row.rule, row.settings_hash, row.at, Blob{row.folds}});
    if (!done) return done;
  }
  return ok();
}

bool remembers_nothing(const AlertState& state) {
  AlertState blank;
  blank.key = state.key;
  return state == blank;
}

Status write_alerts(Database& database, const std::vector<AlertState>& states) {
  Statement put = database.prepare(
      "INSERT OR REPLACE INTO alert VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", "store an alert");
  Statement erase = database.prepare(
      "DELETE FROM alert WHERE rule = ? AND severity = ? AND grouping = ?", "erase an alert");
  for (const AlertState& state : states) {
    const Packed group = pack(state.key.group);
    Status done = remembers_nothing(state)
                      ? erase.run({state.key.rule, state.key.severity, group})
                      : put.run({state.key.rule, state.key.severity, group, to_string(state.phase),
                                 state.pending_at, state.fired_at, state.onset, state.last_breach,
                                 state.last_step, state.healthy_since, Timestamp(state.unknown),
                                 Timestamp(state.too_few)});
    if (!done) return done;
  }
  return ok();
}

}  // namespace

Status write_tick(Database& database, const TickRecord& record) {
  if (Status done = write_sources(database, record.sources); !done) return done;
  if (Status done = write_cells(database, record.cells); !done) return done;
  if (Status done = write_buckets(database, record.buckets); !done) return done;
  if (Status done = write_snapshots(database, record.snapshots); !done) return done;
  if (Status done = write_alerts(database, record.alerts); !done) return done;
  if (Status done = write_episodes(database, record.episodes); !done) return done;
  return write_outbox(database, record.outbox);
}

Result<std::vector<SourceRow>> read_sources(Database& database) {
  std::vector<SourceRow> rows;
  Statement all = database.prepare("SELECT name, watermark, memory FROM source ORDER BY name",
                                   "read the sources");
  const Status read = all.each({}, [&] {
    RowReader row(all);
    SourceRow& source = rows.emplace_back();
    source.source = row.text();
    source.watermark = row.time();
    source.memory = row.text();
    return row.status();
  });
  if (!read) return read.error();
  return rows;
}

Result<std::vector<CellRow>> read_cells(Database& database) {
  std::vector<CellRow> rows;
  Statement all =
      database.prepare("SELECT signal, id, labels FROM cell ORDER BY signal, id", "read the cells");
  const Status read = all.each({}, [&] {
    RowReader row(all);
    CellRow& cell = rows.emplace_back();
    cell.signal = row.text();
    cell.id = static_cast<std::uint32_t>(row.integer());
    cell.labels = row.labels();
    return row.status();
  });
  if (!read) return read.error();
  return rows;
}

Result<std::vector<BucketRow>> read_buckets(Database& database, const std::string& signal,
                                            TimeRange range) {
  std::vector<BucketRow> rows;
  Statement some = database.prepare(
      "SELECT start, length, coverage, cells FROM bucket "
      "WHERE signal = ? AND start >= ? AND start < ? ORDER BY start",
      "read buckets");
  const Status read = some.each({signal, range.begin, range.end}, [&] {
    RowReader row(some);
    BucketRow& bucket = rows.emplace_back();
    bucket.signal = signal;
    bucket.start = row.time();
    bucket.length = Duration(row.integer());
    bucket.coverage = static_cast<std::uint8_t>(row.integer());
    bucket.cells = row.text();
    return row.status();
  });
  if (!read) return read.error();
  return rows;
}

Result<std::vector<SnapshotRow>> read_snapshots(Database& database) {
  std::vector<SnapshotRow> rows;
  Statement all = database.prepare(
      "SELECT rule, settings_hash, at, folds FROM snapshot ORDER BY rule", "read the snapshots");
  const Status read = all.each({}, [&] {
    RowReader row(all);
    SnapshotRow& snapshot = rows.emplace_back();
    snapshot.rule = row.text();
    snapshot.settings_hash = row.text();
    snapshot.at = row.time();
    snapshot.folds = row.text();
    return row.status();
  });
  if (!read) return read.error();
  return rows;
}

Result<std::vector<AlertState>> read_alerts(Database& database) {
  std::vector<AlertState> states;
  Statement all = database.prepare(
      "SELECT rule, severity, grouping, phase, pending_at, fired_at, onset, last_breach, "
      "last_step, healthy_since, unknown_ms, too_few_ms FROM alert ORDER BY rule, severity, "
      "grouping",
      "read the alerts");
  const Status read = all.each({}, [&] {
    RowReader row(all);
    AlertState& state = states.emplace_back();
    state.key = row.key();
    state.phase = row.phase();
    state.pending_at = row.time();
    state.fired_at = row.time();
    state.onset = row.time();
    state.last_breach = row.time();
    state.last_step = row.time();
    state.healthy_since = row.time();
    state.unknown = row.time().time_since_epoch();
    state.too_few = row.time().time_since_epoch();
    return row.status();
  });
  if (!read) return read.error();
  return states;
}

}  // namespace outcomed
