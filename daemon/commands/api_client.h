// Asks the running daemon, where one runs.
#pragma once

#include <optional>
#include <string>

#include "daemon/config/config.h"
#include "queries/base/http_client.h"

namespace outcomed {

// The body of a 200; nothing where nobody listens; an error where somebody listens and it went
// wrong.
Result<std::optional<std::string>> ask_daemon(const HttpConfig& config, HttpClient& http,
                                              const std::string& path);

}  // namespace outcomed
