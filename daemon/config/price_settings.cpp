// The declarations of `prices:`.
#include <fmt/core.h>

#include "daemon/config/prices.h"

namespace outcomed {

void TokenPriceSettings::visit(ParamVisitor& visitor) {
  visitor.text("input", input, "Prompt tokens that were not cached. Required.");
  visitor.text("cached_input", cached_input,
               "Prompt tokens read from the provider's cache; default: as `input`.");
  visitor.text("cache_creation", cache_creation,
               "Prompt tokens written to it; default: as `input`.");
  visitor.text("output", output, "Completion tokens. Required; 0 where there are none.");
  visitor.text("reasoning", reasoning, "Reasoning tokens; default: as `output`.");
}

void PricedModelSettings::visit(ParamVisitor& visitor) {
  visitor.text_list("aliases", aliases,
                    "Other names under which gateways know it, `*` for any characters. The "
                    "provider's own prefix (`deepseek/…`) needs none.");
  visitor.text("valid_from", valid_from, "First day of these prices, in the calendar's time zone.");
  visitor.text("valid_to", valid_to, "Last day of these prices.");
  has_flat = visitor.begin("flat", "Amounts per million tokens at all hours.");
  if (has_flat) {
    flat.visit(visitor);
    visitor.end();
  }
  has_peak = visitor.begin("peak", "Amounts per million tokens at the calendar's peak hours.");
  if (has_peak) {
    peak.visit(visitor);
    visitor.end();
  }
  has_off_peak = visitor.begin("off_peak", "Amounts per million tokens at all other hours.");
  if (has_off_peak) {
    off_peak.visit(visitor);
    visitor.end();
  }
}

void PriceTableSettings::visit(ParamVisitor& visitor) {
  visitor.text("provider", provider, "Who takes these prices. Required.");
  visitor.text("currency", currency,
               "Currency of all its amounts, such as USD: the one the gateway books in. Required.");
  visitor.url("source", source, "Where the table was read.");
  visitor.text("read_on", read_on, "Day on which it was read, such as 2026-10-01.");
  visitor.duration("stale_after", stale_after, "`check` notes a table that was read longer ago.");
  if (visitor.begin("calendar", "When `peak` prices are taken.")) {
    visitor.text("time_zone", time_zone, "IANA name of the provider's time zone.");
    visitor.text_list("peak", peak,
                      "Peak hours, such as `mon-fri 00:30-16:30`; without weekdays: every day; an "
                      "end before the begin lies on the next day.");
    visitor.end();
  }
}

std::vector<ConfigProblem> price_table_notes(const PricesConfig& prices, Timestamp now) {
  std::vector<ConfigProblem> notes;
  if (prices.tables == nullptr) return notes;
  ProblemSink sink(prices.file, notes);
  const std::vector<PriceTable>& tables = prices.tables->tables();
  for (std::size_t i = 0; i < tables.size() && i < prices.places.size(); ++i) {
    const PriceTable& table = tables[i];
    if (!table.read_on) continue;
    const std::string path = item_path("prices", i) + ".read_on";
    const std::int64_t days = (now - *table.read_on) / std::chrono::hours(24);
    if (table.is_stale(now)) {
      sink.add(prices.places[i], path,
               fmt::format("the prices of {} were read {} days ago", table.provider, days),
               table.source.empty() ? "read them again" : "read them again: " + table.source);
    } else if (*table.read_on - now > std::chrono::hours(24)) {
      sink.add(prices.places[i], path, "lies in the future", "write the day on which it was read");
    }
  }
  return notes;
}

}  // namespace outcomed
