#include "queries/prices/price_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "queries/base/glob.h"

namespace outcomed {
namespace {

// How well an entry's names match; nothing where none does. An alias is worth its own characters.
std::optional<std::size_t> match(const PriceTable& table, const PricedModel& model,
                                 std::string_view name) {
  constexpr std::size_t kExact = 1'000'000;
  std::string_view bare = name;
  const std::string& provider = table.provider;
  if (name.size() > provider.size() + 1 && name.starts_with(provider) &&
      name[provider.size()] == '/') {
    bare.remove_prefix(provider.size() + 1);
  }
  if (name == model.name || bare == model.name) return kExact;
  std::optional<std::size_t> best;
  for (const std::string& alias : model.aliases) {
    if (!glob_matches(alias, name) && !glob_matches(alias, bare)) continue;
    const auto stars = static_cast<std::size_t>(std::ranges::count(alias, '*'));
    best = std::max(best.value_or(0), alias.size() - stars);
  }
  return best;
}

}  // namespace

std::string to_text(const TokenPrices& prices, std::string_view currency) {
  std::string text = "input " + format_exact(prices.input);
  if (prices.cached_input) text += ", cached input " + format_exact(*prices.cached_input);
  if (prices.cache_creation) text += ", cache creation " + format_exact(*prices.cache_creation);
  text += ", output " + format_exact(prices.output);
  if (prices.reasoning) text += ", reasoning " + format_exact(*prices.reasoning);
  return fmt::format("{}{}{} per million tokens", text, currency.empty() ? "" : " ", currency);
}

std::string_view PriceTables::currency() const {
  return tables_.empty() ? std::string_view() : std::string_view(tables_.front().currency);
}

std::vector<PriceEntry> PriceTables::all(std::string_view provider_model) const {
  std::vector<std::pair<std::size_t, PriceEntry>> found;
  for (const PriceTable& table : tables_) {
    for (const PricedModel& model : table.models) {
      if (const auto worth = match(table, model, provider_model)) {
        found.emplace_back(*worth, PriceEntry{&table, &model});
      }
    }
  }
  std::ranges::stable_sort(found, std::greater(), [](const auto& one) { return one.first; });
  std::vector<PriceEntry> entries;
  for (const auto& [worth, entry] : found) entries.push_back(entry);
  return entries;
}

std::optional<PriceEntry> PriceTables::find(std::string_view provider_model, Timestamp at) const {
  for (const PriceEntry& entry : all(provider_model)) {
    if (entry.model->is_valid(at)) return entry;
  }
  return std::nullopt;
}

}  // namespace outcomed
