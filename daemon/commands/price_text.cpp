#include "daemon/commands/price_text.h"

#include <fmt/core.h>

#include "detectors/price/wording.h"
#include "detectors/sentence.h"

namespace outcomed {
namespace {

std::string count_or_dash(std::int64_t count) { return count == 0 ? "-" : format_count(count); }

std::string price_cell(const std::optional<Money>& price) {
  return price ? format_exact(*price) : "-";
}

// Amounts that everything without an expected cost leaves empty.
std::vector<std::string> amount_cells(const SpendAmounts& amounts) {
  const ComparedCosts costs = compared(amounts);
  const bool expected = costs.expected.nano > 0;
  const auto money = [&](SpendKind kind) {
    return expected ? format_money({amounts.of(kind)}) : std::string("-");
  };
  return {format_count(amounts.of(SpendKind::requests)),
          format_money(costs.recorded),
          money(SpendKind::expected_cost),
          expected ? format_ratio(costs.ratio()) : "-",
          money(SpendKind::expected_off_peak),
          money(SpendKind::expected_peak),
          amounts.of(SpendKind::unmatched_cost) == 0
              ? "-"
              : format_money({amounts.of(SpendKind::unmatched_cost)}),
          count_or_dash(amounts.of(SpendKind::rows_off)),
          count_or_dash(amounts.of(SpendKind::rows_unpriced))};
}

std::string table_of(const PricedName& name) {
  if (!name.entry) return "in no table";
  return fmt::format("{} of {}", name.entry->model->name, name.entry->table->provider);
}

ReportTable costs_table(const PriceSpanReport& report, std::string_view currency) {
  ReportTable table{currency.empty() ? "Costs" : fmt::format("Costs in {}", currency),
                    {"model", ">requests", ">recorded", ">expected", ">ratio", ">all off-peak",
                     ">all peak", ">without price", ">rows off", ">no cost", "price"},
                    {}};
  const auto add = [&](std::string name, const SpendAmounts& amounts, std::string price) {
    std::vector<std::string> row = amount_cells(amounts);
    row.insert(row.begin(), std::move(name));
    row.push_back(std::move(price));
    table.rows.push_back(std::move(row));
  };
  for (const PricedName& name : report.names) add(to_text(name), name.amounts, table_of(name));
  if (report.names.size() > 1) add("total", report.total, "");
  return table;
}

ReportTable findings_table(const PriceSpanReport& report) {
  ReportTable table{"Findings", {"finding", "of", "what"}, {}};
  for (const PriceFinding& finding : report.findings) {
    table.rows.push_back({std::string(to_string(finding.kind)), finding.subject, finding.message});
  }
  return table;
}

ReportTable blends_table(const PriceSpanReport& report, std::string_view currency) {
  ReportTable table{
      fmt::format("One price for all hours from the last {} days, {} per million tokens",
                  PriceDetector::kLongDays, currency.empty() ? "amounts" : currency),
      {"model", ">days", ">at peak", ">input", ">cached input", ">cache creation", ">output",
       ">reasoning", ">total", ">by hours", ">total ÷ by hours", ">recorded"},
      {}};
  for (const ModelBlend& one : report.blends) {
    const TokenPrices& prices = one.blend.prices;
    const auto total = static_cast<double>(one.blend.total.nano);
    const auto exact = static_cast<double>(one.blend.exact.nano);
    table.rows.push_back(
        {fmt::format("{} of {}", one.entry.model->name, one.entry.table->provider),
         fmt::format("{}", one.days), format_share(one.blend.peak_share),
         format_exact(prices.input), price_cell(prices.cached_input),
         price_cell(prices.cache_creation), format_exact(prices.output),
         price_cell(prices.reasoning), format_money(one.blend.total), format_money(one.blend.exact),
         exact > 0 ? fmt::format("{:.2f} %", total / exact * 100) : "-", format_money(one.booked)});
  }
  return table;
}

std::string opening_of(const PriceSpanReport& report, TimeRange range, std::string_view currency) {
  const std::string span =
      fmt::format("from {} to {}", format_rfc3339(range.begin), format_rfc3339(range.end));
  const ComparedCosts costs = compared(report.total);
  if (report.names.empty()) return "No row was booked " + span + ": nothing to compare.";
  if (costs.expected.nano == 0) {
    return fmt::format("{} requests {}, and none that a price table knows.",
                       format_count(report.total.of(SpendKind::requests)), span);
  }
  return fmt::format("{} {}, {} requests.", ratio_words(costs, currency), span,
                     format_count(report.total.of(SpendKind::requests)));
}

}  // namespace

ReportText price_text(const PriceSpanReport& report, TimeRange range, std::string_view currency) {
  ReportText text;
  text.opening = opening_of(report, range, currency);
  if (!report.names.empty()) text.tables.push_back(costs_table(report, currency));
  if (!report.findings.empty()) text.tables.push_back(findings_table(report));
  if (!report.blends.empty()) {
    text.tables.push_back(blends_table(report, currency));
    text.remarks.emplace_back(
        "at peak: the share of the cost that peak hours touch. total: what these days' tokens cost "
        "at this price; by hours: at the tariffs of their hours.");
  }
  if (report.findings.empty() && !report.names.empty()) {
    text.remarks.emplace_back("Nothing was found.");
  }
  if (report.unknown > Duration::zero()) {
    text.remarks.push_back(
        fmt::format("{} of the time without complete data: nothing of it is counted.",
                    format_duration(report.unknown)));
  }
  return text;
}

}  // namespace outcomed
