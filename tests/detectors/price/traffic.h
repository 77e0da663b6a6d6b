// Rows of a ledger, hour by hour, for tests of the price rule.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "detectors/price/price.h"
#include "queries/prices/spend.h"

namespace outcomed::testing {

inline Money usd(const char* text) { return *parse_money(text); }

// A provider that took one price at all hours until the end of January, and takes twice as much
// from 00:30 to 16:30 since.
inline TokenPrices old_tariff() { return {usd("0.14"), usd("0.55"), usd("0.014"), {}, {}}; }
inline TokenPrices peak_tariff() { return {usd("0.27"), usd("1.10"), usd("0.07"), {}, {}}; }
inline TokenPrices off_peak_tariff() { return {usd("0.135"), usd("0.55"), usd("0.035"), {}, {}}; }

inline std::shared_ptr<const PriceTables> published() {
  PriceTable old;
  old.provider = "deepseek";
  old.currency = "USD";
  PricedModel model;
  model.name = "deepseek-chat";
  model.aliases = {"ds-*"};
  model.valid_to = *parse_timestamp("2026-02-01");
  model.peak = model.off_peak = old_tariff();
  old.models = {model};
  PriceTable now = old;
  EXPECT_TRUE(now.calendar.peak.add("00:30-16:30"));
  now.read_on = *parse_timestamp("2026-02-01");
  model.valid_from = model.valid_to;
  model.valid_to = Timestamp::max();
  model.peak = peak_tariff();
  model.off_peak = off_peak_tariff();
  now.models = {model};
  return std::make_shared<const PriceTables>(std::vector<PriceTable>{old, now});
}

// What the gateway books for a row; the expected cost is given.
using Booking = std::function<Money(const SpendRow& row, const PricedRow& truth)>;

inline Booking booked_at(TokenPrices prices) {
  return [prices](const SpendRow& row, const PricedRow&) {
    return cost_of(prices, billable(row.tokens));
  };
}
inline Booking booked_rightly() {
  return [](const SpendRow&, const PricedRow& truth) { return truth.expected; };
}

// One hour: 90 requests an hour at peak, 122 off-peak, so that 59.6 % of the tokens fall into it.
inline SpendAmounts hour_of(RowPricer& pricer, Timestamp hour, const Booking& booking) {
  SpendAmounts amounts;
  for (int half = 0; half < 2; ++half) {
    SpendRow row;
    row.provider_model = "deepseek/deepseek-chat";
    row.at = hour + std::chrono::minutes(30) * half;
    row.tokens = {1000, 400, 0, 200, 50};
    const PricedRow truth = pricer.price(row);
    row.recorded = booking(row, truth);
    const PricedRow priced = pricer.price(row);
    const int rows = truth.at_peak ? 45 : 61;
    for (int i = 0; i < rows; ++i) amounts.add(row, priced);
  }
  return amounts;
}

// A fold that is fed amounts, one step after the other.
class PriceGroup {
 public:
  PriceGroup(PriceParams params, Labels group, Duration step = std::chrono::hours(1),
             std::shared_ptr<const PriceTables> prices = published())
      : step_(step), pricer_(prices) {
    SignalWords words;
    words.step = step;
    words.prices = std::move(prices);
    detector_ = std::make_unique<PriceDetector>(std::move(params), std::move(words));
    fold_ = detector_->start(group);
    add_kinds();
  }

  // One member for each kind, of one value of `compare` where there is one.
  void add_kinds(const std::string& name = {}) {
    for (std::size_t i = 0; i < kSpendKinds; ++i) {
      Labels labels;
      labels.set("kind", std::string(to_string(static_cast<SpendKind>(i))));
      if (!name.empty()) labels.set(detector_->params().compare, name);
      fold_->add_member(labels);
      ++members_;
    }
  }

  // Consecutive steps from `start`, as one run; each step has the amounts of all names.
  void feed(Timestamp start, const std::vector<std::vector<SpendAmounts>>& steps,
            Coverage coverage = Coverage::complete) {
    const std::size_t size = steps.size();
    std::vector<std::vector<std::int64_t>> columns(members_, std::vector<std::int64_t>(size, 0));
    const std::vector<std::int64_t> zeros(size, 0);
    const std::vector<Coverage> covered(size, coverage);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t name = 0; name < steps[i].size(); ++name) {
        for (std::size_t kind = 0; kind < kSpendKinds; ++kind) {
          columns[name * kSpendKinds + kind][i] = steps[i][name].values[kind];
        }
      }
    }
    std::vector<MemberRun> members;
    for (const auto& column : columns) members.push_back({column, zeros});
    const BucketRun run{start, step_, zeros, zeros, covered, members};
    for (std::size_t i = 0; i < size; ++i) fold_->advance(run, i);
    next_ = start + step_ * static_cast<std::int64_t>(size);
  }
  void feed(const std::vector<SpendAmounts>& steps, Coverage coverage = Coverage::complete) {
    std::vector<std::vector<SpendAmounts>> lists;
    for (const SpendAmounts& amounts : steps) lists.push_back({amounts});
    feed(next_, lists, coverage);
  }
  void start_at(Timestamp at) { next_ = at; }
  // Hours of the traffic above, booked in one way.
  void feed_hours(int hours, const Booking& booking) {
    std::vector<SpendAmounts> steps;
    for (int i = 0; i < hours; ++i) {
      steps.push_back(hour_of(pricer_, next_ + std::chrono::hours(i), booking));
    }
    feed(steps);
  }

  Fold& fold() { return *fold_; }
  const PriceDetector& detector() { return *detector_; }
  [[nodiscard]] Timestamp next() const { return next_; }
  [[nodiscard]] Verdict verdict() const { return fold_->verdict(0); }
  [[nodiscard]] std::string fact(const std::string& name) const {
    for (const auto& [key, value] : verdict().facts) {
      if (key == name) return value;
    }
    return "";
  }
  [[nodiscard]] std::string saved() const {
    Writer writer;
    fold_->save(writer);
    return writer.bytes();
  }

 private:
  Duration step_;
  RowPricer pricer_;
  std::unique_ptr<PriceDetector> detector_;
  std::unique_ptr<Fold> fold_;
  std::size_t members_ = 0;
  Timestamp next_ = *parse_timestamp("2026-03-02T00:00:00Z");
};

}  // namespace outcomed::testing
