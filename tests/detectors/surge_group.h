// What the tests of `surge` share: minutes of counts, and a group that is fed them.
#pragma once

#include <gtest/gtest.h>

#include <random>

#include "detectors/surge/fold.h"
#include "detectors/surge/surge.h"

namespace outcomed::testing {

inline constexpr Timestamp kMidnight = from_unix_ms(1'795'996'800'000);  // 2026-11-30T00:00:00Z
inline constexpr int kDay = 1440;

struct Minutes {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;

  void add(std::int64_t requests, std::int64_t failures) {
    n.push_back(requests);
    k.push_back(failures);
  }
  // Poisson requests, binomial failures.
  void add(std::mt19937_64& random, int count, double rate, double share) {
    std::poisson_distribution<std::int64_t> requests(rate);
    for (int i = 0; i < count; ++i) {
      const std::int64_t all = requests(random);
      add(all, all > 0 ? std::binomial_distribution<std::int64_t>(all, share)(random) : 0);
    }
  }
};

inline SurgeParams usual() { return {}; }

// One group of a rule, fed minute by minute.
class Watched {
 public:
  explicit Watched(SurgeParams params = usual(), Labels group = {{"model", "gpt-4o"}})
      : detector_(std::move(params), {"requests", "failed", std::chrono::minutes(1)}),
        fold_(detector_.start(group)) {}

  void minute(std::int64_t n, std::int64_t k, Coverage coverage = Coverage::complete) {
    advance(*fold_, {now_, std::chrono::minutes(1), n, k, coverage});
    now_ += std::chrono::minutes(1);
  }
  void minutes_of(int count, std::int64_t n, std::int64_t k) {
    for (int i = 0; i < count; ++i) minute(n, k);
  }
  // How many alarms began.
  int feed(const Minutes& all) {
    int alarms = 0;
    for (std::size_t i = 0; i < all.n.size(); ++i) {
      const bool before = fold_->breached();
      minute(all.n[i], all.k[i]);
      alarms += !before && fold_->breached() ? 1 : 0;
    }
    return alarms;
  }
  void learn(std::uint64_t seed = 1, int days = 14, double rate = 20, double share = 0.01) {
    std::mt19937_64 random(seed);
    Minutes calm;
    calm.add(random, days * kDay, rate, share);
    ASSERT_EQ(feed(calm), 0);
  }
  // Minutes until the first breach, counted from now; -1 when there is none.
  int until_breach(const Minutes& all) {
    for (std::size_t i = 0; i < all.n.size(); ++i) {
      minute(all.n[i], all.k[i]);
      if (fold_->breached()) return static_cast<int>(i) + 1;
    }
    return -1;
  }
  std::string bytes() const {
    Writer writer;
    fold_->save(writer);
    return writer.take();
  }
  const SurgeSeries& series() const { return static_cast<const SurgeFold&>(*fold_).series(); }
  Judgement judgement() const { return fold_->judgement(0); }
  Verdict verdict() const { return fold_->verdict(0); }
  bool breached() const { return fold_->breached(); }
  Timestamp now() const { return now_; }

  SurgeDetector detector_;
  std::unique_ptr<Fold> fold_;

 private:
  Timestamp now_ = kMidnight;
};

inline std::string fact(const Verdict& verdict, std::string_view name) {
  for (const auto& [key, value] : verdict.facts) {
    if (key == name) return value;
  }
  return "no such fact";
}

}  // namespace outcomed::testing
