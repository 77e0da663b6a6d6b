// The preset's signals that come from the gateway's database: rows of LiteLLM_SpendLogs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "queries/litellm/ledger_counter.h"
#include "queries/signal.h"

namespace outcomed::litellm {

struct SpendSettings {
  std::string source;
  Duration step = std::chrono::minutes(1);
  // Another source has the gateway's metrics: `requests`, `fallbacks` and `leaks` are its own, and
  // what the rows say is called `requests_by_rows`, to compare both, and `leaks_by_rows`, which
  // names the requests.
  bool has_metrics = false;
  LedgerSettings ledger = {};
};

// requests, fallbacks (or requests_by_rows), absorption, reasoning, unwanted_reasoning, probes,
// probe_spend, wasted_spend, wasted_tokens, spend, leaks (or leaks_by_rows).
std::vector<SignalPlan> spend_signals(const SpendSettings& settings);

}  // namespace outcomed::litellm
