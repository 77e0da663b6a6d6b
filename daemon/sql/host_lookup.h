// Names to addresses without waiting longer than asked: libpq itself would block for a name server
// that doesn't answer.
#pragma once

#include <string>
#include <vector>

#include "daemon/sql/deadline.h"
#include "queries/base/result.h"

namespace outcomed {

// Addresses of a host, in the order in which they should be tried. Empty for the folder of a Unix
// socket. Errors: unavailable, timeout.
Result<std::vector<std::string>> look_up_host(const std::string& host, const SqlDeadline& deadline);

}  // namespace outcomed
