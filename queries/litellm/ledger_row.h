// One row of LiteLLM_SpendLogs and what it says: pure text in, words of ours out. What each version
// writes was checked against what the clients of real gateways (1.81.9, 1.106.12) got.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "queries/base/time.h"

namespace outcomed::litellm {

// Columns as text; empty where NULL, absent in this version, or Python's None.
struct LedgerRow {
  std::string_view request_id;
  Timestamp end;
  std::string_view status;
  std::string_view model;        // The provider's name of the model, or what was asked for.
  std::string_view model_id;     // Deployment.
  std::string_view model_group;  // Public name of the model that served, or failed last.
  std::string_view provider;
  std::string_view api_key;
  std::string_view key_alias;
  std::string_view team;
  std::string_view team_alias;
  std::string_view cache_hit;
  std::string_view error_class;  // metadata.error_information, without the provider's prefix.
  std::string_view error_code;
  std::string_view error_provider;
  std::string_view original_model_group;  // Since about 1.99.
  std::string_view attempted_retries;
  std::string_view attempted_fallbacks;
  std::string_view spend;
  std::string_view prompt_tokens;
  std::string_view completion_tokens;
  std::string_view prompt_details;  // usage_object.prompt_tokens_details, as JSON.
  std::string_view cached_tokens;
  std::string_view cache_creation_tokens;
  std::string_view reasoning_tokens;
  // Where it was sent; "none" where the row says that there was no address of its own. Empty: not
  // asked for, or a table without the column.
  std::string_view api_base;
  std::string_view finish_reason;  // Of the answer; mostly not kept by the gateway.
};

// "chatcmpl-1-attempt-2": an earlier attempt of a request that has a row of its own; it may have
// cost money and is no request.
bool is_attempt(const LedgerRow& row);
// A paid probe of the gateway's own.
bool is_health_check(const LedgerRow& row);
bool has_failed(const LedgerRow& row);
// The gateway's own cache answered: it was sent nowhere and nobody bills it.
bool is_from_cache(const LedgerRow& row);
// The model that answered, or failed last.
std::string_view served_model(const LedgerRow& row);
// The model the consumer named. Rows before about 1.99 don't say it for requests that a fallback
// served: those are booked on the fallback.
std::string_view asked_model(const LedgerRow& row);
// Who it was, by the most readable name there is: the key's alias, else the team's, else the team,
// else the hashed key.
std::string_view consumer_of(const LedgerRow& row);
// As the gateway's metrics write it: "Openai.RateLimitError"; refusals have no provider.
std::string exception_class(const LedgerRow& row);
// One of error_class.h; empty where the row did not fail.
std::string_view error_class_of(const LedgerRow& row);

// What the row says of attempts at the provider: a lower bound. Retries that a fallback followed
// are not in it, and before about 1.99 no retry that helped.
struct LedgerAttempts {
  std::int64_t all = 0;
  std::int64_t failed = 0;  // The provider's 5xx and timeouts, and those that a retry made good.
};
LedgerAttempts attempts_of(const LedgerRow& row);
// The answer was cut off at the length asked for.
bool was_truncated(const LedgerRow& row);
// The gateway said no by itself: no provider saw the last attempt.
bool was_refused(const LedgerRow& row);

// Whole numbers, also written "12.0" or "1.2e3"; 0 for empty text. False: no number that fits.
bool read_count(std::string_view text, std::int64_t& count);
// An amount of money in thousand-millionths of its unit, rounded once; 0 for empty text.
bool read_money(std::string_view text, std::int64_t& nano);

}  // namespace outcomed::litellm
