// prices.
#include "daemon/config/prices.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "daemon/config/loading.h"
#include "daemon/config/words.h"
#include "queries/prices/money.h"

namespace outcomed {
namespace {

constexpr std::size_t kMaxTables = 1000;
constexpr std::size_t kMaxModels = 10'000;  // Of all tables.
// Published prices lie between a hundredth of a cent and hundreds of units per million tokens.
constexpr Money kSmallest{kNanoPerUnit / 1000};
constexpr Money kLargest{kNanoPerUnit * 10'000};
constexpr Money kLargestOfSmallUnits{kNanoPerUnit * 900'000'000};

// Currencies of which a unit is worth about as much as a dollar, or a tenth.
bool is_large_unit(std::string_view currency) {
  constexpr std::string_view kLarge[] = {"USD", "EUR", "GBP", "CHF", "CNY", "CAD", "AUD", "SGD"};
  return std::ranges::find(kLarge, currency) != std::end(kLarge);
}

// Periods of one model of one provider, over all tables.
struct Period {
  Timestamp from;
  Timestamp to;
  std::string path;
};

class PriceLoader {
 public:
  PriceLoader(ProblemSink& problems, std::filesystem::path folder, const TimeZones* zones)
      : problems_(problems), folder_(std::move(folder)), zones_(zones) {}
  LoadedPriceTables load(const Node& list, const std::string& path);

 private:
  void load_table(const Node& node, const std::string& path);
  void load_calendar(NodeVisitor& visitor, const PriceTableSettings& settings, PriceTable& table);
  void load_models(NodeVisitor& visitor, PriceTable& table);
  void load_model(const Node::Entry& entry, const std::string& path, PriceTable& table);
  void check_currency(NodeVisitor& visitor, const PriceTable& table);
  void check_tariffs(NodeVisitor& visitor, const PricedModelSettings& settings,
                     const PriceTable& table);
  void check_aliases(NodeVisitor& visitor, const PricedModel& model, const PriceTable& table);
  void check_overlap(const Node::Entry& entry, const std::string& path, const PricedModel& model,
                     const PriceTable& table);
  TokenPrices read_prices(const Node& node, const std::string& path,
                          const TokenPriceSettings& settings, const PriceTable& table);
  std::optional<Money> read_amount(NodeVisitor& visitor, std::string_view name,
                                   const std::string& text, const PriceTable& table);
  std::optional<Timestamp> read_day(NodeVisitor& visitor, std::string_view name,
                                    const std::string& text, const TimeZone* zone, int plus_days);

  ProblemSink& problems_;
  std::filesystem::path folder_;
  const TimeZones* zones_;
  std::vector<PriceTable> tables_;
  std::vector<Place> places_;
  std::size_t models_ = 0;
  std::map<std::string, std::vector<Period>> periods_;
  std::map<std::string, std::string> alias_owners_;  // "provider\nalias" -> model.
};

LoadedPriceTables PriceLoader::load(const Node& list, const std::string& path) {
  if (list.kind != Node::Kind::sequence) {
    problems_.add(list.place, path, kind_text(list),
                  "write a list: [{provider: deepseek, currency: USD, models: {…}}]");
    return {};
  }
  if (list.items.size() > kMaxTables) {
    problems_.add(list.place, path, fmt::format("holds more than {} tables", kMaxTables),
                  "shorten it");
    return {};
  }
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const Node& item = list.items[i];
    if (item.kind == Node::Kind::map) {
      load_table(item, item_path(path, i));
    } else {
      problems_.add(item.place, item_path(path, i), kind_text(item),
                    "write a mapping such as {provider: deepseek, currency: USD, models: {…}}");
    }
  }
  return {std::move(tables_), std::move(places_)};
}

void PriceLoader::load_table(const Node& node, const std::string& path) {
  NodeVisitor visitor(node, path, problems_, folder_);
  PriceTableSettings settings;
  settings.visit(visitor);
  PriceTable table;
  table.provider = settings.provider;
  table.currency = settings.currency;
  table.source = settings.source;
  table.stale_after = settings.stale_after;
  require(visitor, problems_, "provider", settings.provider,
          "name the provider as the gateway does, such as deepseek");
  if (require(visitor, problems_, "currency", settings.currency, "write for example USD")) {
    check_currency(visitor, table);
  }
  table.read_on = read_day(visitor, "read_on", settings.read_on, nullptr, 0);
  load_calendar(visitor, settings, table);
  load_models(visitor, table);
  visitor.finish();
  tables_.push_back(std::move(table));
  places_.push_back(visitor.place_of("read_on"));
}

void PriceLoader::check_currency(NodeVisitor& visitor, const PriceTable& table) {
  if (!is_currency(table.currency)) {
    std::string upper = table.currency;
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    visitor.problem("currency", in_quotes(table.currency) + " is not a currency",
                    is_currency(upper) ? fmt::format("did you mean {}?", upper)
                                       : "write three capital letters, such as USD");
  } else if (!tables_.empty() && is_currency(tables_.front().currency) &&
             tables_.front().currency != table.currency) {
    visitor.problem("currency",
                    fmt::format("{} differs from that of the first table ({})", table.currency,
                                tables_.front().currency),
                    "a gateway books in one currency: write all tables in that one");
  }
}

void PriceLoader::load_calendar(NodeVisitor& visitor, const PriceTableSettings& settings,
                                PriceTable& table) {
  const Node::Entry* calendar = visitor.take("calendar");
  if (!calendar || calendar->value.kind != Node::Kind::map) return;
  const std::string path = visitor.path_of("calendar");
  const Node::Entry* zone = calendar->value.find("time_zone");
  if (settings.time_zone != "UTC") {
    if (zones_) table.calendar.zone = zones_->find(settings.time_zone);
    if (!table.calendar.zone && zone) {
      problems_.add(zone->value.place, join_path(path, "time_zone"),
                    in_quotes(settings.time_zone) + " is no time zone",
                    "write an IANA name, such as Asia/Shanghai or UTC");
    }
  }
  const Node::Entry* peak = calendar->value.find("peak");
  if (!peak) {
    problems_.add(calendar->value.place, join_path(path, "peak"), "is missing",
                  "write for example peak: [\"mon-fri 00:30-16:30\"]");
    return;
  }
  if (peak->value.kind != Node::Kind::sequence) return;
  for (std::size_t i = 0; i < peak->value.items.size(); ++i) {
    const Node& item = peak->value.items[i];
    if (item.kind != Node::Kind::scalar) continue;
    const Status added = table.calendar.peak.add(item.text);
    if (added) continue;
    Error error = added.error();
    error.message = shown(item.text) + ": " + error.message;
    problems_.add(item.place, item_path(join_path(path, "peak"), i), error);
  }
}

void PriceLoader::load_models(NodeVisitor& visitor, PriceTable& table) {
  const Node::Entry* models = visitor.take("models");
  const std::string path = visitor.path_of("models");
  if (!models || models->value.kind != Node::Kind::map || models->value.entries.empty()) {
    problems_.add(visitor.place_of("models"), path,
                  models ? kind_text(models->value) : "is missing",
                  "write a mapping from models to prices: {deepseek-chat: {flat: {input: "
                  "0.28, output: 0.42}}}");
    return;
  }
  for (const Node::Entry& entry : models->value.entries) {
    const std::string model_path = join_path(path, entry.key);
    if (++models_ > kMaxModels) {
      problems_.add(entry.place, model_path,
                    fmt::format("there are more than {} models", kMaxModels), "shorten it");
      return;
    }
    const bool name_is_plain = !entry.key.empty() && entry.key.size() <= 200 &&
                               std::ranges::none_of(entry.key, [](unsigned char c) {
                                 return c <= ' ' || c == 0x7f || c == '*';
                               });
    if (!name_is_plain) {
      problems_.add(entry.place, model_path, shown(entry.key) + " can't be a model's name",
                    "no blanks; patterns with * belong into aliases");
    } else if (entry.value.kind != Node::Kind::map) {
      problems_.add(entry.value.place, model_path, kind_text(entry.value),
                    "write {flat: {input: 0.28, output: 0.42}}");
    } else {
      load_model(entry, model_path, table);
    }
  }
}

void PriceLoader::load_model(const Node::Entry& entry, const std::string& path, PriceTable& table) {
  NodeVisitor visitor(entry.value, path, problems_, folder_);
  PricedModelSettings settings;
  settings.visit(visitor);
  PricedModel model;
  model.name = entry.key;
  model.aliases = settings.aliases;
  check_tariffs(visitor, settings, table);
  const TimeZone* zone = table.calendar.zone.get();
  if (const auto from = read_day(visitor, "valid_from", settings.valid_from, zone, 0)) {
    model.valid_from = *from;
  }
  if (const auto to = read_day(visitor, "valid_to", settings.valid_to, zone, 1)) {
    model.valid_to = *to;
  }
  if (model.valid_to <= model.valid_from) {
    visitor.problem("valid_to", "lies before valid_from", "write the last day of these prices");
  } else {
    check_overlap(entry, path, model, table);
  }
  const auto read = [&](const char* name, const TokenPriceSettings& prices) {
    return read_prices(entry.value.find(name)->value, join_path(path, name), prices, table);
  };
  if (settings.has_flat) model.peak = model.off_peak = read("flat", settings.flat);
  if (settings.has_peak) model.peak = read("peak", settings.peak);
  if (settings.has_off_peak) model.off_peak = read("off_peak", settings.off_peak);
  check_aliases(visitor, model, table);
  visitor.finish();
  table.models.push_back(std::move(model));
}

void PriceLoader::check_tariffs(NodeVisitor& visitor, const PricedModelSettings& settings,
                                const PriceTable& table) {
  const bool hours = settings.has_peak || settings.has_off_peak;
  const bool broken =
      visitor.is_broken("flat") || visitor.is_broken("peak") || visitor.is_broken("off_peak");
  if (broken) return;
  if (!settings.has_flat && !hours) {
    visitor.problem("", "has no prices", "write flat: {…}, or peak: {…} and off_peak: {…}");
  } else if (settings.has_flat && hours) {
    visitor.problem("flat", "stands beside prices by hours",
                    "keep either flat, or peak and off_peak");
  } else if (settings.has_peak != settings.has_off_peak) {
    visitor.problem(settings.has_peak ? "peak" : "off_peak",
                    fmt::format("needs {} beside it", settings.has_peak ? "off_peak" : "peak"),
                    "write both, or flat for one price at all hours");
  } else if (hours && table.calendar.peak.minutes() == 0) {
    visitor.problem(
        "off_peak", "the table doesn't say when peak hours are",
        "write calendar: {time_zone: UTC, peak: [\"mon-fri 00:30-16:30\"]} beside models");
  }
}

void PriceLoader::check_aliases(NodeVisitor& visitor, const PricedModel& model,
                                const PriceTable& table) {
  const Node::Entry* entry = visitor.take("aliases");
  if (!entry || entry->value.kind != Node::Kind::sequence || visitor.is_broken("aliases")) return;
  for (std::size_t i = 0; i < model.aliases.size() && i < entry->value.items.size(); ++i) {
    const auto report = [&](std::string message, std::string hint) {
      problems_.add(entry->value.items[i].place, item_path(visitor.path_of("aliases"), i),
                    std::move(message), std::move(hint));
    };
    if (model.aliases[i].empty()) {
      report("is empty", "remove it");
      continue;
    }
    const auto [owner, fresh] =
        alias_owners_.emplace(table.provider + '\n' + model.aliases[i], model.name);
    if (!fresh && owner->second != model.name) {
      report(fmt::format("{} stands for {} already", shown(model.aliases[i]), shown(owner->second)),
             "an alias means one model of a provider");
    }
  }
}

void PriceLoader::check_overlap(const Node::Entry& entry, const std::string& path,
                                const PricedModel& model, const PriceTable& table) {
  std::vector<Period>& periods = periods_[table.provider + '\n' + model.name];
  for (const Period& other : periods) {
    if (model.valid_from >= other.to || other.from >= model.valid_to) continue;
    problems_.add(entry.place, path,
                  fmt::format("has another price for the same days at {}", other.path),
                  "write valid_to in the older table and valid_from in the newer one");
    break;
  }
  periods.push_back({model.valid_from, model.valid_to, path});
}

TokenPrices PriceLoader::read_prices(const Node& node, const std::string& path,
                                     const TokenPriceSettings& settings, const PriceTable& table) {
  // Unknown keys were reported when the settings were read.
  NodeVisitor visitor(node, path, problems_, folder_);
  TokenPrices prices;
  const auto required = [&](std::string_view name, const std::string& text) {
    const bool reported = problems_.has_problem_at(visitor.path_of(name), 0);
    if (reported ||
        !require(visitor, problems_, name, text, "write the amount per million tokens")) {
      return Money{};
    }
    return read_amount(visitor, name, text, table).value_or(Money{});
  };
  prices.input = required("input", settings.input);
  prices.output = required("output", settings.output);
  const auto optional = [&](std::string_view name, const std::string& text) {
    return node.find(name) ? read_amount(visitor, name, text, table) : std::nullopt;
  };
  prices.cached_input = optional("cached_input", settings.cached_input);
  prices.cache_creation = optional("cache_creation", settings.cache_creation);
  prices.reasoning = optional("reasoning", settings.reasoning);
  return prices;
}

std::optional<Money> PriceLoader::read_amount(NodeVisitor& visitor, std::string_view name,
                                              const std::string& text, const PriceTable& table) {
  if (visitor.is_broken(name)) return std::nullopt;
  const auto report = [&](std::string message, std::string hint) {
    problems_.add(visitor.place_of(name), visitor.path_of(name), std::move(message),
                  std::move(hint));
    return std::nullopt;
  };
  const auto [amount, currency] = split_currency(text);
  if (!currency.empty() && is_currency(currency) && currency != table.currency) {
    return report(fmt::format("{} is not the currency of the table", currency),
                  fmt::format("write the amount in {}, without the currency",
                              table.currency.empty() ? "that one" : table.currency));
  }
  const Result<Money> money = parse_money(is_currency(currency) ? amount : std::string_view(text));
  if (!money) {
    const std::string& message = money.error().message;
    const std::size_t split = message.rfind("; ");
    return report(shown(text) + ": " + message.substr(0, split),
                  split == std::string::npos ? "" : message.substr(split + 2));
  }
  if (money->nano > 0 && *money < kSmallest) {
    return report(fmt::format("{} is absurdly little", text),
                  fmt::format("amounts are per million tokens; is this per token? Then write {}",
                              format_exact({scale(money->nano, 1'000'000, 1)})));
  }
  if (*money > (is_large_unit(table.currency) ? kLargest : kLargestOfSmallUnits)) {
    return report(fmt::format("{} is absurdly much", text), "per million tokens?");
  }
  return *money;
}

// Days are whole: those of `valid_to` end with the day. Nothing where the text is empty or wrong.
std::optional<Timestamp> PriceLoader::read_day(NodeVisitor& visitor, std::string_view name,
                                               const std::string& text, const TimeZone* zone,
                                               int plus_days) {
  if (text.empty() || visitor.is_broken(name)) return std::nullopt;
  const Result<Timestamp> day = parse_timestamp(text);
  const bool shaped = text.size() == 10 && text[4] == '-' && text[7] == '-';
  if (!day || !shaped) {
    visitor.problem(name, shown(text) + " is not a day", "write for example 2026-10-01");
    return std::nullopt;
  }
  return begin_of_day(zone, local_day(nullptr, *day) + plus_days);
}

}  // namespace

LoadedPriceTables read_price_tables(const Node& list, const std::string& path,
                                    ProblemSink& problems, const std::filesystem::path& folder,
                                    const TimeZones* zones) {
  return PriceLoader(problems, folder, zones).load(list, path);
}

void load_prices(Section& section) {
  const Node::Entry* list = section.top.take("prices");
  if (!list) return;
  LoadedPriceTables loaded =
      read_price_tables(list->value, "prices", section.problems, section.loading.folder,
                        section.loading.catalogs.zones.get());
  PricesConfig& config = section.loading.config.prices;
  config.tables = std::make_shared<const PriceTables>(std::move(loaded.tables));
  config.places = std::move(loaded.places);
  config.file = section.problems.file();
}

}  // namespace outcomed
