// Which columns of LiteLLM_SpendLogs are read, and how a row of them is one of ours.
#pragma once

#include <string_view>

#include "queries/litellm/ledger_row.h"
#include "queries/rows.h"

namespace outcomed::litellm {

inline constexpr std::string_view kLedgerTable = "LiteLLM_SpendLogs";

// Groups of columns that only some signals need. Taking values out of JSON is most of what a row
// costs the server, so what nobody needs isn't asked for.
struct LedgerColumns {
  bool amounts = false;    // Money and tokens.
  bool addresses = false;  // Where a request was sent.
  // One word of the kept answer, which the server must read whole for it.
  bool finish_reasons = false;
};

// Never messages, answers or error texts.
RowTable ledger_table(const LedgerColumns& columns);

// `values` are those of ledger_table().columns; the row refers to them.
LedgerRow ledger_row(std::string_view id, Timestamp end, SqlRow values);

}  // namespace outcomed::litellm
