#include "queries/prices/expected.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

namespace outcomed {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000'000'000;  // More is no count.

constexpr std::array<std::string_view, kBookedAs> kPhrases = {
    "",
    "the peak tariff at off-peak hours",
    "the off-peak tariff at peak hours",
    "a former tariff",
    "a tariff that is not in force yet",
    "cached input for nothing",
    "cached input at the full input price",
    "cache creation for nothing",
    "cache creation at the plain input price",
    "reasoning for nothing",
    "reasoning billed twice",
    "reasoning alone, without the other output",
    "output alone, without any input",
    "input alone, without any output"};

std::int64_t held(std::int64_t tokens) { return std::clamp<std::int64_t>(tokens, 0, kMostTokens); }

// |a − b| > percent of b, with a nano-unit or two of rounding allowed.
bool differs(Money a, Money b, std::int64_t per_thousand) {
  const std::int64_t slack = scale(b.nano, per_thousand, 1000);
  const std::int64_t difference = a.nano > b.nano ? a.nano - b.nano : b.nano - a.nano;
  return difference > std::max<std::int64_t>(slack, 2);
}

bool beyond(Money recorded, Money one, Money other) {
  const auto [low, high] = std::minmax(one, other);
  const bool below = recorded < low && differs(recorded, low, kRowTolerancePercent * 10);
  return below || (recorded > high && differs(recorded, high, kRowTolerancePercent * 10));
}

// One way to book a row wrongly.
struct Mistake {
  BookedAs what;
  Money cost;
};

constexpr std::int64_t kBookedPerThousand = 5;

bool explains(const Mistake& mistake, Money recorded) {
  return !differs(recorded, mistake.cost, kBookedPerThousand);
}

BookedAs class_mistake(const TokenPrices& prices, const BillableTokens& tokens, Money recorded) {
  const auto with = [&](auto change) {
    BillableTokens changed = tokens;
    change(changed);
    return cost_of(prices, changed);
  };
  const auto move = [](std::int64_t& from, std::int64_t& to) {
    to += from;
    from = 0;
  };
  using Tokens = BillableTokens;
  const std::array<Mistake, 9> mistakes = {{
      {BookedAs::cached_free, with([](Tokens& t) { t.cached = 0; })},
      {BookedAs::cached_full, with([&](Tokens& t) { move(t.cached, t.input); })},
      {BookedAs::creation_free, with([](Tokens& t) { t.creation = 0; })},
      {BookedAs::creation_as_input, with([&](Tokens& t) { move(t.creation, t.input); })},
      {BookedAs::reasoning_free, with([](Tokens& t) { t.reasoning = 0; })},
      {BookedAs::reasoning_twice, with([](Tokens& t) { t.output += t.reasoning; })},
      {BookedAs::reasoning_only, with([](Tokens& t) { t.output = 0; })},
      {BookedAs::input_free, with([](Tokens& t) { t.input = t.cached = t.creation = 0; })},
      {BookedAs::output_free, with([](Tokens& t) { t.output = t.reasoning = 0; })},
  }};
  const auto found = std::ranges::find_if(
      mistakes, [&](const Mistake& mistake) { return explains(mistake, recorded); });
  return found == mistakes.end() ? BookedAs::unknown : found->what;
}

// Of the same model, from the same provider.
BookedAs tariff_mistake(std::span<const PriceEntry> entries, const PricedRow& row,
                        const BillableTokens& tokens, Money recorded, Timestamp at) {
  if (explains({BookedAs::off_peak, row.off_peak}, recorded)) return BookedAs::off_peak;
  if (explains({BookedAs::peak, row.peak}, recorded)) return BookedAs::peak;
  for (const PriceEntry& other : entries) {
    const bool same = other.model->name == row.entry.model->name &&
                      other.table->provider == row.entry.table->provider;
    if (!same || other.model == row.entry.model) continue;
    const BookedAs when = other.model->valid_to <= at ? BookedAs::former : BookedAs::coming;
    for (const TokenPrices* prices : {&other.model->peak, &other.model->off_peak}) {
      if (explains({when, cost_of(*prices, tokens)}, recorded)) return when;
    }
  }
  return BookedAs::unknown;
}

PricedRow price_among(std::span<const PriceEntry> entries, const SpendRow& row) {
  PricedRow priced;
  const bool unbilled = row.recorded.nano == 0 && (row.failed || row.from_cache);
  const BillableTokens tokens = billable(row.tokens);
  if (unbilled || tokens.empty()) return priced;
  const auto entry = std::ranges::find_if(
      entries, [&](const PriceEntry& one) { return one.model->is_valid(row.at); });
  if (entry == entries.end()) {
    priced.verdict = row.recorded.nano == 0 ? RowVerdict::unpriced : RowVerdict::unknown_model;
    return priced;
  }
  priced.entry = *entry;
  priced.at_peak = entry->is_peak(row.at);
  priced.peak = cost_of(entry->model->peak, tokens);
  priced.off_peak = cost_of(entry->model->off_peak, tokens);
  priced.expected = priced.at_peak ? priced.peak : priced.off_peak;
  if (!differs(row.recorded, priced.expected, kRowTolerancePercent * 10)) {
    priced.verdict = RowVerdict::priced;
    return priced;
  }
  if (row.recorded.nano == 0) {
    priced.verdict = RowVerdict::unpriced;
    return priced;
  }
  priced.verdict = RowVerdict::off;
  priced.outside = beyond(row.recorded, priced.peak, priced.off_peak);
  priced.booked_as = tariff_mistake(entries, priced, tokens, row.recorded, row.at);
  if (priced.booked_as == BookedAs::unknown) {
    priced.booked_as = class_mistake(entry->prices(row.at), tokens, row.recorded);
  }
  return priced;
}

}  // namespace

std::string_view phrase(BookedAs what) { return kPhrases[static_cast<std::size_t>(what)]; }

BillableTokens billable(const TokenCounts& tokens) {
  BillableTokens out;
  out.cached = held(tokens.cached);
  out.creation = held(tokens.cache_creation);
  out.input = held(tokens.prompt);
  if (out.cached + out.creation <= out.input) out.input -= out.cached + out.creation;
  out.reasoning = held(tokens.reasoning);
  out.output = held(tokens.completion);
  if (out.reasoning <= out.output) out.output -= out.reasoning;
  return out;
}

Money cost_of(const TokenPrices& prices, const BillableTokens& tokens) {
  // Whole millions apart, so that the rest is exact until it is rounded once.
  const std::array<std::pair<std::int64_t, Money>, 5> parts = {
      {{tokens.input, prices.input},
       {tokens.cached, prices.cached()},
       {tokens.creation, prices.creation()},
       {tokens.output, prices.output},
       {tokens.reasoning, prices.thinking()}}};
  std::int64_t whole = 0;
  std::int64_t rest = 0;  // Millionths of a nano-unit.
  for (const auto& [count, price] : parts) {
    const std::int64_t per_token = price.nano / kMillion;
    const std::int64_t below = price.nano % kMillion;
    whole = add_held(whole, scale(count, per_token, 1));
    whole = add_held(whole, scale(count / kMillion, below, 1));
    rest += count % kMillion * below;
  }
  return {add_held(whole, scale(rest, 1, kMillion))};
}

PricedRow price_row(const PriceTables& tables, const SpendRow& row) {
  return price_among(tables.all(row.provider_model), row);
}

PricedRow RowPricer::price(const SpendRow& row) {
  if (tables_ == nullptr) return price_among({}, row);
  const auto known = entries_.find(row.provider_model);
  if (known != entries_.end()) return price_among(known->second, row);
  std::vector<PriceEntry> entries = tables_->all(row.provider_model);
  if (entries_.size() >= kMaxNames) return price_among(entries, row);
  return price_among(
      entries_.emplace(std::string(row.provider_model), std::move(entries)).first->second, row);
}

}  // namespace outcomed
