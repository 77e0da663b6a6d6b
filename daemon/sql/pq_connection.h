// One connection on which nothing blocks: every wait is a poll with what is left of the deadline.
#pragma once

#include <libpq-fe.h>

#include <memory>
#include <string>

#include "daemon/sql/deadline.h"
#include "queries/base/sql_client.h"

namespace outcomed {

struct PqResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using PqResult = std::unique_ptr<PGresult, PqResultDeleter>;

class PqConnection final : public SqlConnection {
 public:
  static Result<std::unique_ptr<SqlConnection>> open(const SqlAccess& access,
                                                     const Secret& password, Duration timeout);

  Status query(const SqlQuery& query) override;
  [[nodiscard]] bool usable() const override { return connection_ != nullptr; }

 private:
  struct Deleter {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };

  explicit PqConnection(std::string place) : place_(std::move(place)) {}

  Status connect(const SqlAccess& access, const Secret& password, const SqlDeadline& deadline);
  Status run(const SqlQuery& query, const SqlDeadline& deadline);
  // Sends our own commands and waits for the end of the last.
  Status command(const std::string& text, const SqlDeadline& deadline);
  Status send(const SqlQuery& query);
  Status flush(const SqlDeadline& deadline);
  // The next result; null at the end of a statement.
  Result<PqResult> next(const SqlDeadline& deadline);
  Status drain(const SqlDeadline& deadline);
  Status rows(const SqlQuery& query, const SqlDeadline& deadline);

  std::string place_;  // host:port/dbname, for messages.
  std::unique_ptr<PGconn, Deleter> connection_;
};

}  // namespace outcomed
