// What providers publish, as far as a gateway's configuration is held against it: the lowest and
// the highest amount of each token class, over all times of day.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/problem.h"
#include "daemon/config/yaml_tree.h"

namespace outcomed {

struct PriceBounds {
  double lowest = 0;  // Per million tokens.
  double highest = 0;
  friend bool operator==(const PriceBounds&, const PriceBounds&) = default;
};

struct PublishedModel {
  std::string name;
  std::vector<std::string> aliases;  // With `*`.
  // By token class (input, cached_input, cache_creation, output, reasoning); those that have a
  // price of their own.
  std::map<std::string, PriceBounds, std::less<>> prices;
  friend bool operator==(const PublishedModel&, const PublishedModel&) = default;
};

struct PublishedPrices {
  std::string provider;
  std::string currency;
  std::vector<PublishedModel> models;
  friend bool operator==(const PublishedPrices&, const PublishedPrices&) = default;
};

// Reads a list of price tables in the shape of the configuration's `prices:`; problems are added
// with their places. Of a model with several periods the ones without an end count.
std::vector<PublishedPrices> load_published_prices(const Node& list, const std::string& path,
                                                   ProblemSink& problems);

// The model of that name, or whose alias matches. Null where the table hasn't got it.
const PublishedModel* find_published(const PublishedPrices& table, std::string_view model);

}  // namespace outcomed
