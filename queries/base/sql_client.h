// What sources ask of a PostgreSQL server. Implemented once, on libpq, in daemon/sql; the words
// here know no library, no socket and no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "queries/base/params.h"
#include "queries/base/result.h"
#include "queries/base/secret.h"
#include "queries/base/time.h"

namespace outcomed {

// How to reach one database.
struct SqlAccess {
  std::string host;  // A name, an address, or the folder of a Unix socket.
  std::int64_t port = 5432;
  std::string dbname;
  std::string user;
  SecretRef password;
  std::string sslmode = "prefer";
  std::string ca_file;
  std::string cert_file;
  std::string key_file;

  void visit(ParamVisitor& visitor);
};

// One value of a row as text, as the server prints it; nothing for NULL. Valid during the call.
using SqlValue = std::optional<std::string_view>;
using SqlRow = std::span<const SqlValue>;

struct SqlParameter {
  enum class Type { inferred, timestamp_with_zone };
  std::string text;
  Type type = Type::inferred;
};

// One statement that returns rows. Runs alone in a transaction that is READ ONLY, with the
// session's zone set to `time_zone`, dates in ISO form and text in UTF-8 (bytes of a database in
// SQL_ASCII come as they are).
struct SqlQuery {
  std::string text;
  std::vector<SqlParameter> parameters;  // $1, $2, …
  std::string time_zone = "UTC";
  Duration timeout =
      10s;  // For all of it. The server is told to end the statement a little earlier.
  std::int64_t max_rows = 1'000'000;
  std::int64_t max_bytes = std::int64_t{256} << 20;
  // The names of the columns, before the first row and also where there is none.
  std::function<Status(const std::vector<std::string>&)> on_columns;
  // An error ends the query with that error.
  std::function<Status(SqlRow)> on_row;
};

// One connection; not for several threads. After an error that is `unavailable`, `timeout` or
// `too_large` it is closed and usable() says so.
//
// Errors: unavailable (no server, connection lost, too many connections, shutting down), timeout,
// unauthorized (42501, 28xxx), too_large, rejected (the statement: unknown column, wrong type,
// writes), invalid (a secret that can't be read). Messages hold the server's words, cut to 300
// bytes, and the SQLSTATE.
class SqlConnection {
 public:
  virtual ~SqlConnection() = default;
  virtual Status query(const SqlQuery& query) = 0;
  [[nodiscard]] virtual bool usable() const = 0;
};

// Safe for threads.
class SqlClient {
 public:
  virtual ~SqlClient() = default;
  virtual Result<std::unique_ptr<SqlConnection>> connect(const SqlAccess& access,
                                                         Duration timeout) = 0;
};

}  // namespace outcomed
