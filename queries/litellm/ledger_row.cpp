#include "queries/litellm/ledger_row.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "queries/base/ascii.h"
#include "queries/failure_side.h"
#include "queries/litellm/classify.h"

namespace outcomed::litellm {
namespace {

constexpr std::string_view kHealthCheck = "litellm-internal-health-check";
// Below 2^63 and exact as a double.
constexpr double kLargest = 9e18;

// Retries and fallbacks: what is more than this is no count of them.
constexpr std::int64_t kMostAttempts = 1000;

std::int64_t small(std::string_view text) {
  std::int64_t value = 0;
  return read_count(text, value) && value <= kMostAttempts ? value : 0;
}

// Text as a number of `scale` parts of its unit.
bool read_scaled(std::string_view text, double scale, std::int64_t& value) {
  value = 0;
  if (text.empty()) return true;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) {
    return false;
  }
  const double scaled = std::round(number * scale);
  if (scaled < 0 || scaled > kLargest) return false;
  value = static_cast<std::int64_t>(scaled);
  return true;
}

}  // namespace

bool is_attempt(const LedgerRow& row) {
  constexpr std::string_view kMark = "-attempt-";
  const auto at = row.request_id.rfind(kMark);
  if (at == std::string_view::npos) return false;
  const std::string_view number = row.request_id.substr(at + kMark.size());
  return !number.empty() && std::ranges::all_of(number, is_digit);
}

bool is_health_check(const LedgerRow& row) {
  return row.api_key == kHealthCheck || row.team == kHealthCheck ||
         row.team_alias == kHealthCheck || row.key_alias == kHealthCheck;
}

bool has_failed(const LedgerRow& row) {
  if (!row.status.empty()) return row.status == "failure";
  return !row.error_class.empty() || !row.error_code.empty();  // Rows older than the column.
}

bool is_from_cache(const LedgerRow& row) { return row.cache_hit == "True"; }

bool was_truncated(const LedgerRow& row) { return row.finish_reason == "length"; }

std::string_view served_model(const LedgerRow& row) {
  return row.model_group.empty() ? row.model : row.model_group;
}

std::string_view consumer_of(const LedgerRow& row) {
  for (const std::string_view name : {row.key_alias, row.team_alias, row.team}) {
    if (!name.empty()) return name;
  }
  return row.api_key;
}

std::string_view asked_model(const LedgerRow& row) {
  if (!row.original_model_group.empty()) return row.original_model_group;
  return served_model(row);
}

std::string exception_class(const LedgerRow& row) {
  if (row.error_provider.empty()) return std::string(row.error_class);
  std::string text(row.error_provider);
  if (text.front() >= 'a' && text.front() <= 'z') text.front() -= 'a' - 'A';
  return text.append(".").append(row.error_class);
}

std::string_view error_class_of(const LedgerRow& row) {
  if (!has_failed(row)) return {};
  return classify(exception_class(row), row.error_code);
}

bool was_refused(const LedgerRow& row) {
  return has_failed(row) && !refusal_cause(exception_class(row), row.error_code).empty();
}

LedgerAttempts attempts_of(const LedgerRow& row) {
  const std::int64_t again = small(row.attempted_retries) + small(row.attempted_fallbacks);
  if (!has_failed(row)) return {1 + again, again};
  // Refused at last: where a deployment is named, the attempts before failed there.
  if (was_refused(row))
    return row.model_id.empty() ? LedgerAttempts{} : LedgerAttempts{again, again};
  if (row.model_id.empty() && row.error_provider.empty()) return {};  // Nobody was asked.
  const bool of_provider = failure_side::is_provider_failure(error_class_of(row));
  return {1 + again, again + (of_provider ? 1 : 0)};
}

bool read_count(std::string_view text, std::int64_t& count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error == std::errc() && end == text.data() + text.size()) {
    if (count >= 0) return true;
    count = 0;
    return false;
  }
  return read_scaled(text, 1, count);
}

bool read_money(std::string_view text, std::int64_t& nano) { return read_scaled(text, 1e9, nano); }

}  // namespace outcomed::litellm
