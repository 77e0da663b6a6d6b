#include "daemon/sql/pq_error.h"

#include <fmt/core.h>

#include <array>

#include "queries/base/utf8.h"

namespace outcomed {
namespace {

constexpr std::size_t kMostShown = 300;

struct StateKind {
  std::string_view prefix;
  ErrorKind kind;
};

// The first that fits decides.
constexpr std::array<StateKind, 13> kKinds = {{
    {"08", ErrorKind::unavailable},      // Connection exceptions.
    {"53", ErrorKind::unavailable},      // Too many connections, out of memory or disk.
    {"57014", ErrorKind::timeout},       // Statement timeout.
    {"57P", ErrorKind::unavailable},     // Shut down, crashed, starting up.
    {"55P03", ErrorKind::timeout},       // Lock timeout.
    {"25P03", ErrorKind::timeout},       // Idle in transaction for too long.
    {"40", ErrorKind::unavailable},      // Deadlock, conflict with recovery on a standby.
    {"58", ErrorKind::unavailable},      // I/O errors of the server.
    {"XX", ErrorKind::unavailable},      // Its own bugs and broken data.
    {"28", ErrorKind::unauthorized},     // Login refused.
    {"42501", ErrorKind::unauthorized},  // Permission denied.
    {"0A", ErrorKind::unsupported},
    {"25006", ErrorKind::rejected},  // Writes in a read-only transaction.
}};

std::string field(const PGresult* result, int code) {
  const char* text = PQresultErrorField(result, code);
  return text == nullptr ? std::string() : std::string(text);
}

}  // namespace

ErrorKind kind_of_sqlstate(std::string_view sqlstate) {
  for (const auto& [prefix, kind] : kKinds) {
    if (sqlstate.starts_with(prefix)) return kind;
  }
  return ErrorKind::rejected;
}

std::string shown_server_text(std::string_view text) {
  std::string line;
  for (const char c : text.substr(0, kMostShown)) {
    line += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  }
  while (line.ends_with(' ')) line.pop_back();
  return repair_utf8(line);
}

Error error_of_result(const PGresult* result) {
  const std::string state = field(result, PG_DIAG_SQLSTATE);
  // libpq makes results of its own where the connection broke: they have no state.
  if (state.empty())
    return {ErrorKind::unavailable, shown_server_text(PQresultErrorMessage(result))};
  std::string text = field(result, PG_DIAG_MESSAGE_PRIMARY);
  if (const std::string hint = field(result, PG_DIAG_MESSAGE_HINT); !hint.empty()) {
    text += " (" + hint + ")";
  }
  return {kind_of_sqlstate(state), fmt::format("{} (SQLSTATE {})", shown_server_text(text), state)};
}

Error error_of_connection(const PGconn* connection) {
  const bool asked = PQconnectionNeedsPassword(connection) != 0;
  return {asked ? ErrorKind::unauthorized : ErrorKind::unavailable,
          shown_server_text(PQerrorMessage(connection))};
}

}  // namespace outcomed
