#include "queries/litellm/row_leaks.h"

#include <fmt/core.h>

#include "queries/base/glob.h"
#include "queries/base/time.h"
#include "queries/base/utf8.h"

namespace outcomed::litellm {
namespace {

constexpr std::string_view kNoAddress = "none";
constexpr std::size_t kLongestName = 100;

bool is_private(std::string_view group, const PrivateGroups& rules) {
  return any_glob_matches(rules.groups, group);
}

// The metrics name the provider's model without its provider.
std::string_view provider_model(const LedgerRow& row) {
  const std::string_view provider = row.provider.empty() ? row.error_provider : row.provider;
  std::string_view model = row.model;
  if (!provider.empty() && model.starts_with(provider) &&
      model.substr(provider.size()).starts_with('/')) {
    model.remove_prefix(provider.size() + 1);
  }
  return model;
}

// What was refused at last may have been sent before.
bool was_sent(const LedgerRow& row) {
  return has_failed(row) ? attempts_of(row).all > 0 : !is_from_cache(row);
}

// Only what is known to be private stays: a success without an address went to the provider's own.
// Failures of older versions have none either way and say nothing.
bool is_sent_outside(const LedgerRow& row, const PrivateGroups& rules) {
  if (row.api_base.empty() || (row.api_base == kNoAddress && has_failed(row))) return false;
  const auto host = url_host(row.api_base);
  return !host || !is_private_host(*host, rules.hosts);
}

// Names come from outside; they are shown on one line.
std::string shown_name(std::string_view text) {
  std::string name = repair_utf8(text.substr(0, kLongestName));
  for (char& c : name) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return name;
}

}  // namespace

bool is_private_request(const LedgerRow& row, const PrivateGroups& rules) {
  return !is_health_check(row) && is_private(asked_model(row), rules);
}

std::optional<RowLeak> leak_of(const LedgerRow& row, const PrivateGroups& rules) {
  if (!is_private_request(row, rules) || !was_sent(row)) return std::nullopt;
  const bool failed = has_failed(row);
  if (!row.model_group.empty() && !is_private(row.model_group, rules)) {
    return RowLeak{row.model_group, failed ? "failed fallback" : "fallback"};
  }
  if (!is_sent_outside(row, rules)) return std::nullopt;
  return RowLeak{provider_model(row), failed ? "failed deployment" : "deployment"};
}

std::string describe_request(const LedgerRow& row) {
  std::string text =
      fmt::format("{}, ended {}", shown_name(row.request_id), format_rfc3339(row.end));
  if (!consumer_of(row).empty()) text += fmt::format(", of {}", shown_name(consumer_of(row)));
  const auto host = url_host(row.api_base);
  if (host) text += fmt::format(", sent to {}", shown_name(*host));
  return text;
}

}  // namespace outcomed::litellm
