#include "detectors/price/price.h"

#include <gtest/gtest.h>

#include "detectors/price/findings.h"
#include "tests/detectors/price/traffic.h"

namespace outcomed {
namespace {

using testing::booked_at;
using testing::booked_rightly;
using testing::old_tariff;
using testing::PriceGroup;
using testing::usd;

Labels chat() {
  Labels labels;
  labels.set("model", "chat");
  labels.set("provider_model", "deepseek/deepseek-chat");
  return labels;
}

PriceGroup group(PriceParams params = {}) { return PriceGroup(std::move(params), chat()); }

TEST(Price, TrafficAtTheOldTariffIsBookedAtSixtyOnePercent) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(28 * 24, booked_at(old_tariff()));
  const Verdict verdict = chat_group.verdict();
  EXPECT_EQ(verdict.judgement, Judgement::breached);
  EXPECT_NEAR(verdict.measured, 0.61, 0.001);
  EXPECT_EQ(verdict.threshold, 0.98);
  EXPECT_EQ(verdict.k, 2416);
  EXPECT_EQ(verdict.n, 2416);
  EXPECT_EQ(verdict.sentence,
            "chat (provider_model=deepseek/deepseek-chat): 61 % of the expected cost was booked "
            "(0.4822 of 0.7905 USD) in the last 1d, 2 416 requests; 2 416 of 2 416 rows (100 %) "
            "are off by more than 2 %, all of them booked as a former tariff.");
}

TEST(Price, TheBlendOfTwentyEightDaysGivesTheirTotalWithinTheBounds) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(28 * 24, booked_at(old_tariff()));
  EXPECT_EQ(chat_group.fact("peak_share"), "60 % of the cost over 28 days");
  EXPECT_EQ(chat_group.fact("blended_price"),
            "input 0.2155, cached input 0.05586, output 0.8778 USD per million tokens");
  EXPECT_EQ(chat_group.fact("blended_total"),
            "22.13 of 22.13 USD (100.01 %) over 28 days; booked were 13.50");
}

TEST(Price, WhatTheBlendBooksIsRightForRulesThatKnowIt) {
  const TokenPrices blended{usd("0.2155"), usd("0.8778"), usd("0.05586"), {}, {}};
  PriceParams params;
  params.blended = true;
  PriceGroup knowing = group(params);
  knowing.feed_hours(28 * 24, booked_at(blended));
  EXPECT_EQ(knowing.verdict().judgement, Judgement::healthy) << knowing.verdict().sentence;
  PriceGroup strict = group();
  strict.feed_hours(28 * 24, booked_at(blended));
  EXPECT_EQ(strict.verdict().judgement, Judgement::breached) << "its rows are off hour by hour";
  EXPECT_NEAR(strict.verdict().measured, 1.0, 0.005);
}

TEST(Price, ABlendThatNoLongerFitsTheTrafficIsFoundOverWeeks) {
  PriceParams params;
  params.blended = true;
  PriceGroup chat_group = group(params);
  chat_group.feed_hours(6 * 24, booked_at(testing::off_peak_tariff()));
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::healthy) << "not a week yet";
  chat_group.feed_hours(24, booked_at(testing::off_peak_tariff()));
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::breached);
  EXPECT_NE(chat_group.verdict().sentence.find("over 7 days 63 % of the expected cost"),
            std::string::npos)
      << chat_group.verdict().sentence;
}

TEST(Price, BeyondBothTariffsIsOffForBlendedPricesToo) {
  PriceParams params;
  params.blended = true;
  PriceGroup chat_group = group(params);
  chat_group.feed_hours(24, booked_at({usd("1"), usd("4"), {}, {}, {}}));
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::breached);
  EXPECT_NE(chat_group.verdict().sentence.find("are outside off-peak and peak"), std::string::npos);
  EXPECT_EQ(chat_group.fact("bounds").substr(0, 40), "more than all of it at peak would cost: ");
}

TEST(Price, OfRightRowsIsHealthy) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(48, booked_rightly());
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::healthy);
  EXPECT_EQ(chat_group.verdict().measured, 1);
  EXPECT_EQ(chat_group.verdict().sentence,
            "chat (provider_model=deepseek/deepseek-chat): 100 % of the expected cost was booked "
            "(0.7905 of 0.7905 USD) in the last 1d, 2 416 requests.");
}

TEST(Price, SaysWhatARowCosts) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(24, booked_at(old_tariff()));
  EXPECT_EQ(chat_group.fact("cost_per_billed_row"), "0.0001996 USD");
}

TEST(Price, AChangeOfTariffIsFoundSinceItsHour) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(72, booked_rightly());
  const Timestamp change = chat_group.next();
  chat_group.feed_hours(1, booked_at(old_tariff()));
  EXPECT_TRUE(chat_group.fold().breached())
      << "122 rows of 2 416 are off, though the sum isn't yet";
  EXPECT_EQ(chat_group.fold().onset(), change);
  chat_group.feed_hours(30, booked_at(old_tariff()));
  EXPECT_EQ(chat_group.fold().onset(), change) << "the breach goes on";
}

TEST(Price, IsHealthyAgainADayAfterTheRemedy) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(48, booked_at(old_tariff()));
  chat_group.feed_hours(23, booked_rightly());
  EXPECT_TRUE(chat_group.fold().breached());
  chat_group.feed_hours(1, booked_rightly());
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::healthy);
}

TEST(Price, TokensWithoutCostAreFoundWithAndWithoutATable) {
  const auto nothing = [](const SpendRow&, const PricedRow&) { return Money{}; };
  PriceGroup known = group();
  known.feed_hours(24, nothing);
  EXPECT_EQ(known.verdict().judgement, Judgement::breached);
  EXPECT_NE(known.verdict().sentence.find("2 416 of 2 416 rows (100 %) have tokens and no cost"),
            std::string::npos)
      << known.verdict().sentence;
  PriceGroup unknown({}, chat(), std::chrono::hours(1), std::make_shared<const PriceTables>());
  unknown.feed_hours(24, nothing);
  EXPECT_EQ(unknown.verdict().judgement, Judgement::breached);
}

TEST(Price, FailuresWithEstimatedTokensAndNoCostRaiseNothing) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(23, booked_rightly());
  SpendRow failed;
  failed.provider_model = "deepseek/deepseek-chat";
  failed.failed = true;
  failed.tokens = {8, 0, 0, 0, 0};
  failed.at = chat_group.next();
  SpendAmounts hour;
  for (int i = 0; i < 5000; ++i) hour.add(failed, price_row(*testing::published(), failed));
  chat_group.feed({hour});
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::healthy);
  EXPECT_EQ(chat_group.fact("requests"), "7 294");
}

TEST(Price, CostsWithoutAPriceAreSetAside) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(23, booked_rightly());
  SpendAmounts hour;
  SpendRow stranger;
  stranger.provider_model = "nobody/knows";
  stranger.tokens = {1000, 0, 0, 100, 0};
  stranger.recorded = usd("50");
  stranger.at = chat_group.next();
  hour.add(stranger, price_row(*testing::published(), stranger));
  chat_group.feed({hour});
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::healthy);
  EXPECT_EQ(chat_group.fact("without_price"), "50.00 USD");
  EXPECT_EQ(chat_group.fact("rows_unknown"), "1");
}

TEST(Price, FewRowsOrLittleCostAreNotJudged) {
  PriceGroup nobody = group();
  EXPECT_EQ(nobody.verdict().judgement, Judgement::no_data);
  nobody.feed({SpendAmounts{}});
  EXPECT_EQ(nobody.verdict().judgement, Judgement::too_few);
  EXPECT_TRUE(nobody.fold().idle());
  PriceParams params;
  params.least_cost = usd("1");
  PriceGroup cheap = group(params);
  cheap.feed_hours(24, booked_at(old_tariff()));
  EXPECT_EQ(cheap.verdict().judgement, Judgement::too_few);
  EXPECT_FALSE(cheap.fold().breached());
}

TEST(Price, TwoRowsThatAreOffAreNoAlert) {
  SpendAmounts hour;
  hour.add(SpendKind::requests, 22);
  hour.add(SpendKind::rows_priced, 20);
  hour.add(SpendKind::rows_off, 2);
  hour.add(SpendKind::recorded_cost, 1'010'000);
  hour.add(SpendKind::expected_cost, 1'000'000);
  PriceGroup quiet = group();
  quiet.feed({hour});
  EXPECT_EQ(quiet.verdict().judgement, Judgement::healthy);
  hour.add(SpendKind::rows_off, 1);
  quiet.feed({hour});
  EXPECT_EQ(quiet.verdict().judgement, Judgement::breached);
}

TEST(Price, ExactlyTwoPercentIsWithinTheTolerance) {
  const auto judged = [](std::int64_t recorded) {
    SpendAmounts hour;
    hour.add(SpendKind::requests, 100);
    hour.add(SpendKind::rows_priced, 100);
    hour.add(SpendKind::recorded_cost, recorded);
    hour.add(SpendKind::expected_cost, 1'000'000);
    PriceGroup edge = group();
    edge.feed({hour});
    return edge.verdict().judgement;
  };
  EXPECT_EQ(judged(980'000), Judgement::healthy);
  EXPECT_EQ(judged(1'020'000), Judgement::healthy);
  EXPECT_EQ(judged(979'999), Judgement::breached);
  EXPECT_EQ(judged(1'020'001), Judgement::breached);
}

TEST(Price, AStepThatNobodySawIsNoJudgement) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(24, booked_at(old_tariff()));
  const std::string before = chat_group.fact("recorded");
  SpendAmounts lies;
  lies.add(SpendKind::recorded_cost, 1'000'000'000'000);
  chat_group.feed({lies}, Coverage::missing);
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::no_data);
  EXPECT_FALSE(chat_group.fold().breached());
  EXPECT_NE(chat_group.fact("recorded"), before) << "time passes all the same";
  chat_group.feed({SpendAmounts{}}, Coverage::partial);
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::partial);
  chat_group.feed_hours(1, booked_at(old_tariff()));
  EXPECT_EQ(chat_group.verdict().judgement, Judgement::breached);
}

TEST(Price, OneModelUnderTwoNamesWithTwoPricesIsFound) {
  PriceParams params;
  params.compare = "model";
  params.tolerance = 0.5;  // The names, not the sum.
  params.rows_off.reset();
  PriceGroup names(params, Labels{});
  // The first kinds carry no name; then one set each.
  names.add_kinds("chat");
  names.add_kinds("chat-cheap");
  const auto cost = [](std::int64_t recorded) {
    SpendAmounts hour;
    hour.add(SpendKind::requests, 100);
    hour.add(SpendKind::rows_priced, 100);
    hour.add(SpendKind::recorded_cost, recorded);
    hour.add(SpendKind::expected_cost, 1'000'000'000);
    return hour;
  };
  names.feed(names.next(), {{{}, cost(1'000'000'000), cost(1'400'000'000)}});
  EXPECT_EQ(names.verdict().judgement, Judgement::healthy);
  names.feed(names.next(), {{{}, cost(1'000'000'000), cost(200'000'000)}});
  names.feed(names.next(), {{{}, cost(1'000'000'000), cost(0)}});
  EXPECT_EQ(names.verdict().judgement, Judgement::healthy) << "53 % and 100 %";
  names.feed(names.next(), {{{}, cost(1'000'000'000), cost(0)}});
  EXPECT_EQ(names.verdict().judgement, Judgement::breached);
  EXPECT_EQ(names.verdict().sentence,
            "whole gateway: 70 % of the expected cost was booked (5.60 of 8.00 USD) in the last "
            "1d, 800 requests; chat-cheap is booked at 40 % and chat at 100 %.");
  EXPECT_EQ(names.fact("model=chat-cheap"),
            "40 % of the expected cost was booked (1.60 of 4.00 USD)");
}

TEST(Price, ManyNamesDoNotEatTheMemory) {
  PriceParams params;
  params.compare = "model";
  PriceGroup names(params, Labels{});
  for (int i = 0; i < 200; ++i) names.add_kinds("name-" + std::to_string(i));
  SpendAmounts hour;
  hour.add(SpendKind::requests, 1);
  hour.add(SpendKind::recorded_cost, 5);
  names.feed(names.next(), {std::vector<SpendAmounts>(201, hour)});
  EXPECT_EQ(names.fact("requests"), "201") << "all of them count in the total";
  std::size_t shown = 0;
  for (const auto& [name, value] : names.verdict().facts)
    shown += name.starts_with("model=") ? 1 : 0;
  EXPECT_LE(shown, 64U);
}

TEST(Price, StreamsWithEstimatedTokensAreFoundOnRequest) {
  PriceParams params;
  params.without_details = 0.1;
  const auto judged = [&](std::int64_t bare) {
    SpendAmounts hour;
    hour.add(SpendKind::requests, 100);
    hour.add(SpendKind::rows_priced, 100);
    hour.add(SpendKind::recorded_cost, 100);
    hour.add(SpendKind::expected_cost, 100);
    hour.add(SpendKind::rows_bare, bare);
    PriceGroup chat_group = group(params);
    chat_group.feed({hour});
    return chat_group.verdict().judgement;
  };
  EXPECT_EQ(judged(10), Judgement::healthy);
  EXPECT_EQ(judged(41), Judgement::breached);
  EXPECT_EQ(judged(100), Judgement::healthy) << "a provider that gives none to anybody";
}

TEST(Price, CutsOfRunsAndRestartsChangeNothing) {
  PriceGroup whole = group();
  PriceGroup cut = group();
  PriceGroup restarted = group();
  whole.feed_hours(40, booked_at(old_tariff()));
  whole.feed_hours(7, booked_rightly());
  for (int i = 0; i < 40; ++i) cut.feed_hours(1, booked_at(old_tariff()));
  for (int i = 0; i < 7; ++i) cut.feed_hours(1, booked_rightly());
  restarted.feed_hours(33, booked_at(old_tariff()));
  const std::string bytes = restarted.saved();
  auto second = PriceGroup({}, chat());
  // The members come back with the memory: a fresh fold is told of none.
  auto fold = second.detector().start(chat());
  Reader reader(bytes);
  ASSERT_TRUE(fold->load(reader));
  EXPECT_TRUE(reader.at_end());
  Writer again;
  fold->save(again);
  EXPECT_EQ(again.bytes(), bytes);
  EXPECT_EQ(cut.saved(), whole.saved());
  EXPECT_EQ(cut.verdict().sentence, whole.verdict().sentence);
  EXPECT_EQ(fold->verdict(0).sentence, restarted.verdict().sentence);
}

TEST(Price, RefusesAMemoryOfAnotherShape) {
  PriceParams params;
  params.window = std::chrono::hours(6);
  PriceGroup small(params, chat());
  small.feed_hours(3, booked_rightly());
  PriceGroup large = group();
  const std::string saved = small.saved();
  Reader reader(saved);
  EXPECT_FALSE(large.detector().start(chat())->load(reader));
  for (const std::string& bytes : {std::string(), std::string(40, '\x7f'), std::string(9, '\0')}) {
    Reader broken(bytes);
    EXPECT_FALSE(large.detector().start(chat())->load(broken));
  }
}

TEST(Price, MinutesAreKeptInQuartersOfAnHour) {
  PriceGroup minutes({}, chat(), std::chrono::minutes(1));
  EXPECT_EQ(minutes.detector().slot(), std::chrono::minutes(15));
  EXPECT_EQ(minutes.detector().slots(), 96U);
  SpendAmounts minute;
  minute.add(SpendKind::requests, 1);
  minutes.feed(std::vector<SpendAmounts>(24 * 60, minute));
  EXPECT_EQ(minutes.fact("requests"), "1 440");
  minutes.feed(std::vector<SpendAmounts>(24 * 60, minute));
  EXPECT_EQ(minutes.fact("requests"), "1 440");
}

TEST(Price, HostileAmountsDoNotOverflow) {
  SpendAmounts hour;
  for (std::size_t i = 0; i < kSpendKinds; ++i) {
    hour.values[i] = std::numeric_limits<std::int64_t>::max();
  }
  PriceGroup huge = group();
  huge.feed(std::vector<SpendAmounts>(40, hour));
  EXPECT_FALSE(huge.verdict().sentence.empty());
  for (std::int64_t& value : hour.values) value = std::numeric_limits<std::int64_t>::min() + 1;
  huge.feed(std::vector<SpendAmounts>(60, hour));
  EXPECT_FALSE(huge.verdict().sentence.empty());
  huge.feed(std::vector<SpendAmounts>(24 * 30, SpendAmounts{}));
  EXPECT_TRUE(huge.fold().idle());
}

TEST(Price, SaysHowOldItsTableIs) {
  PriceGroup chat_group = group();
  chat_group.feed_hours(24, booked_rightly());
  EXPECT_EQ(chat_group.fact("price_table"),
            "deepseek-chat of deepseek, read on 2026-02-01 (30 days ago)");
}

}  // namespace
}  // namespace outcomed
