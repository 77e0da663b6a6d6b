// store, http and heartbeat.
#include <algorithm>

#include "daemon/config/addresses.h"
#include "daemon/config/loading.h"
#include "daemon/config/words.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

void check_listen(NodeVisitor& top, const HttpConfig& http) {
  if (const Result<HostAndPort> address = parse_listen(http.listen); !address) {
    const std::string& message = address.error().message;
    const std::size_t split = message.rfind("; ");
    top.problem("listen", message.substr(0, split), message.substr(split + 2));
  }
  for (const std::string& host : http.allowed_hosts) {
    const bool plain = !host.empty() && std::ranges::all_of(host, [](char c) {
      return is_alphanumeric(c) || c == '.' || c == '-' || c == '_';
    });
    if (!plain) {
      top.problem("allowed_hosts", shown(host) + " is not a host name", "write names without port");
    }
  }
}

}  // namespace

void load_store_and_http(Section& section) {
  if (section.top.begin("store", "")) {
    section.loading.config.store.visit(section.top);
    section.top.end();
    section.loading.retention_known = !section.top.is_broken("store");
  }
  if (section.top.begin("http", "")) {
    section.loading.config.http.visit(section.top);
    check_listen(section.top, section.loading.config.http);
    section.top.end();
  }
  if (section.top.begin("heartbeat", "")) {
    HeartbeatConfig& heartbeat = section.loading.config.heartbeat;
    heartbeat.visit(section.top);
    require(section.top, section.problems, "url", heartbeat.url, "write where to say it");
    section.top.end();
  }
}

}  // namespace outcomed
