// libpq's errors and SQLSTATEs as errors of ours.
#pragma once

#include <libpq-fe.h>

#include <string>
#include <string_view>

#include "queries/base/result.h"

namespace outcomed {

// "42703" -> rejected; see SqlConnection for the kinds.
ErrorKind kind_of_sqlstate(std::string_view sqlstate);

// One line of at most 300 bytes; bytes that are no UTF-8 and control characters are replaced.
std::string shown_server_text(std::string_view text);

Error error_of_result(const PGresult* result);
// Of a connection that failed outside of a statement: unavailable, or unauthorized where the server
// said so.
Error error_of_connection(const PGconn* connection);

}  // namespace outcomed
