// What providers publish: a price per token class, for peak and off-peak hours, while it is valid.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "queries/prices/calendar.h"
#include "queries/prices/money.h"

namespace outcomed {

// Amounts per million tokens. A class without a price of its own costs what its kind costs: cached
// input and cache creation the input price, reasoning the output price.
struct TokenPrices {
  Money input;
  Money output;
  std::optional<Money> cached_input;
  std::optional<Money> cache_creation;
  std::optional<Money> reasoning;

  [[nodiscard]] Money cached() const { return cached_input.value_or(input); }
  [[nodiscard]] Money creation() const { return cache_creation.value_or(input); }
  [[nodiscard]] Money thinking() const { return reasoning.value_or(output); }
  friend bool operator==(const TokenPrices&, const TokenPrices&) = default;
};

// "input 0.27, cached input 0.07, output 1.10 USD per million tokens".
std::string to_text(const TokenPrices& prices, std::string_view currency);

struct PricedModel {
  std::string name;                  // The provider's.
  std::vector<std::string> aliases;  // Other names, `*` for any characters.
  Timestamp valid_from = Timestamp::min();
  Timestamp valid_to = Timestamp::max();  // Exclusive.
  TokenPrices peak;
  TokenPrices off_peak;  // As `peak` for a price that knows no hours.

  [[nodiscard]] bool is_valid(Timestamp at) const { return valid_from <= at && at < valid_to; }
  [[nodiscard]] bool is_flat() const { return peak == off_peak; }
};

struct PriceTable {
  std::string provider;
  std::string currency;
  std::string source;                // Where it was read.
  std::optional<Timestamp> read_on;  // Begin of that day.
  Duration stale_after = std::chrono::hours(24 * 90);
  PriceCalendar calendar;
  std::vector<PricedModel> models;

  [[nodiscard]] bool is_stale(Timestamp now) const {
    return read_on && now - *read_on > stale_after;
  }
};

// One period of one model; points into the tables.
struct PriceEntry {
  const PriceTable* table = nullptr;
  const PricedModel* model = nullptr;

  [[nodiscard]] bool is_peak(Timestamp at) const { return table->calendar.is_peak(at); }
  [[nodiscard]] const TokenPrices& prices(Timestamp at) const {
    return is_peak(at) ? model->peak : model->off_peak;
  }
};

class PriceTables {
 public:
  PriceTables() = default;
  explicit PriceTables(std::vector<PriceTable> tables) : tables_(std::move(tables)) {}

  [[nodiscard]] const std::vector<PriceTable>& tables() const { return tables_; }
  // The currency of all of them; empty where there are none.
  [[nodiscard]] std::string_view currency() const;

  // Every period, valid or not, that a gateway's name of a provider's model stands for, best match
  // first: the name itself, then the longest alias. The provider's own prefix counts for nothing:
  // "deepseek/deepseek-chat" is deepseek-chat of the provider deepseek, but "openai/deepseek-chat"
  // needs an alias, as it may be anybody's.
  [[nodiscard]] std::vector<PriceEntry> all(std::string_view provider_model) const;
  // The best match that is valid at that time.
  [[nodiscard]] std::optional<PriceEntry> find(std::string_view provider_model, Timestamp at) const;

 private:
  std::vector<PriceTable> tables_;
};

}  // namespace outcomed
