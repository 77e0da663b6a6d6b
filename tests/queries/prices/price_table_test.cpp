#include "queries/prices/price_table.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

using std::chrono_literals::operator""h;

const Timestamp kNow = *parse_timestamp("2026-11-30T12:00:00Z");

PricedModel model(std::string name, std::vector<std::string> aliases = {}) {
  PricedModel out;
  out.name = std::move(name);
  out.aliases = std::move(aliases);
  return out;
}

PriceTable table(std::string provider, std::vector<PricedModel> models) {
  PriceTable out;
  out.provider = std::move(provider);
  out.currency = "USD";
  out.models = std::move(models);
  return out;
}

std::string found(const PriceTables& tables, std::string_view name, Timestamp at = kNow) {
  const auto entry = tables.find(name, at);
  return entry ? entry->table->provider + ":" + entry->model->name : "";
}

TEST(PriceTable, FindsByNameWithOrWithoutTheProvidersPrefix) {
  const PriceTables tables({table("deepseek", {model("deepseek-chat")})});
  EXPECT_EQ(found(tables, "deepseek-chat"), "deepseek:deepseek-chat");
  EXPECT_EQ(found(tables, "deepseek/deepseek-chat"), "deepseek:deepseek-chat");
  EXPECT_EQ(found(tables, "openai/deepseek-chat"), "");
  EXPECT_EQ(found(tables, "openrouter/deepseek/deepseek-chat"), "");
  EXPECT_EQ(found(tables, "deepseek/"), "");
  EXPECT_EQ(found(tables, ""), "");
}

TEST(PriceTable, TheNameWinsOverAliasesAndTheLongestAliasOverOthers) {
  const PriceTables tables({table("p", {model("any", {"*"}), model("gpt", {"gpt-4o*", "judge"}),
                                        model("mini", {"gpt-4o-mini*"}), model("gpt-4o-mini-x")})});
  EXPECT_EQ(found(tables, "gpt-4o-2024"), "p:gpt");
  EXPECT_EQ(found(tables, "gpt-4o-mini-2024"), "p:mini");
  EXPECT_EQ(found(tables, "gpt-4o-mini-x"), "p:gpt-4o-mini-x");
  EXPECT_EQ(found(tables, "p/judge"), "p:gpt");
  EXPECT_EQ(found(tables, "llama"), "p:any");
}

TEST(PriceTable, FindsThePeriodThatIsInForce) {
  PricedModel old = model("chat");
  old.valid_to = kNow;
  PricedModel young = model("chat");
  young.valid_from = kNow;
  const PriceTables tables({table("old", {old}), table("young", {young})});
  EXPECT_EQ(found(tables, "chat", kNow - Duration(1)), "old:chat");
  EXPECT_EQ(found(tables, "chat", kNow), "young:chat");
  EXPECT_EQ(tables.all("chat").size(), 2U);
}

TEST(PriceTable, AClassWithoutAPriceCostsWhatItsKindCosts) {
  const TokenPrices prices{Money{2}, Money{8}, std::nullopt, std::nullopt, std::nullopt};
  EXPECT_EQ(prices.cached(), Money{2});
  EXPECT_EQ(prices.creation(), Money{2});
  EXPECT_EQ(prices.thinking(), Money{8});
}

TEST(PriceTable, GrowsOld) {
  PriceTable old = table("p", {});
  EXPECT_FALSE(old.is_stale(kNow)) << "nobody says when it was read";
  old.read_on = kNow - 24h * 90;
  EXPECT_FALSE(old.is_stale(kNow));
  EXPECT_TRUE(old.is_stale(kNow + Duration(1)));
}

TEST(PriceTable, IsWrittenOut) {
  TokenPrices prices{Money{270'000'000}, Money{1'100'000'000}, Money{70'000'000}, std::nullopt,
                     std::nullopt};
  EXPECT_EQ(to_text(prices, "USD"),
            "input 0.27, cached input 0.07, output 1.10 USD per million tokens");
}

}  // namespace
}  // namespace outcomed
