// `prices:`, as it is declared: what the schema and the reference page show of it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "daemon/config/problem.h"
#include "daemon/config/yaml_tree.h"
#include "queries/base/params.h"
#include "queries/base/time.h"
#include "queries/prices/price_table.h"

namespace outcomed {

// Amounts as they were written.
struct TokenPriceSettings {
  std::string input;
  std::string cached_input;
  std::string cache_creation;
  std::string output;
  std::string reasoning;

  void visit(ParamVisitor& visitor);
};

// One model of one table.
struct PricedModelSettings {
  std::vector<std::string> aliases;
  std::string valid_from;
  std::string valid_to;
  TokenPriceSettings flat;
  TokenPriceSettings peak;
  TokenPriceSettings off_peak;
  bool has_flat = false;
  bool has_peak = false;
  bool has_off_peak = false;

  void visit(ParamVisitor& visitor);
};

// One entry of `prices:` without its models.
struct PriceTableSettings {
  std::string provider;
  std::string currency;
  std::string source;
  std::string read_on;
  Duration stale_after = std::chrono::hours(24 * 90);
  std::string time_zone = "UTC";
  std::vector<std::string> peak;

  void visit(ParamVisitor& visitor);
};

struct LoadedPriceTables {
  std::vector<PriceTable> tables;
  std::vector<Place> places;  // Of each.
};

// A list of price tables, wherever it stands in a file; every problem is added with its place.
// Without zones only UTC is known.
LoadedPriceTables read_price_tables(const Node& list, const std::string& path,
                                    ProblemSink& problems, const std::filesystem::path& folder,
                                    const TimeZones* zones);

struct PricesConfig {
  std::shared_ptr<const PriceTables> tables;  // Null where the file has no `prices:`.
  std::vector<Place> places;                  // Of each table.
  std::string file;
};

// What only somebody with a clock can say: tables that were read long ago, or in the future.
std::vector<ConfigProblem> price_table_notes(const PricesConfig& prices, Timestamp now);

}  // namespace outcomed
