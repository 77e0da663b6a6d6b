#include "daemon/config/prices.h"

#include <gtest/gtest.h>

#include "tests/daemon/config/test_catalogs.h"

namespace outcomed {
namespace {

using testing::load_text;

constexpr std::string_view kRest =
    "sources: {rec: {kind: recording, path: /x}}\n"
    "signals: {spend: {source: rec, labels: [model, kind], step: 1h}}\n"
    "rules: []\n";

// Local time five hours behind UTC, the whole year.
class Bogota final : public TimeZone {
 public:
  [[nodiscard]] Duration offset(Timestamp) const override { return -std::chrono::hours(5); }
};

class OneZone final : public TimeZones {
 public:
  [[nodiscard]] std::shared_ptr<const TimeZone> find(std::string_view name) const override {
    return name == "America/Bogota" ? std::make_shared<Bogota>() : nullptr;
  }
};

LoadedConfig load(std::string_view prices) {
  static const Catalogs catalogs = [] {
    Catalogs copy = testing::test_catalogs();
    copy.zones = std::make_shared<OneZone>();
    return copy;
  }();
  return load_text(std::string(kRest) + std::string(prices), catalogs);
}

// The problems of one table, whose first line is the file's fourth.
std::string problems_of(std::string_view prices) { return to_text(load(prices).problems); }

// Of one model of a table without faults.
std::string problems_of_model(const std::string& model) {
  return problems_of(
      "prices: [{provider: p, currency: USD, calendar: {peak: [\"08:00-09:00\"]}, "
      "models: {\n m: " +
      model + "}}]\n");
}

Timestamp at(std::string_view text) { return *parse_timestamp(text); }

constexpr std::string_view kTables = R"yaml(
prices:
  - provider: deepseek
    currency: USD
    source: "https://example.org/pricing"
    read_on: 2026-01-01
    models:
      deepseek-chat:
        flat: {input: 0.14, output: "0.28", cached_input: 0.014 USD}
        valid_to: 2026-01-31
  - provider: deepseek
    currency: USD
    read_on: 2026-10-01
    stale_after: 30d
    calendar: {time_zone: America/Bogota, peak: ["mon-fri 00:30-16:30"]}
    models:
      deepseek-chat:
        aliases: ["ds-*"]
        peak:     {input: 0.27,  cached_input: 0.07,  output: 1.10, cache_creation: 0.3, reasoning: 2}
        off_peak: {input: 0.135, cached_input: 0.035, output: 0.55}
        valid_from: 2026-02-01
      free-one: {flat: {input: 0, output: 0}}
)yaml";

TEST(Prices, AreReadExactly) {
  const LoadedConfig loaded = load(kTables);
  ASSERT_EQ(to_text(loaded.problems), "");
  const PriceTables& tables = *loaded.config.prices.tables;
  ASSERT_EQ(tables.tables().size(), 2U);
  EXPECT_EQ(tables.currency(), "USD");
  const PriceTable& now = tables.tables()[1];
  EXPECT_EQ(now.provider, "deepseek");
  EXPECT_EQ(now.read_on, at("2026-10-01"));
  EXPECT_EQ(tables.tables()[0].source, "https://example.org/pricing");
  EXPECT_EQ(now.models[0].peak.output.nano, 1'100'000'000);
  EXPECT_EQ(now.models[0].peak.thinking().nano, 2'000'000'000);
  EXPECT_EQ(now.models[0].off_peak.creation().nano, 135'000'000);
  EXPECT_TRUE(now.models[1].is_flat());
}

TEST(Prices, DaysAreTheProvidersAndTheLastOneIsIn) {
  const LoadedConfig loaded = load(kTables);
  const PriceTables& tables = *loaded.config.prices.tables;
  const auto read_on = [&](std::string_view when) {
    const auto entry = tables.find("deepseek-chat", at(when));
    return entry ? format_rfc3339(*entry->table->read_on).substr(0, 10) : "";
  };
  EXPECT_EQ(read_on("2026-01-31T23:59:59Z"), "2026-01-01");
  EXPECT_EQ(read_on("2026-02-01T04:59:59Z"), "") << "neither: the older table knows no zone";
  EXPECT_EQ(read_on("2026-02-01T05:00:00Z"), "2026-10-01");
  EXPECT_TRUE(tables.tables()[1].calendar.is_peak(at("2026-11-30T05:30:00Z")));
  EXPECT_FALSE(tables.tables()[1].calendar.is_peak(at("2026-11-30T05:29:00Z")));
}

TEST(Prices, AreToldToRules) {
  const LoadedConfig loaded = load_text(
      "sources: {rec: {kind: recording, path: /x}}\n"
      "signals: {spend: {source: rec, labels: [model, kind], step: 1h}}\n"
      "rules: [{name: drift, kind: price, signal: spend, by: [model], min_cost: 1 USD}]\n"
      "prices: [{provider: p, currency: USD, models: {m: {flat: {input: 1, output: 1}}}}]\n");
  EXPECT_EQ(to_text(loaded.problems), "");
  const LoadedConfig other = load_text(
      "sources: {rec: {kind: recording, path: /x}}\n"
      "signals: {spend: {source: rec, labels: [model], step: 1h}}\n"
      "rules:\n"
      "- {name: a, kind: price, signal: spend, min_cost: 1 EUR}\n"
      "- {name: b, kind: price, signal: spend, min_cost: little}\n"
      "prices: [{provider: p, currency: USD, models: {m: {flat: {input: 1, output: 1}}}}]\n");
  const std::string text = to_text(other.problems);
  EXPECT_NE(text.find("rules[0].min_cost: \"1 EUR\" is not in the currency of the price tables"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("rules[1].min_cost: not an amount; write for example 2.50"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("price needs the label kind"), std::string::npos) << text;
}

TEST(Prices, OldTablesAreNoted) {
  const LoadedConfig loaded = load(kTables);
  const PricesConfig& prices = loaded.config.prices;
  EXPECT_EQ(to_text(price_table_notes(prices, at("2026-10-31"))),
            "outcomed.yaml:9:14: prices[0].read_on: the prices of deepseek were read 303 days "
            "ago; read them again: https://example.org/pricing\n");
  EXPECT_EQ(price_table_notes(prices, at("2026-11-01")).size(), 2U);
  EXPECT_EQ(price_table_notes(prices, at("2026-01-02")).size(), 1U) << "October is to come";
  EXPECT_EQ(price_table_notes({}, at("2026-01-02")).size(), 0U);
}

TEST(Prices, NoneIsNone) {
  EXPECT_EQ(load("").config.prices.tables, nullptr);
  EXPECT_EQ(problems_of("prices: []\n"), "");
}

TEST(Prices, SayWhatIsWrongWithATable) {
  EXPECT_EQ(problems_of("prices: {}\n"),
            "outcomed.yaml:4:9: prices: is a mapping; write a list: [{provider: deepseek, "
            "currency: USD, models: {…}}]\n");
  EXPECT_EQ(problems_of("prices: [x]\n"),
            "outcomed.yaml:4:10: prices[0]: is a single value; write a mapping such as "
            "{provider: deepseek, currency: USD, models: {…}}\n");
  EXPECT_EQ(problems_of("prices: [{}]\n"),
            "outcomed.yaml:4:10: prices[0].currency: is missing; write for example USD\n"
            "outcomed.yaml:4:10: prices[0].models: is missing; write a mapping from models to "
            "prices: {deepseek-chat: {flat: {input: 0.28, output: 0.42}}}\n"
            "outcomed.yaml:4:10: prices[0].provider: is missing; name the provider as the gateway "
            "does, such as deepseek\n");
  EXPECT_EQ(problems_of("prices: [{provider: p, currency: usd, readon: 2026-01-01, read_on: "
                        "yesterday, models: {m: {flat: {input: 1, output: 1}}}}]\n"),
            "outcomed.yaml:4:34: prices[0].currency: \"usd\" is not a currency; did you mean "
            "USD?\n"
            "outcomed.yaml:4:39: prices[0].readon: unknown key; did you mean read_on?\n"
            "outcomed.yaml:4:68: prices[0].read_on: yesterday is not a day; write for example "
            "2026-10-01\n");
  EXPECT_EQ(
      problems_of("prices:\n"
                  "- {provider: p, currency: USD, models: {m: {flat: {input: 1, output: 1}}}}\n"
                  "- {provider: q, currency: CNY, models: {m: {flat: {input: 1, output: 1}}}}\n"),
      "outcomed.yaml:6:27: prices[1].currency: CNY differs from that of the first table "
      "(USD); a gateway books in one currency: write all tables in that one\n");
}

TEST(Prices, SayWhatIsWrongWithACalendar) {
  EXPECT_EQ(problems_of("prices: [{provider: p, currency: USD, calendar: {time_zone: Mars/Base, "
                        "peak: [mon-fri, \"10:00-9:00\"]}, models: {m: {flat: {input: 1, output: "
                        "1}}}}]\n"),
            "outcomed.yaml:4:61: prices[0].calendar.time_zone: \"Mars/Base\" is no time zone; "
            "write an IANA name, such as Asia/Shanghai or UTC\n"
            "outcomed.yaml:4:79: prices[0].calendar.peak[0]: mon-fri: not two times of day; write "
            "hours and minutes of two digits each, as in 00:30-16:30\n"
            "outcomed.yaml:4:88: prices[0].calendar.peak[1]: \"10:00-9:00\": not two times of day; "
            "write hours and minutes of two digits each, as in 00:30-16:30\n");
  EXPECT_EQ(problems_of("prices: [{provider: p, currency: USD, calendar: {}, models: {m: {flat: "
                        "{input: 1, output: 1}}}}]\n"),
            "outcomed.yaml:4:49: prices[0].calendar.peak: is missing; write for example peak: "
            "[\"mon-fri 00:30-16:30\"]\n");
  EXPECT_EQ(problems_of("prices: [{provider: p, currency: USD, models: {m: {peak: {input: 1, "
                        "output: 1}, off_peak: {input: 1, output: 1}}}}]\n"),
            "outcomed.yaml:4:91: prices[0].models.m.off_peak: the table doesn't say when peak "
            "hours are; write calendar: {time_zone: UTC, peak: [\"mon-fri 00:30-16:30\"]} beside "
            "models\n");
}

TEST(Prices, SayWhatIsWrongWithAModel) {
  EXPECT_EQ(problems_of_model("{}"),
            "outcomed.yaml:5:5: prices[0].models.m: has no prices; write flat: {…}, or peak: {…} "
            "and off_peak: {…}\n");
  EXPECT_EQ(problems_of_model("{flat: {input: 1}}"),
            "outcomed.yaml:5:12: prices[0].models.m.flat.output: is missing; write the amount per "
            "million tokens\n");
  EXPECT_EQ(problems_of_model("{peak: {input: 1, output: 1}}"),
            "outcomed.yaml:5:12: prices[0].models.m.peak: needs off_peak beside it; write both, "
            "or flat for one price at all hours\n");
  EXPECT_EQ(problems_of_model("{flat: {input: 1, output: 1}, peak: {input: 1, output: 1}}"),
            "outcomed.yaml:5:12: prices[0].models.m.flat: stands beside prices by hours; keep "
            "either flat, or peak and off_peak\n");
  EXPECT_EQ(problems_of_model("{flat: {input: 1, output: 1, cached: 1}}"),
            "outcomed.yaml:5:34: prices[0].models.m.flat.cached: unknown key; known here: "
            "input, cached_input, cache_creation, output, reasoning\n");
  EXPECT_EQ(problems_of_model("{flat: {input: 1, output: 1}, valid_from: 2026-02-01, valid_to: "
                              "2026-01-31}"),
            "outcomed.yaml:5:69: prices[0].models.m.valid_to: lies before valid_from; write the "
            "last day of these prices\n");
  EXPECT_EQ(problems_of_model("{flat: {input: [1], output: ~}}"),
            "outcomed.yaml:5:20: prices[0].models.m.flat.input: is a list; write a text\n"
            "outcomed.yaml:5:25: prices[0].models.m.flat.output: has no value; remove the key, or "
            "write a text\n");
}

TEST(Prices, SayWhatIsWrongWithAnAmount) {
  const auto amount = [](const std::string& text) {
    const std::string all = problems_of_model("{flat: {output: 1, input: " + text + "}}");
    const std::string_view prefix = "outcomed.yaml:5:31: prices[0].models.m.flat.input: ";
    EXPECT_TRUE(all.starts_with(prefix)) << all;
    return all.substr(std::min(prefix.size(), all.size()));
  };
  EXPECT_EQ(amount("-1"), "-1: a price is never negative; write 0 for what costs nothing\n");
  EXPECT_EQ(amount("2.50 EUR"),
            "EUR is not the currency of the table; write the amount in USD, without the "
            "currency\n");
  EXPECT_EQ(amount("2.5e-06"),
            "2.5e-06: not an amount; write digits and a point, per million tokens\n");
  EXPECT_EQ(amount("0.0000025"),
            "0.0000025 is absurdly little; amounts are per million tokens; is this per token? "
            "Then write 2.50\n");
  EXPECT_EQ(amount("25000"), "25000 is absurdly much; per million tokens?\n");
  EXPECT_EQ(amount("\"2,50\""),
            "\"2,50\": not an amount; write a point before the decimals, and no separators\n");
  EXPECT_EQ(amount("$2"), "\"$2\": not an amount; write for example 2.50\n");
}

TEST(Prices, PeriodsOfAModelDoNotOverlap) {
  EXPECT_EQ(
      problems_of("prices:\n"
                  "- {provider: p, currency: USD, models: {m: {flat: {input: 1, output: 1}}}}\n"
                  "- {provider: p, currency: USD, models: {m: {flat: {input: 2, output: 1}, "
                  "valid_from: 2026-02-01}}}\n"),
      "outcomed.yaml:6:41: prices[1].models.m: has another price for the same days at "
      "prices[0].models.m; write valid_to in the older table and valid_from in the newer "
      "one\n");
  EXPECT_EQ(
      problems_of("prices:\n"
                  "- {provider: p, currency: USD, models: {m: {flat: {input: 1, output: 1}}}}\n"
                  "- {provider: q, currency: USD, models: {m: {flat: {input: 2, output: 1}}}}\n"),
      "")
      << "another provider's";
}

TEST(Prices, AnAliasMeansOneModel) {
  EXPECT_EQ(problems_of("prices: [{provider: p, currency: USD, models: {m: {aliases: [x-*], flat: "
                        "{input: 1, output: 1}}, n: {aliases: [x-*, \"\"], flat: {input: 1, "
                        "output: 1}}}}]\n"),
            "outcomed.yaml:4:112: prices[0].models.n.aliases[0]: \"x-*\" stands for m already; an "
            "alias means one model of a provider\n"
            "outcomed.yaml:4:117: prices[0].models.n.aliases[1]: is empty; remove it\n");
}

TEST(Prices, OddNamesOfModels) {
  EXPECT_EQ(problems_of("prices: [{provider: p, currency: USD, models: {\"gpt-*\": {flat: {input: "
                        "1, output: 1}}}}]\n"),
            "outcomed.yaml:4:48: prices[0].models[\"gpt-*\"]: \"gpt-*\" can't be a model's name; "
            "no blanks; patterns with * belong into aliases\n");
  EXPECT_EQ(problems_of("prices: [{provider: p, currency: USD, models: {\"openai/gpt-4o:free\": "
                        "{flat: {input: 1, output: 1}}}}]\n"),
            "");
}

}  // namespace
}  // namespace outcomed
