#include "daemon/gateway/price_table.h"

#include <algorithm>
#include <utility>

#include "daemon/calendar/time_zones.h"
#include "daemon/config/prices.h"
#include "queries/base/glob.h"

namespace outcomed {
namespace {

void widen(PublishedModel& model, const char* token_class, Money amount) {
  const double units = static_cast<double>(amount.nano) / static_cast<double>(kNanoPerUnit);
  const auto [known, fresh] = model.prices.emplace(token_class, PriceBounds{units, units});
  if (fresh) return;
  known->second.lowest = std::min(known->second.lowest, units);
  known->second.highest = std::max(known->second.highest, units);
}

void widen(PublishedModel& model, const TokenPrices& prices) {
  widen(model, "input", prices.input);
  widen(model, "output", prices.output);
  if (prices.cached_input) widen(model, "cached_input", *prices.cached_input);
  if (prices.cache_creation) widen(model, "cache_creation", *prices.cache_creation);
  if (prices.reasoning) widen(model, "reasoning", *prices.reasoning);
}

PublishedPrices published(const PriceTable& table) {
  PublishedPrices result{table.provider, table.currency, {}};
  for (const PricedModel& period : table.models) {
    const bool is_last = period.valid_to == Timestamp::max();
    const bool has_later = std::ranges::any_of(table.models, [&](const PricedModel& other) {
      return other.name == period.name && other.valid_to == Timestamp::max();
    });
    if (!is_last && has_later) continue;
    auto known = std::ranges::find(result.models, period.name, &PublishedModel::name);
    if (known == result.models.end()) {
      result.models.push_back({period.name, period.aliases, {}});
      known = std::prev(result.models.end());
    }
    widen(*known, period.peak);
    widen(*known, period.off_peak);
  }
  return result;
}

}  // namespace

std::vector<PublishedPrices> load_published_prices(const Node& list, const std::string& path,
                                                   ProblemSink& problems) {
  std::vector<PublishedPrices> tables;
  if (list.kind == Node::Kind::null) return tables;
  const auto zones = system_time_zones();
  for (const PriceTable& table : read_price_tables(list, path, problems, {}, zones.get()).tables) {
    tables.push_back(published(table));
  }
  return tables;
}

const PublishedModel* find_published(const PublishedPrices& table, std::string_view model) {
  const auto named = std::ranges::find(table.models, model, &PublishedModel::name);
  if (named != table.models.end()) return &*named;
  const auto aliased = std::ranges::find_if(table.models, [&](const PublishedModel& candidate) {
    return any_glob_matches(candidate.aliases, model);
  });
  return aliased == table.models.end() ? nullptr : &*aliased;
}

}  // namespace outcomed
