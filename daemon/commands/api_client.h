// Asks the running daemon, where one runs.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "daemon/config/config.h"
#include "queries/base/http_client.h"

namespace outcomed {

// The body of a 200; nothing where nobody listens, or another program (which is noted); an error
// where the daemon listens and it went wrong.
Result<std::optional<std::string>> ask_daemon(const HttpConfig& config, HttpClient& http,
                                              const std::string& path, std::ostream& notes);

}  // namespace outcomed
