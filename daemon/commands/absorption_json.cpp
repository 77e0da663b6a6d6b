#include "daemon/commands/absorption_json.h"

#include <nlohmann/json.hpp>

#include "detectors/absorption/wording.h"

namespace outcomed {
namespace {

using nlohmann::json;

json share_or_null(std::int64_t k, std::int64_t n) {
  return n > 0 ? json(static_cast<double>(k) / static_cast<double>(n)) : json(nullptr);
}

std::int64_t seconds_of(Duration d) {
  return std::chrono::duration_cast<std::chrono::seconds>(d).count();
}

json counts_json(const SideCounts& counts) {
  return {{"attempts", counts.attempts},        {"provider_failures", counts.provider_failures},
          {"requests", counts.requests},        {"consumer_failures", counts.consumer_failures},
          {"refused", counts.refused},          {"rejected", counts.rejected},
          {"passed_on", counts.passed_on},      {"by_provider", counts.by_provider},
          {"by_rejection", counts.by_rejection}};
}

json row_json(const AbsorptionRow& row) {
  json object = counts_json(row.span.counts);
  object["start"] = format_rfc3339(row.span.start);
  object["seconds"] = seconds_of(row.span.length);
  object["unknown_seconds"] = seconds_of(row.span.unknown);
  object["verdict"] = std::string(to_string(row.verdict));
  object["provider_fails"] = row.provider_fails;
  json models = json::array();
  for (const AbsorptionPart& part : row.parts) {
    if (!is_failing(part.judgement.outcome) && !part.judgement.provider_fails) continue;
    json one = counts_json(part.counts);
    one["model"] = std::string(part.group.get("model"));
    one["verdict"] = std::string(to_string(part.judgement.outcome));
    models.push_back(std::move(one));
  }
  object["models"] = std::move(models);
  return object;
}

json totals_json(const AbsorptionTotals& totals) {
  json object = counts_json(totals.counts);
  object["hours"] = totals.hours;
  object["unknown_hours"] = totals.unknown_hours;
  object["unknown_seconds"] = seconds_of(totals.unknown);
  object["failure_free_hours"] = totals.failure_free_hours;
  object["failure_free_provider_failure_hours"] = totals.failure_free_provider_failure_hours;
  object["provider_failure_share"] =
      share_or_null(totals.counts.provider_failures, totals.counts.attempts);
  object["consumer_failure_share"] =
      share_or_null(totals.counts.consumer_failures, totals.counts.requests);
  object["provider_failure_hour_share"] =
      share_or_null(totals.provider_failure_hours, totals.hours);
  object["failure_free_share_of_provider_failure_hours"] =
      share_or_null(totals.failure_free_provider_failure_hours, totals.provider_failure_hours);
  object["absorbed_share_of_provider_failure_hours"] =
      share_or_null(totals.absorbed_hours, totals.provider_failure_hours);
  json under = counts_json(totals.under_failure);
  const auto reach = reach_of_failures(totals.under_failure);
  under["reaches_consumers"] = reach ? json(*reach) : json(nullptr);
  object["while_provider_failed"] = std::move(under);
  return object;
}

json table_json(const std::vector<AbsorptionRow>& rows, const AbsorptionTotals& totals) {
  json hours = json::array();
  for (const AbsorptionRow& row : rows) hours.push_back(row_json(row));
  return {{"hours", std::move(hours)},
          {"provider_failure_hours", totals.provider_failure_hours},
          {"absorbed_hours", totals.absorbed_hours},
          {"leaking_hours", totals.leaking_hours},
          {"rejected_hours", totals.rejected_hours},
          {"self_inflicted_hours", totals.self_inflicted_hours},
          {"totals", totals_json(totals)}};
}

void add_frame(json& object, const AbsorptionData& data) {
  object["from"] = format_rfc3339(data.range.begin);
  object["to"] = format_rfc3339(data.range.end);
  object["step_seconds"] = seconds_of(data.row);
  object["limits"] = {{"provider_failures", data.limits.provider_failures},
                      {"min_provider_failures", data.limits.min_provider_failures},
                      {"consumer_failures", data.limits.consumer_failures},
                      {"min_consumer_failures", data.limits.min_consumer_failures},
                      {"min_requests", data.limits.min_requests}};
  object["provider_counts"] = kAttemptsAreALowerBound;
}

// Names of models may hold anything: what is no UTF-8 becomes U+FFFD.
std::string dumped(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

std::string absorption_json(const AbsorptionData& data, bool by_model) {
  json object = table_json(data.rows, totals_of(data.rows));
  add_frame(object, data);
  if (by_model) {
    json models = json::array();
    for (std::size_t i = 0; i < data.models.size(); ++i) {
      json one = table_json(data.by_model[i], totals_of(data.by_model[i]));
      one["model"] = data.models[i];
      models.push_back(std::move(one));
    }
    object["models"] = std::move(models);
  }
  return dumped(object);
}

std::string verify_json(const AbsorptionData& data, const AbsorptionTotals& totals,
                        const std::string& verdict, const std::string& sentence) {
  std::vector<AbsorptionRow> shown;
  for (const AbsorptionRow& row : data.rows) {
    const bool failing =
        row.verdict == SpanVerdict::leaking || row.verdict == SpanVerdict::self_inflicted;
    if (row.provider_fails || failing) shown.push_back(row);
  }
  json object = table_json(data.rows, totals);
  object["hours"] = table_json(shown, totals)["hours"];
  add_frame(object, data);
  object.erase("from");
  object["since"] = format_rfc3339(data.range.begin);
  object["verdict"] = verdict;
  object["sentence"] = sentence;
  return dumped(object);
}

}  // namespace outcomed
