#include "tests/support/gateway_sim/ledger.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "queries/base/time.h"

namespace outcomed::sim {
namespace {

// The gateway gathers rows for a sixth of the longest delay, and needs another for writing them.
constexpr std::int64_t kWindows = 6;
constexpr int kTimeoutRetries = 2;

std::string time_text(std::int64_t unix_ms) {
  const std::string seconds = format_rfc3339(from_unix_ms(unix_ms / 1000 * 1000));
  return fmt::format("{}.{:03}", seconds.substr(0, 19), unix_ms % 1000);
}

}  // namespace

Ledger::Ledger(const VersionTraits& traits, std::uint64_t seed, std::int64_t late_ms)
    : names_asked_(traits.rows_name_asked),
      seed_(seed),
      window_ms_(std::max<std::int64_t>(late_ms / kWindows, 1)),
      random_(seed ^ 0x6c6564676572) {}

std::string Ledger::header() {
  return "visible_at\trequest_id\tcall_type\tapi_key\tspend\ttotal_tokens\tprompt_tokens\t"
         "completion_tokens\tstartTime\tendTime\tmodel\tmodel_id\tmodel_group\t"
         "custom_llm_provider\tapi_base\tcache_hit\tstatus\tmetadata\n";
}

std::string Ledger::metadata(const LedgerEntry& entry, int retries) const {
  std::string text = fmt::format(R"({{"user_api_key":"{}","user_api_key_alias":null)", entry.key);
  if (entry.error_class.empty()) {
    text += fmt::format(
        R"(,"usage_object":{{"prompt_tokens":{},"completion_tokens":{},"total_tokens":{},)"
        R"("prompt_tokens_details":{{"cached_tokens":{}}},)"
        R"("completion_tokens_details":{{"reasoning_tokens":{}}}}})",
        entry.input, entry.output, entry.input + entry.output, entry.cached, entry.reasoning);
  } else {
    text += fmt::format(
        R"(,"status":"failure","error_information":{{"error_code":"{}","error_class":"{}",)"
        R"("llm_provider":"{}","error_message":"simulated"}})",
        entry.error_code, entry.error_class, entry.error_provider);
  }
  if (names_asked_ && !entry.asked.empty()) {
    text += fmt::format(
        R"(,"attempted_retries":{},"attempted_fallbacks":{},"original_model_group":"{}")", retries,
        entry.fallbacks, entry.asked);
  }
  return text + "}";
}

void Ledger::write(const LedgerEntry& entry, const std::string& id, int retries,
                   std::string& out) const {
  const Deployment none;
  const Deployment& at = entry.deployment == nullptr ? none : *entry.deployment;
  const std::string model =
      at.provider_model.empty() ? std::string(entry.group) : at.provider + "/" + at.provider_model;
  const auto took = static_cast<std::int64_t>(std::llround(entry.seconds * 1000));
  // Without a model there is none but its name, and no group.
  const std::string_view group = entry.asked.empty() ? std::string_view() : entry.group;
  out += fmt::format("{}.{:03}\t{}\tacompletion\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t",
                     lands_at_ / 1000, lands_at_ % 1000, id, entry.key, entry.spend,
                     entry.input + entry.output, entry.input, entry.output,
                     time_text(entry.at_ms - took), time_text(entry.at_ms), model, at.id, group,
                     at.provider, at.api_base);
  out += fmt::format("False\t{}\t{}\n", entry.error_class.empty() ? "success" : "failure",
                     metadata(entry, retries));
}

void Ledger::add(const LedgerEntry& entry) {
  const std::int64_t window = entry.at_ms / window_ms_;
  if (window != window_) {
    window_ = window;
    const double more = random_.uniform() * static_cast<double>(4 * window_ms_);
    lands_at_ = (window + 2) * window_ms_ + static_cast<std::int64_t>(more);
    open_ = batches_.emplace(lands_at_, std::string());
  }
  const std::string id = fmt::format("sim-{}-{}", seed_, ++count_);
  // Of retries in vain the earlier attempts have rows of their own.
  const bool retried = names_asked_ && entry.error_class == "Timeout" && random_.chance(0.2);
  for (int attempt = 0; retried && attempt < kTimeoutRetries; ++attempt) {
    write(entry, fmt::format("{}-attempt-{}", id, attempt), attempt, open_->second);
  }
  write(entry, id, retried ? kTimeoutRetries : entry.retries, open_->second);
}

void Ledger::land(std::int64_t unix_ms, const std::function<void(std::string_view)>& take) {
  while (!batches_.empty() && batches_.begin()->first <= unix_ms) {
    if (open_ == batches_.begin()) {
      open_ = batches_.end();
      window_ = -1;
    }
    take(batches_.begin()->second);
    batches_.erase(batches_.begin());
  }
}

}  // namespace outcomed::sim
