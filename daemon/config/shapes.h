// The settings of every part of a configuration, as shapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemon/config/catalogs.h"
#include "daemon/config/settings.h"

namespace outcomed {

// A kind of source, rule or receiver.
struct KindShape {
  std::string kind;
  std::string summary;
  std::vector<Setting> settings;
};

struct ConfigShape {
  std::vector<Setting> source;  // Common to all kinds, but for `delay`, which stands with each.
  std::vector<KindShape> sources;
  std::vector<Setting> litellm;
  std::vector<Setting> signal;
  std::vector<Setting> rule;  // Common to all kinds.
  std::vector<KindShape> rules;
  std::vector<KindShape> receivers;
  std::vector<Setting> route;
  std::vector<Setting> store;
  std::vector<Setting> http;
  std::vector<Setting> price_table;  // Without its models.
  std::vector<Setting> priced_model;
  std::vector<Setting> heartbeat;
};

ConfigShape config_shape(const Catalogs& catalogs);

}  // namespace outcomed
