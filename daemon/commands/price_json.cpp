#include <nlohmann/json.hpp>

#include "daemon/commands/price_text.h"
#include "detectors/price/findings.h"

namespace outcomed {
namespace {

using json = nlohmann::ordered_json;

double units(Money amount) {
  return static_cast<double>(amount.nano) / static_cast<double>(kNanoPerUnit);
}
json units(const std::optional<Money>& amount) {
  return amount ? json(units(*amount)) : json(nullptr);
}

json amounts_json(const SpendAmounts& amounts) {
  const ComparedCosts costs = compared(amounts);
  const auto count = [&](SpendKind kind) { return amounts.of(kind); };
  const auto money = [&](SpendKind kind) { return units(Money{amounts.of(kind)}); };
  json booked = json::object();
  for (std::size_t i = 1; i < kBookedAs; ++i) {
    const SpendKind kind = *spend_kind(static_cast<BookedAs>(i));
    if (count(kind) > 0) booked[std::string(to_string(kind)).substr(7)] = count(kind);
  }
  return {{"requests", count(SpendKind::requests)},
          {"rows", costs.rows},
          {"recorded", units(costs.recorded)},
          {"expected", units(costs.expected)},
          {"ratio", costs.expected.nano > 0 ? json(costs.ratio()) : json(nullptr)},
          {"all_off_peak", money(SpendKind::expected_off_peak)},
          {"all_peak", money(SpendKind::expected_peak)},
          {"without_price", money(SpendKind::unmatched_cost)},
          {"rows_off", count(SpendKind::rows_off)},
          {"rows_outside", count(SpendKind::rows_outside)},
          {"rows_unpriced", count(SpendKind::rows_unpriced)},
          {"rows_unknown", count(SpendKind::rows_unknown)},
          {"rows_without_details", count(SpendKind::rows_bare)},
          {"booked_as", std::move(booked)},
          {"tokens",
           {{"prompt", count(SpendKind::prompt_tokens)},
            {"cached", count(SpendKind::cached_tokens)},
            {"cache_creation", count(SpendKind::cache_creation_tokens)},
            {"completion", count(SpendKind::completion_tokens)},
            {"reasoning", count(SpendKind::reasoning_tokens)}}}};
}

json entry_json(const PriceEntry& entry) {
  const PriceTable& table = *entry.table;
  return {{"provider", table.provider},
          {"model", entry.model->name},
          {"source", table.source},
          {"read_on",
           table.read_on ? json(format_rfc3339(*table.read_on).substr(0, 10)) : json(nullptr)}};
}

json name_json(const PricedName& name) {
  json object = {{"model", name.model},
                 {"provider_model", name.provider_model},
                 {"price", name.entry ? entry_json(*name.entry) : json(nullptr)}};
  object.update(amounts_json(name.amounts));
  return object;
}

json blend_json(const ModelBlend& one) {
  const TokenPrices& prices = one.blend.prices;
  json object = entry_json(one.entry);
  object["days"] = one.days;
  object["peak_share"] = one.blend.peak_share;
  object["prices"] = {{"input", units(prices.input)},
                      {"cached_input", units(prices.cached_input)},
                      {"cache_creation", units(prices.cache_creation)},
                      {"output", units(prices.output)},
                      {"reasoning", units(prices.reasoning)}};
  object["total"] = units(one.blend.total);
  object["by_hours"] = units(one.blend.exact);
  object["recorded"] = units(one.booked);
  return object;
}

}  // namespace

std::string price_json(const PriceSpanReport& report, TimeRange range, std::string_view currency) {
  json models = json::array();
  for (const PricedName& name : report.names) models.push_back(name_json(name));
  json findings = json::array();
  for (const PriceFinding& one : report.findings) {
    findings.push_back(
        {{"finding", to_string(one.kind)}, {"of", one.subject}, {"what", one.message}});
  }
  json blends = json::array();
  for (const ModelBlend& one : report.blends) blends.push_back(blend_json(one));
  const json object = {{"from", format_rfc3339(range.begin)},
                       {"to", format_rfc3339(range.end)},
                       {"currency", currency},
                       {"total", amounts_json(report.total)},
                       {"models", std::move(models)},
                       {"findings", std::move(findings)},
                       {"blends", std::move(blends)},
                       {"unknown_seconds", report.unknown.count() / 1000}};
  // Names of models may hold anything: what is no UTF-8 becomes U+FFFD.
  return object.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace outcomed
