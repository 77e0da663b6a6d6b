// Requests of private groups that left the house, seen in rows of the gateway's database.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "queries/litellm/ledger_row.h"
#include "queries/litellm/preset.h"

namespace outcomed::litellm {

// The values of the signal's labels, as its metrics have them (leaks.h).
struct RowLeak {
  std::string_view served_by;  // The group, or the provider's model of the deployment.
  std::string_view way;
};

// Probes of the gateway's own hold no data of anybody.
bool is_private_request(const LedgerRow& row, const PrivateGroups& rules);

// Nothing where the row stayed in the house, was sent nowhere, or doesn't say where: a failed one
// without an address, and before about 1.99 all that a fallback served.
std::optional<RowLeak> leak_of(const LedgerRow& row, const PrivateGroups& rules);

// "chatcmpl-1, ended 2026-11-30T12:00:05Z, of batch, sent to api.openai.com": what finds the
// request in the gateway's own logs. No data of the request.
std::string describe_request(const LedgerRow& row);

}  // namespace outcomed::litellm
