// The rows of LiteLLM_SpendLogs that a simulated gateway writes, as text for COPY, in batches that
// land late. No clock, no I/O.
//
// What a row says follows rows that real gateways (1.81.9, 1.106.12) made: which columns name the
// model, what error_information holds, since when retries and the model asked for are told, which
// retries have a row of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tests/support/gateway_sim/models.h"
#include "tests/support/gateway_sim/random.h"
#include "tests/support/gateway_sim/version.h"

namespace outcomed::sim {

// What the gateway knows of one request when it is over.
struct LedgerEntry {
  std::int64_t at_ms = 0;                  // Unix time at which it ended.
  double seconds = 0;                      // How long it took.
  std::string_view asked;                  // Model; empty where there is no model of that name.
  std::string_view group;                  // The model that served, or failed last.
  const Deployment* deployment = nullptr;  // Null where none was asked.
  std::string_view key;
  std::string_view error_class;  // The exception, without the provider's name; empty: a success.
  std::string_view error_code;
  std::string_view error_provider;
  int retries = 0;
  int fallbacks = 0;
  std::int64_t input = 0;
  std::int64_t output = 0;
  std::int64_t cached = 0;
  std::int64_t reasoning = 0;
  double spend = 0;
};

// Rows as lines for COPY, in batches: a row is visible between a sixth of `late_ms` and `late_ms`
// after its request ended, with all others of its batch. Batches may overtake each other.
class Ledger {
 public:
  Ledger(const VersionTraits& traits, std::uint64_t seed, std::int64_t late_ms);
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // "visible_at", then the columns of the table that rows fill, tab-separated, with line end.
  static std::string header();
  void add(const LedgerEntry& entry);
  // Hands over the batches that have landed by then, in that order. Lines begin with the time
  // (Unix seconds) at which they landed.
  void land(std::int64_t unix_ms, const std::function<void(std::string_view)>& take);

 private:
  void write(const LedgerEntry& entry, const std::string& id, int retries, std::string& out) const;
  [[nodiscard]] std::string metadata(const LedgerEntry& entry, int retries) const;

  bool names_asked_;
  std::uint64_t seed_;
  std::int64_t window_ms_;
  Random random_;
  std::uint64_t count_ = 0;
  std::int64_t window_ = -1;                          // Number of the batch that is being filled,
  std::int64_t lands_at_ = 0;                         // and when it lands.
  std::multimap<std::int64_t, std::string> batches_;  // By the time they land.
  std::multimap<std::int64_t, std::string>::iterator open_ = batches_.end();
};

}  // namespace outcomed::sim
