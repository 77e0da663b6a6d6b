// A PostgreSQL database as a source: the gateway's table of requests, and queries of the user's
// own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "queries/base/sql_client.h"
#include "queries/postgres/event_table_reader.h"
#include "queries/postgres/session.h"
#include "queries/postgres/settings.h"
#include "queries/postgres/sql_signal.h"
#include "queries/source.h"

namespace outcomed {

class PostgresSource final : public Source {
 public:
  // Plans have `sql` or `rows`, and one step. Error invalid: a
  // plan that has neither, or SQL that can't be used.
  static Result<std::unique_ptr<PostgresSource>> make(const PostgresSettings& settings,
                                                      std::vector<SignalPlan> plans,
                                                      std::shared_ptr<SqlClient> client);

  // One connection is kept open between calls. Nothing is asked outside a read-only transaction,
  // and nothing waits longer than settings.timeout for a statement.
  Result<Fetch> fetch(TimeRange range) override;
  [[nodiscard]] const std::vector<Labels>& cells(std::size_t signal) const override;
  void seed_cells(std::size_t signal, const std::vector<Labels>& cells) override;
  void save(Writer& writer) const override;
  bool load(Reader& reader) override;

  // Rows of the gateway's table that the server sent, since the start.
  [[nodiscard]] std::uint64_t rows_read() const { return rows_ ? rows_->rows_read() : 0; }

 private:
  PostgresSource(const PostgresSettings& settings, std::shared_ptr<SqlClient> client)
      : client_(std::move(client)), session_(settings, *client_) {}

  // Signal number -> place among those of its reader.
  struct Place {
    bool of_rows;
    std::size_t index;
  };
  std::vector<Place> places_;
  std::shared_ptr<SqlClient> client_;
  PostgresSession session_;
  std::optional<EventTableReader> rows_;
  std::vector<SqlSignal> asked_;
};

}  // namespace outcomed
