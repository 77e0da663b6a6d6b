// The gateway's own prices: within what the provider publishes, one price for one model, complete.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "daemon/config/words.h"
#include "daemon/gateway/checks.h"
#include "daemon/gateway/identity.h"
#include "daemon/gateway/names.h"
#include "queries/base/ascii.h"

namespace outcomed {
namespace {

// YAML 1.1, which the gateway reads, takes 5e-06 for a text and 5.0e-06 for a number.
std::string yaml_number(double value) {
  std::string text = fmt::format("{:g}", value);
  const auto exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) {
    text.insert(exponent, ".0");
  }
  return text;
}

constexpr double kMillion = 1e6;
// Room for 2.7e-07 * 1e6 not being 0.27.
constexpr double kRounding = 1e-9;

struct PriceSetting {
  std::string_view key;  // Amount per token.
  std::string_view token_class;
};
constexpr std::array<PriceSetting, 5> kSettings = {{
    {"input_cost_per_token", "input"},
    {"output_cost_per_token", "output"},
    {"cache_read_input_token_cost", "cached_input"},
    {"cache_creation_input_token_cost", "cache_creation"},
    {"output_cost_per_reasoning_token", "reasoning"},
}};

struct OwnPrice {
  double per_million = 0;
  const GatewayValue* written = nullptr;
};
using OwnPrices = std::map<std::string_view, OwnPrice>;

OwnPrices own_prices(const GatewayDeployment& deployment) {
  OwnPrices prices;
  for (const PriceSetting& setting : kSettings) {
    const GatewayValue* value = deployment.setting(setting.key);
    const std::optional<double> amount = value ? as_number(*value) : std::nullopt;
    if (amount) prices[setting.token_class] = {*amount * kMillion, value};
  }
  return prices;
}

bool differ(double a, double b, double tolerance) {
  const double larger = std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) > larger * (tolerance + kRounding);
}

struct Published {
  const PublishedPrices* table = nullptr;
  const PublishedModel* model = nullptr;
};

class PriceCheck {
 public:
  PriceCheck(const GatewayConfig& config, const GatewayPolicy& policy)
      : config_(config), policy_(policy), tolerance_(policy.price_tolerance.value_or(0)) {}

  GatewayFindings run() {
    for (const GatewayDeployment& deployment : config_.deployments) {
      const OwnPrices prices = own_prices(deployment);
      const Published published = publication(deployment);
      check_bounds(deployment, prices, published);
      check_off_peak(deployment, published);
      check_classes(deployment, prices, published);
    }
    check_names();
    return std::move(findings_);
  }

 private:
  void add(const char* rule, FindingLevel level, const GatewaySpot& spot, std::string reason,
           std::string remedy) {
    findings_.push_back({rule, level, spot, std::move(reason), std::move(remedy)});
  }

  // The provider's own table first; under a prefix that only names a protocol, any table that has
  // the model.
  [[nodiscard]] Published publication(const GatewayDeployment& deployment) const {
    if (is_in_the_house(deployment, policy_)) return {};
    const std::string model = priced_model(deployment);
    const std::string prefix(provider_prefix(model));
    const std::string_view bare = prefix.empty() ? std::string_view(model) : without_prefix(model);
    const std::string provider =
        prefix.empty() ? lower_case(provider_prefix(deployment.model)) : prefix;
    Published own;
    Published other;
    for (const PublishedPrices& table : policy_.prices) {
      const PublishedModel* found = find_published(table, bare);
      if (!found) found = find_published(table, model);
      if (lower_case(table.provider) == provider) {
        own = {&table, found};
      } else if (found && !other.model) {
        other = {&table, found};
      }
    }
    if (own.model) return own;
    if (provider.empty() || is_protocol_prefix(provider)) return other.model ? other : own;
    return own;
  }

  void check_bounds(const GatewayDeployment& deployment, const OwnPrices& prices,
                    const Published& published) {
    if (!published.table || prices.empty()) return;
    const std::string& provider = published.table->provider;
    if (!published.model) {
      add("price-outside-table", FindingLevel::note, prices.begin()->second.written->spot,
          fmt::format("the table of {} hasn't got {}: its prices are not compared", shown(provider),
                      shown(deployment.model)),
          "add the model, or an alias, to the policy's prices");
      return;
    }
    if (published.table->currency != "USD") {
      add("price-outside-table", FindingLevel::note, prices.begin()->second.written->spot,
          fmt::format("the table of {} is in {}, the gateway counts in USD: not compared",
                      shown(provider), shown(published.table->currency)),
          "write the table in USD");
      return;
    }
    for (const auto& [token_class, price] : prices) {
      compare(token_class, price.per_million, *price.written, published);
    }
  }

  void compare(std::string_view token_class, double per_million, const GatewayValue& written,
               const Published& published) {
    const auto bounds = published.model->prices.find(token_class);
    if (bounds == published.model->prices.end()) return;
    const auto& [lowest, highest] = bounds->second;
    const bool low = per_million < lowest && differ(per_million, lowest, tolerance_);
    const bool high = per_million > highest && differ(per_million, highest, tolerance_);
    if (!low && !high) return;
    const std::string range = lowest == highest ? fmt::format("{:g}", lowest)
                                                : fmt::format("{:g} to {:g}", lowest, highest);
    add("price-outside-table", FindingLevel::error, written.spot,
        fmt::format("{} is {:g} USD per million tokens; {} publishes {} for {}", token_class,
                    per_million, shown(published.table->provider), range,
                    shown(published.model->name)),
        fmt::format("write {}", yaml_number((low ? lowest : highest) / kMillion)));
  }

  void check_off_peak(const GatewayDeployment& deployment, const Published& published) {
    if (!deployment.stray_off_peak.empty()) {
      add("file-unread-setting", FindingLevel::warning,
          deployment.stray_off_peak.begin()->second.spot,
          "off_peak_pricing has no effect in litellm_params", "move it to model_info");
    }
    if (!published.model || published.table->currency != "USD") return;
    for (const PriceSetting& setting : kSettings) {
      const GatewayValue* value = value_at(deployment.off_peak_pricing, setting.key);
      const std::optional<double> amount = value ? as_number(*value) : std::nullopt;
      if (amount) compare(setting.token_class, *amount * kMillion, *value, published);
    }
  }

  void check_classes(const GatewayDeployment& deployment, const OwnPrices& prices,
                     const Published& published) {
    if (!prices.contains("input") && !prices.contains("output")) return;
    std::vector<std::string> missing;
    for (const PriceSetting& setting : kSettings) {
      // Reasoning tokens are output tokens unless they have a price of their own.
      if (prices.contains(setting.token_class) || setting.token_class == "reasoning") continue;
      const bool main = setting.token_class == "input" || setting.token_class == "output";
      if (main || (published.model && published.model->prices.contains(setting.token_class))) {
        missing.emplace_back(setting.key);
      }
    }
    if (missing.empty()) return;
    add("price-class-missing", FindingLevel::warning, prices.begin()->second.written->spot,
        fmt::format("{} has prices of its own, but no {}: such tokens are booked for nothing or in "
                    "full, depending on the gateway's version",
                    shown(deployment.group.text), fmt::join(missing, ", ")),
        fmt::format("write {} too", fmt::join(missing, ", ")));
  }

  void check_names() {
    std::map<std::string, const GatewayDeployment*> first;
    for (const GatewayDeployment& deployment : config_.deployments) {
      if (deployment.model.empty() || deployment.model.find('*') != std::string::npos) continue;
      const std::string model = priced_model(deployment) + " at " + provider_of(deployment);
      const auto [known, fresh] = first.emplace(model, &deployment);
      if (!fresh) compare_names(*known->second, deployment);
    }
  }

  void compare_names(const GatewayDeployment& a, const GatewayDeployment& b) {
    const OwnPrices before = own_prices(a);
    const OwnPrices here = own_prices(b);
    const std::string other = fmt::format("{} (line {})", shown(a.group.text), a.spot.place.line);
    if (before.empty() != here.empty()) {
      add("price-differs", FindingLevel::warning,
          here.empty() ? b.spot : here.begin()->second.written->spot,
          fmt::format("{} has {} here, and {} as {}: two prices for one model", shown(b.model),
                      here.empty() ? "the gateway's built-in price" : "its own price",
                      here.empty() ? "its own price" : "the gateway's built-in price", other),
          "write the same prices under every name, or none");
      return;
    }
    for (const auto& [token_class, price] : here) {
      const auto same = before.find(token_class);
      if (same == before.end()) continue;
      if (!differ(same->second.per_million, price.per_million, tolerance_)) continue;
      add("price-differs", FindingLevel::error, price.written->spot,
          fmt::format("{}: {} is {:g} USD per million tokens as {}, and {:g} as {}", shown(b.model),
                      token_class, price.per_million, shown(b.group.text), same->second.per_million,
                      other),
          "write the same price under every name");
    }
  }

  const GatewayConfig& config_;
  const GatewayPolicy& policy_;
  double tolerance_;
  GatewayFindings findings_;
};

}  // namespace

GatewayFindings check_prices(const GatewayConfig& config, const GatewayPolicy& policy) {
  return PriceCheck(config, policy).run();
}

}  // namespace outcomed
