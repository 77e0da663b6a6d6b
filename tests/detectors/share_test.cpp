#include "detectors/share/share.h"

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <random>

#include "detectors/sentence.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;

constexpr Timestamp kStart = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z

ShareParams above(double line) {
  ShareParams params;
  params.above = line;
  return params;
}

class Rule {
 public:
  explicit Rule(ShareParams params, Labels group = {{"model", "judge"}})
      : detector_(std::move(params), {"requests", "failed", minutes(1)}),
        fold_(detector_.start(group)) {}

  void minute(std::int64_t n, std::int64_t k, Coverage coverage = Coverage::complete) {
    advance(*fold_, {at_, minutes(1), n, k, coverage});
    at_ += minutes(1);
  }
  void minutes_of(int count, std::int64_t n, std::int64_t k) {
    for (int i = 0; i < count; ++i) minute(n, k);
  }
  Judgement judgement(std::size_t tier = 0) const { return fold_->judgement(tier); }
  Verdict verdict(std::size_t tier = 0) const { return fold_->verdict(tier); }
  Timestamp now() const { return at_; }
  ShareDetector detector_;
  std::unique_ptr<Fold> fold_;

 private:
  Timestamp at_ = kStart;
};

// Some hours of one group: quiet, bad for a while, steps that nobody saw.
struct Hours {
  std::vector<std::int64_t> n;
  std::vector<std::int64_t> k;
  std::vector<Coverage> coverage;

  explicit Hours(std::uint32_t seed, int count = 600) {
    std::mt19937 random(seed);
    double share = 0.01;
    for (int i = 0; i < count; ++i) {
      if (random() % 50 == 0) share = random() % 3 == 0 ? 0.4 : 0.01;
      const auto requests = static_cast<std::int64_t>(random() % 20);
      n.push_back(requests);
      k.push_back(std::binomial_distribution<std::int64_t>(requests, share)(random));
      coverage.push_back(random() % 40 == 0 ? static_cast<Coverage>(random() % 4)
                                            : Coverage::complete);
    }
  }
};

std::string memory_of(const Fold& fold) {
  Writer writer;
  fold.save(writer);
  return writer.bytes();
}

TEST(Share, ALongStretchAtOnceEndsWhereStepByStepDoes) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    ShareParams params;
    if (seed % 2 == 0) {
      params.tiers = {{0.1, {}, {}, "ticket"}, {0.3, {}, {}, "page"}};
    } else {
      params.below = 0.02;
    }
    params.window = minutes(30);
    params.min_requests = 20;
    params.min_failures = seed % 2 == 0 ? 3 : 1;
    const Hours past(seed);
    const BucketRun run{kStart, minutes(1), past.n, past.k, past.coverage};
    Rule stepped(params);
    Rule at_once(params);
    std::size_t done = 0;
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (done == i) done += at_once.fold_->advance_to_breach(run, i);
      stepped.fold_->advance(run, i);
      bool breached = false;
      for (std::size_t tier = 0; tier < stepped.detector_.tiers().size(); ++tier) {
        breached |= stepped.judgement(tier) == Judgement::breached;
      }
      ASSERT_EQ(done == i + 1, breached || i + 1 == run.size()) << "seed " << seed << " step " << i;
      if (done == i + 1) {
        ASSERT_EQ(memory_of(*stepped.fold_), memory_of(*at_once.fold_)) << "seed " << seed;
      }
    }
  }
}

TEST(Share, AMemoryThatWasStoredJudgesAsBefore) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const Hours past(seed);
    const BucketRun run{kStart, minutes(1), past.n, past.k, past.coverage};
    ShareParams params = above(0.1);
    params.resolve_below = 0.05;
    Rule rule(params);
    for (std::size_t i = 0; i < run.size(); ++i) {
      rule.fold_->advance(run, i);
      if (i % 37 != 0) continue;
      Rule restored(params);
      const std::string bytes = memory_of(*rule.fold_);
      Reader reader(bytes);
      ASSERT_TRUE(restored.fold_->load(reader));
      ASSERT_EQ(restored.judgement(), rule.judgement()) << "seed " << seed << " step " << i;
    }
  }
}

TEST(Share, TenOfAHundredIsNotAboveTenPercent) {  // C4: compare counts, not rounded ratios.
  Rule rule(above(0.1));
  rule.minute(100, 10);
  EXPECT_EQ(rule.judgement(), Judgement::healthy);
  rule.minute(0, 0);
  rule.minute(1, 1);
  EXPECT_EQ(rule.judgement(), Judgement::breached) << "11 of 101";
}

TEST(Share, EveryExactFractionOfItsLineIsHealthyAndOneMoreIsNot) {
  for (const double line : {0.001, 0.0144, 0.05, 0.1, 0.3, 1.0 / 3, 0.7}) {
    for (std::int64_t n = 1; n <= 20'000; n = n * 3 + 7) {
      const auto edge = static_cast<std::int64_t>(std::floor(line * double(n) + 1e-9));
      Rule at(above(line));
      at.minute(n, edge);
      EXPECT_NE(at.judgement(), Judgement::breached) << edge << " of " << n << " at " << line;
      Rule over(above(line));
      over.minute(n, edge + 1);
      EXPECT_EQ(over.judgement(), Judgement::breached) << edge + 1 << " of " << n << " at " << line;
    }
  }
}

TEST(Share, NeedsItsMinimumOfRequestsAndOfFailures) {  // C2
  ShareParams params = above(0.05);
  params.min_requests = 20;
  params.min_failures = 3;
  Rule rule(params);
  rule.minute(10, 1);
  EXPECT_EQ(rule.judgement(), Judgement::too_few);
  rule.minute(10, 1);
  EXPECT_EQ(rule.judgement(), Judgement::lingering) << "2 of 20 start nothing";
  rule.minute(1, 1);
  EXPECT_EQ(rule.judgement(), Judgement::breached);
}

TEST(Share, AFailureSeriesWithoutAnySuccessIsAHundredPercent) {
  Rule rule(above(0.1));
  rule.minute(7, 7);
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  EXPECT_EQ(rule.verdict().measured, 1.0);
}

TEST(Share, ForgetsWhatSlidesOutOfItsWindow) {
  ShareParams params = above(0.1);
  params.window = minutes(10);
  Rule rule(params);
  rule.minutes_of(5, 10, 10);
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  rule.minutes_of(9, 10, 0);
  EXPECT_EQ(rule.verdict().k, 10) << "one bad minute is still inside";
  rule.minute(10, 0);
  EXPECT_EQ(rule.verdict().k, 0);
  EXPECT_EQ(rule.verdict().n, 100);
  EXPECT_EQ(rule.judgement(), Judgement::healthy);
}

TEST(Share, SaysNoDataForAStepThatWasNotSeenAndCountsNothingOfIt) {
  Rule rule(above(0.1));
  rule.minute(10, 5);
  rule.minute(1000, 0, Coverage::missing);
  EXPECT_EQ(rule.judgement(), Judgement::no_data);
  rule.minute(0, 0);
  EXPECT_EQ(rule.judgement(), Judgement::breached) << "5 of 10, not 5 of 1010";
  rule.minute(0, 0, Coverage::partial);
  EXPECT_EQ(rule.judgement(), Judgement::partial);
  rule.minute(0, 0, Coverage::failed);
  EXPECT_EQ(rule.judgement(), Judgement::failed);
}

TEST(Share, LingersBetweenItsLineAndTheLowerOneThatEndsIt) {
  ShareParams params = above(0.05);
  params.resolve_below = 0.04;
  params.window = minutes(1);
  Rule rule(params);
  rule.minute(1000, 51);
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  rule.minute(1000, 45);
  EXPECT_EQ(rule.judgement(), Judgement::lingering);
  rule.minute(1000, 40);
  EXPECT_EQ(rule.judgement(), Judgement::lingering) << "exactly 4 % is not below 4 %";
  rule.minute(1000, 39);
  EXPECT_EQ(rule.judgement(), Judgement::healthy);
}

TEST(Share, JudgesEachTierByItsOwnLine) {
  ShareParams params;
  params.tiers = {{0.05, {}, minutes(15), "ticket"}, {0.3, {}, minutes(5), "page"}};
  Rule rule(params);
  rule.minute(100, 20);
  EXPECT_EQ(rule.judgement(0), Judgement::breached);
  EXPECT_EQ(rule.judgement(1), Judgement::healthy);
  ASSERT_EQ(rule.detector_.tiers().size(), 2U);
  EXPECT_EQ(rule.detector_.tiers()[1].severity, "page");
  EXPECT_EQ(rule.detector_.tiers()[1].hold, minutes(5));
}

TEST(Share, BelowFiresWhenTheShareFalls) {
  ShareParams params;
  params.below = 0.5;
  params.window = minutes(5);
  Rule rule(params);
  rule.minute(100, 50);
  EXPECT_EQ(rule.judgement(), Judgement::healthy) << "exactly half is not below half";
  rule.minute(100, 10);
  EXPECT_EQ(rule.judgement(), Judgement::breached);
}

TEST(Share, FindsTheMinuteInWhichTheChangeBegan) {
  Rule rule(above(0.1));
  rule.minutes_of(60, 100, 1);
  const Timestamp began = rule.now();
  rule.minutes_of(8, 100, 92);
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  EXPECT_EQ(rule.verdict().onset, began);
}

TEST(Share, SaysInOneSentenceWhoFailsHowMuchWhatIsNormalAndSinceWhen) {
  ShareParams params = above(0.3);
  params.window = minutes(10);
  Rule rule(params, {{"model", "judge"}, {"error_class", "router_refusal"}});
  rule.minutes_of(120, 50, 0);
  rule.minute(250, 1);  // 0.4 % of an hour with 250 requests …
  rule.minutes_of(59, 0, 0);
  rule.minutes_of(10, 8, 7);
  const Verdict verdict = rule.verdict();
  EXPECT_EQ(
      verdict.sentence,
      "judge: 70 of 80 requests (88 %) failed in the last 10m, refused by the gateway's router "
      "(no deployment available); normal is at most 0.4 %; since 15:00 UTC.");
  EXPECT_EQ(verdict.judgement, Judgement::breached);
}

TEST(Share, KeepsABreachOutOfWhatItCallsNormal) {
  ShareParams params = above(0.1);
  params.window = minutes(10);
  Rule rule(params);
  rule.minutes_of(60, 100, 1);
  rule.minutes_of(60, 100, 60);
  rule.minutes_of(60, 100, 1);
  rule.minutes_of(10, 100, 60);
  EXPECT_NE(rule.verdict().sentence.find("normal is at most 1 %"), std::string::npos)
      << rule.verdict().sentence;
}

TEST(Share, GoesOnFromASavedMemoryAsIfNothingHadHappened) {
  std::mt19937_64 random(11);
  ShareParams params = above(0.1);
  params.window = minutes(30);
  Rule straight(params);
  Rule broken(params);
  for (int i = 0; i < 3000; ++i) {
    const auto n = static_cast<std::int64_t>(random() % 40);
    const auto k = n == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<unsigned>(n + 1));
    const Coverage coverage = random() % 20 == 0 ? Coverage::missing : Coverage::complete;
    straight.minute(n, k, coverage);
    broken.minute(n, k, coverage);
    if (i % 97 != 0) continue;
    Writer writer;
    broken.fold_->save(writer);
    broken.fold_ = broken.detector_.start({{"model", "judge"}});
    Reader reader(writer.bytes());
    ASSERT_TRUE(broken.fold_->load(reader));
  }
  EXPECT_EQ(straight.verdict().sentence, broken.verdict().sentence);
  EXPECT_EQ(straight.verdict().facts, broken.verdict().facts);
  Writer a;
  Writer b;
  straight.fold_->save(a);
  broken.fold_->save(b);
  EXPECT_EQ(a.bytes(), b.bytes());
}

TEST(Share, RefusesAMemoryThatIsNotItsOwn) {
  Rule rule(above(0.1));
  for (const std::string bytes : {"", "\xff\xff\xff\xff\xff", "abc"}) {
    Reader reader(bytes);
    EXPECT_FALSE(rule.detector_.start({})->load(reader));
  }
}

// The window against the plainest model there is.
TEST(Share, SumsLikeAListOfTheLastMinutes) {
  std::mt19937_64 random(7);
  ShareParams params = above(0.25);
  params.window = minutes(17);
  params.min_requests = 30;
  Rule rule(params);
  std::deque<std::pair<std::int64_t, std::int64_t>> last;
  for (int i = 0; i < 5000; ++i) {
    const auto n = static_cast<std::int64_t>(random() % 12);
    const auto k = n == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<unsigned>(n + 1));
    rule.minute(n, k);
    last.emplace_back(n, k);
    if (last.size() > 17) last.pop_front();
    std::int64_t total = 0;
    std::int64_t failed = 0;
    for (const auto& [a, b] : last) {
      total += a;
      failed += b;
    }
    const Judgement expected = total < 30           ? Judgement::too_few
                               : failed * 4 > total ? Judgement::breached
                                                    : Judgement::healthy;
    ASSERT_EQ(rule.judgement(), expected) << failed << " of " << total;
  }
}

TEST(Sentence, AmountsAreSaidAsTheFactsSayThem) {
  EXPECT_EQ(format_amount({{"k", "1.20"}, {"n", "47.90"}}, "n", 47'900'000'000), "47.90");
  EXPECT_EQ(format_amount({{"window", "1h"}}, "k", 71), "71");
}

TEST(Sentence, NeverRoundsToAWholeThatIsNotOne) {
  EXPECT_EQ(format_share(0), "0 %");
  EXPECT_EQ(format_share(1), "100 %");
  EXPECT_EQ(format_share(1 + 1e-15), "100 %");
  EXPECT_EQ(format_share(1.61), "161 %");  // A ratio.
  EXPECT_EQ(format_share(0.9999), "above 99.9 %");
  EXPECT_EQ(format_share(0.00001), "below 0.01 %");
  EXPECT_EQ(format_share(71.0 / 77), "92 %");
  EXPECT_EQ(format_share(0.004), "0.4 %");
  EXPECT_EQ(format_share(0.0003), "0.03 %");
  EXPECT_EQ(format_share(0.0123), "1.2 %");
  EXPECT_EQ(format_share(0.995), "99.5 %");
}

TEST(Sentence, WilsonsIntervalHoldsThePublishedValues) {
  const Interval ten = wilson(1, 10);  // Newcombe 1998, and the reference of C2: 0.0179.
  EXPECT_NEAR(ten.low, 0.0179, 5e-5);
  EXPECT_NEAR(ten.high, 0.4042, 5e-5);
  EXPECT_EQ(wilson(0, 0).low, 0);
  EXPECT_EQ(wilson(0, 0).high, 1);
  EXPECT_EQ(wilson(0, 5).low, 0);
}

TEST(ShareRule, SaysMoneyAsMoney) {
  ShareParams params = above(0.02);
  params.min_failures = 1'000'000'000;  // 1.00
  SignalWords words{"USD", "went to health checks", minutes(1)};
  words.money = true;
  const ShareDetector detector(params, words);
  const auto fold = detector.start({});
  advance(*fold, {kStart, minutes(1), 47'900'000'000, 999'999'999, Coverage::complete});
  EXPECT_NE(fold->judgement(0), Judgement::breached) << "not yet 1.00";
  advance(*fold, {kStart + minutes(1), minutes(1), 0, 4'000'001, Coverage::complete});
  const Verdict verdict = fold->verdict(0);
  EXPECT_EQ(verdict.judgement, Judgement::breached);
  EXPECT_TRUE(verdict.sentence.starts_with(
      "whole gateway: 1.00 of 47.90 USD (2.1 %) went to health checks in the last 1h"))
      << verdict.sentence;
  for (const auto& [name, value] : verdict.facts) {
    EXPECT_NE(name, "interval_95") << "sums are no samples";
    EXPECT_TRUE(name != "min_failures" || value == "1.00") << value;
  }
}

}  // namespace
}  // namespace outcomed
