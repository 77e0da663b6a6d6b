#include "daemon/sql/pq_connection.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "daemon/sql/host_lookup.h"
#include "daemon/sql/pq_error.h"

namespace outcomed {
namespace {

constexpr Oid kTimestampWithZone = 1184;  // pg_type.dat: timestamptz.

void ignore_notice(void*, const char*) {}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

using Words = std::vector<std::pair<const char*, std::string>>;

// Everything that libpq would take from the environment and that could surprise is said here.
Words connect_words(const SqlAccess& access, const Secret& password, Duration timeout,
                    const std::vector<std::string>& addresses) {
  Words words = {{"port", std::to_string(access.port)},
                 {"dbname", access.dbname},
                 {"user", access.user},
                 {"password", password.reveal()},
                 {"sslmode", access.sslmode},
                 {"sslrootcert", access.ca_file},
                 {"sslcert", access.cert_file},
                 {"sslkey", access.key_file},
                 {"application_name", "outcomed"},
                 {"client_encoding", "UTF8"},
                 {"gssencmode", "disable"},
                 {"passfile", "/dev/null/none"},  // Only what the configuration says.
                 {"keepalives", "1"},
                 {"keepalives_idle", "30"},
                 {"keepalives_interval", "10"},
                 {"keepalives_count", "3"},
                 {"tcp_user_timeout", std::to_string(timeout.count())}};
  if (addresses.empty()) {
    words.emplace_back("host", access.host);
  } else {
    words.emplace_back("host", join(std::vector<std::string>(addresses.size(), access.host)));
    words.emplace_back("hostaddr", join(addresses));
  }
  return words;
}

PGconn* start(const Words& words) {
  std::vector<const char*> names;
  std::vector<const char*> values;
  for (const auto& [name, value] : words) {
    names.push_back(name);
    values.push_back(value.c_str());
  }
  names.push_back(nullptr);
  values.push_back(nullptr);
  return PQconnectStartParams(names.data(), values.data(), 0);
}

// The server ends a slow statement itself, before we give up: its connection can be kept then.
// `raw`: the database has no encoding and would refuse bytes that are no UTF-8.
std::string begin_text(const SqlQuery& query, bool raw) {
  const std::int64_t ms = std::max<std::int64_t>(1, query.timeout.count() * 9 / 10);
  std::string zone;
  for (const char c : query.time_zone) {
    if (c != '\'' && c != '\\') zone += c;
  }
  return fmt::format(
      "BEGIN TRANSACTION READ ONLY; SET LOCAL statement_timeout = {0}; SET LOCAL lock_timeout = "
      "{0}; "
      "SET LOCAL idle_in_transaction_session_timeout = {1}; SET LOCAL TimeZone = '{2}'; "
      "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL extra_float_digits = 1{3}",
      ms, 2 * query.timeout.count(), zone, raw ? "; SET LOCAL client_encoding = 'SQL_ASCII'" : "");
}

}  // namespace

Result<std::unique_ptr<SqlConnection>> PqConnection::open(const SqlAccess& access,
                                                          const Secret& password,
                                                          Duration timeout) {
  const std::string place = access.host.starts_with('/')
                                ? fmt::format("{}/{}", access.host, access.dbname)
                                : fmt::format("{}:{}/{}", access.host, access.port, access.dbname);
  std::unique_ptr<PqConnection> made(new PqConnection(place));
  Status status = made->connect(access, password, SqlDeadline(timeout));
  if (!status) return std::move(status).error().while_doing("connect to " + place);
  return std::unique_ptr<SqlConnection>(std::move(made));
}

Status PqConnection::connect(const SqlAccess& access, const Secret& password,
                             const SqlDeadline& deadline) {
  auto addresses = look_up_host(access.host, deadline);
  if (!addresses) return std::move(addresses).error();
  std::unique_ptr<PGconn, Deleter> opening(
      start(connect_words(access, password, deadline.left(), *addresses)));
  if (opening == nullptr) return Error{ErrorKind::unavailable, "out of memory"};
  PQsetNoticeProcessor(opening.get(), ignore_notice, nullptr);
  if (PQstatus(opening.get()) == CONNECTION_BAD) return error_of_connection(opening.get());
  // libpq: behave as if the first poll had said "write".
  PostgresPollingStatusType state = PGRES_POLLING_WRITING;
  while (state != PGRES_POLLING_OK) {
    if (state == PGRES_POLLING_FAILED) return error_of_connection(opening.get());
    const short events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (deadline.wait(PQsocket(opening.get()), events) == 0) {
      return Error{ErrorKind::timeout, "no connection in time"};
    }
    state = PQconnectPoll(opening.get());
  }
  if (PQsetnonblocking(opening.get(), 1) != 0) return error_of_connection(opening.get());
  connection_ = std::move(opening);
  return ok();
}

Status PqConnection::query(const SqlQuery& query) {
  if (connection_ == nullptr) {
    return Error{ErrorKind::unavailable, place_ + ": the connection is closed"};
  }
  Status status = run(query, SqlDeadline(query.timeout));
  if (status) return status;
  Error error = std::move(status).error();
  // What came in the middle of a statement can't be used on; a failed statement can.
  if (PQstatus(connection_.get()) != CONNECTION_OK ||
      PQtransactionStatus(connection_.get()) != PQTRANS_IDLE) {
    connection_.reset();
  }
  return std::move(error).while_doing(place_);
}

Status PqConnection::run(const SqlQuery& query, const SqlDeadline& deadline) {
  const char* const encoding = PQparameterStatus(connection_.get(), "server_encoding");
  const bool raw = encoding != nullptr && std::string_view(encoding) == "SQL_ASCII";
  if (Status status = command(begin_text(query, raw), deadline); !status) {
    static_cast<void>(command("ROLLBACK", deadline));
    return status;
  }
  Status answered = send(query);
  if (answered) answered = rows(query, deadline);
  // Also after an error, so that the connection can be used again; a dead one stays as it is.
  if (PQtransactionStatus(connection_.get()) == PQTRANS_ACTIVE) return answered;
  Status ended = command("ROLLBACK", deadline);
  return answered ? ended : answered;
}

Status PqConnection::command(const std::string& text, const SqlDeadline& deadline) {
  if (PQsendQuery(connection_.get(), text.c_str()) == 0)
    return error_of_connection(connection_.get());
  return drain(deadline);
}

Status PqConnection::drain(const SqlDeadline& deadline) {
  Status first = ok();
  for (;;) {
    auto result = next(deadline);
    if (!result) return std::move(result).error();
    if (*result == nullptr) return first;
    const ExecStatusType status = PQresultStatus(result->get());
    const bool fine = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!fine && first) first = error_of_result(result->get());
  }
}

Status PqConnection::send(const SqlQuery& query) {
  std::vector<Oid> types;
  std::vector<const char*> values;
  for (const SqlParameter& parameter : query.parameters) {
    const bool zoned = parameter.type == SqlParameter::Type::timestamp_with_zone;
    types.push_back(zoned ? kTimestampWithZone : 0);
    values.push_back(parameter.text.c_str());
  }
  PGconn* const connection = connection_.get();
  // With parameters or without: the extended protocol takes one statement only.
  if (PQsendQueryParams(connection, query.text.c_str(), static_cast<int>(values.size()),
                        types.data(), values.data(), nullptr, nullptr, 0) == 0 ||
      PQsetSingleRowMode(connection) == 0) {
    return error_of_connection(connection);
  }
  return ok();
}

Status PqConnection::flush(const SqlDeadline& deadline) {
  PGconn* const connection = connection_.get();
  for (;;) {
    const int left = PQflush(connection);
    if (left == 0) return ok();
    if (left < 0) return error_of_connection(connection);
    const short ready = deadline.wait(PQsocket(connection), POLLIN | POLLOUT);
    if (ready == 0) return Error{ErrorKind::timeout, "the server did not answer in time"};
    // It may wait for us to read before it reads on.
    if ((ready & POLLIN) != 0 && PQconsumeInput(connection) == 0) {
      return error_of_connection(connection);
    }
  }
}

Result<PqResult> PqConnection::next(const SqlDeadline& deadline) {
  PGconn* const connection = connection_.get();
  if (Status status = flush(deadline); !status) return std::move(status).error();
  while (PQisBusy(connection) != 0) {
    if (deadline.wait(PQsocket(connection), POLLIN) == 0) {
      return Error{ErrorKind::timeout, "the server did not answer in time"};
    }
    if (PQconsumeInput(connection) == 0) return error_of_connection(connection);
  }
  return PqResult(PQgetResult(connection));
}

namespace {

std::vector<std::string> columns_of(const PGresult* result) {
  std::vector<std::string> names;
  for (int i = 0; i < PQnfields(result); ++i) names.emplace_back(PQfname(result, i));
  return names;
}

// Fills `row` and returns its size in bytes.
std::int64_t read_row(const PGresult* result, std::vector<SqlValue>& row) {
  std::int64_t bytes = 0;
  row.resize(static_cast<std::size_t>(PQnfields(result)));
  for (int i = 0; i < PQnfields(result); ++i) {
    auto& value = row[static_cast<std::size_t>(i)];
    value.reset();
    if (PQgetisnull(result, 0, i) != 0) continue;
    value.emplace(PQgetvalue(result, 0, i), static_cast<std::size_t>(PQgetlength(result, 0, i)));
    bytes += PQgetlength(result, 0, i);
  }
  return bytes;
}

}  // namespace

Status PqConnection::rows(const SqlQuery& query, const SqlDeadline& deadline) {
  std::vector<SqlValue> row;
  bool named = false;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
  for (;;) {
    auto result = next(deadline);
    if (!result) return std::move(result).error();
    if (*result == nullptr) return ok();
    const ExecStatusType status = PQresultStatus(result->get());
    if (status != PGRES_SINGLE_TUPLE && status != PGRES_TUPLES_OK) {
      Error error = status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE
                        ? error_of_result(result->get())
                        : Error{ErrorKind::rejected, "the statement returns no rows"};
      if (status == PGRES_COMMAND_OK || status == PGRES_FATAL_ERROR) {
        static_cast<void>(drain(deadline));
      }
      return error;
    }
    if (!named && query.on_columns) {
      if (Status seen = query.on_columns(columns_of(result->get())); !seen) return seen;
    }
    named = true;
    if (status == PGRES_TUPLES_OK) continue;
    bytes += read_row(result->get(), row);
    if (++count > query.max_rows || bytes > query.max_bytes) {
      return Error{ErrorKind::too_large,
                   fmt::format("more than {} rows or {} bytes", query.max_rows, query.max_bytes)};
    }
    if (Status taken = query.on_row(row); !taken) return taken;
  }
}

}  // namespace outcomed
