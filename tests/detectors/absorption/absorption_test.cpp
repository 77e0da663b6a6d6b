#include "detectors/absorption/absorption.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace outcomed {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::HasSubstr;

constexpr Timestamp kStart = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z
const std::vector<std::string> kSides = {"consumer", "provider", "refused", "rejected",
                                         "passed_on"};

// Minutes of one group, each with a k of n for every side.
class Rule {
 public:
  explicit Rule(AbsorptionParams params = {}, std::vector<std::string> sides = kSides)
      : detector_(std::move(params), {"requests", "failed", minutes(1), {}}),
        fold_(detector_.start({{"model", "judge"}})),
        sides_(std::move(sides)) {
    for (const std::string& side : sides_) fold_->add_member({{"side", side}});
  }

  void minute(SideCounts c, Coverage coverage = Coverage::complete) {
    std::vector<std::int64_t> n;
    std::vector<std::int64_t> k;
    for (const std::string& side : sides_) {
      const auto place = SideCounts::place_of(side);
      k.push_back(place.k == nullptr ? 0 : c.*place.k);
      n.push_back(place.n == nullptr ? k.back() : c.*place.n);
    }
    std::vector<MemberRun> members;
    for (std::size_t i = 0; i < n.size(); ++i) members.push_back({{&n[i], 1}, {&k[i], 1}});
    const std::int64_t zero = 0;
    fold_->advance({at_, minutes(1), {&zero, 1}, {&zero, 1}, {&coverage, 1}, members}, 0);
    at_ += minutes(1);
  }
  void minutes_of(int count, SideCounts c) {
    for (int i = 0; i < count; ++i) minute(c);
  }
  Judgement judgement() const { return fold_->judgement(0); }
  Verdict verdict() const { return fold_->verdict(0); }
  std::string fact(const std::string& name) const {
    for (const auto& [key, value] : verdict().facts) {
      if (key == name) return value;
    }
    return "(none)";
  }
  std::string memory() const {
    Writer writer;
    fold_->save(writer);
    return writer.bytes();
  }
  AbsorptionDetector detector_;
  std::unique_ptr<Fold> fold_;
  std::vector<std::string> sides_;
  Timestamp at_ = kStart;
};

SideCounts counts(std::int64_t requests, std::int64_t failed, std::int64_t attempts,
                  std::int64_t provider_failed, std::int64_t refused = 0, std::int64_t rejected = 0,
                  std::int64_t passed_on = 0) {
  return {requests, failed, attempts, provider_failed, refused, rejected, passed_on, 0, 0};
}

// Of one step.
AbsorptionOutcome outcome(SideCounts c) {
  Attribution().attribute(c, kStart);
  return judge_absorption(c, {}).outcome;
}

TEST(Absorption, NamesWhoseFailuresTheyAre) {
  EXPECT_EQ(outcome(counts(500, 0, 500, 0)), AbsorptionOutcome::healthy);
  EXPECT_EQ(outcome(counts(500, 1, 700, 200)), AbsorptionOutcome::absorbed);
  EXPECT_EQ(outcome(counts(500, 90, 700, 200, 0, 0, 90)), AbsorptionOutcome::leaking);
  EXPECT_EQ(outcome(counts(77, 71, 12, 0, 71)), AbsorptionOutcome::self_inflicted);
  EXPECT_EQ(outcome(counts(23, 20, 13, 0, 4, 16)), AbsorptionOutcome::rejected);
  EXPECT_EQ(outcome(counts(3, 0, 3, 0)), AbsorptionOutcome::too_few);
}

TEST(Absorption, ARouterThatRefusesFarMoreThanTheProviderFailedIsToBlame) {
  // Three 500s of twelve attempts, and the whole model refused: the provider explains a quarter.
  EXPECT_EQ(outcome(counts(77, 71, 12, 3, 68, 0, 3)), AbsorptionOutcome::self_inflicted);
  // Refusals while every attempt fails are the provider's.
  EXPECT_EQ(outcome(counts(66, 66, 11, 11, 56, 0, 10)), AbsorptionOutcome::leaking);
}

TEST(Absorption, ErrorsOfTheProviderThatConsumersSawProveThatItFailedThoughNoCounterSays) {
  EXPECT_EQ(outcome(counts(100, 40, 0, 0, 0, 0, 40)), AbsorptionOutcome::leaking)
      << "a fallback's own errors are counted nowhere";
  EXPECT_EQ(outcome(counts(100, 40, 500, 0, 0, 0, 40)), AbsorptionOutcome::leaking);
}

TEST(Absorption, FailuresBelowTheProvidersLineLeakToo) {
  EXPECT_EQ(outcome(counts(1000, 40, 1000, 40, 0, 0, 40)), AbsorptionOutcome::leaking);
  EXPECT_FALSE(judge_absorption(counts(1000, 40, 1000, 40, 0, 0, 40), {}).provider_fails);
}

TEST(Absorption, ASignalWithoutTheReasonsOfFailuresIsJudgedByBothSidesAlone) {
  EXPECT_EQ(outcome(counts(77, 71, 100, 0)), AbsorptionOutcome::self_inflicted);
  EXPECT_EQ(outcome(counts(77, 71, 100, 90)), AbsorptionOutcome::leaking);
}

TEST(Absorption, TenOfAHundredAttemptsIsAFailingProviderAndNineIsNot) {
  EXPECT_TRUE(judge_absorption(counts(100, 0, 100, 10), {}).provider_fails);
  EXPECT_FALSE(judge_absorption(counts(100, 0, 100, 9), {}).provider_fails);
  EXPECT_FALSE(judge_absorption(counts(100, 0, 2, 2), {}).provider_fails) << "fewer than three";
}

TEST(Absorption, ConsumersFailOnlyWhereChanceCantExplainIt) {
  // At 1 % of 400 requests 6 failures happen in one hour of five.
  EXPECT_EQ(outcome(counts(400, 6, 400, 0, 6)), AbsorptionOutcome::healthy);
  EXPECT_TRUE(judge_absorption(counts(400, 6, 400, 0, 6), {}).above_limit);
  EXPECT_EQ(outcome(counts(400, 20, 400, 0, 20)), AbsorptionOutcome::self_inflicted);
  EXPECT_EQ(outcome(counts(10, 4, 10, 0, 4)), AbsorptionOutcome::too_few) << "fewer than five";
}

TEST(Absorption, MoreFailuresOfConsumersNeverMakeThemWell) {
  std::mt19937 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const auto requests = std::int64_t(1 + random() % 300);
    const auto failed = std::int64_t(random() % std::uint64_t(requests));
    const auto attempts = std::int64_t(random() % 300);
    const auto provider = attempts == 0 ? 0 : std::int64_t(random() % std::uint64_t(attempts + 1));
    const SideCounts fewer = counts(requests, failed, attempts, provider);
    const SideCounts more = counts(requests, failed + 1, attempts, provider);
    EXPECT_LE(is_failing(outcome(fewer)), is_failing(outcome(more)));
    // The same span counted ten times as long is the same, or better known.
    SideCounts longer;
    for (int j = 0; j < 10; ++j) longer += fewer;
    if (is_failing(outcome(fewer))) {
      EXPECT_TRUE(is_failing(outcome(longer)));
    }
  }
}

TEST(Absorption, HugeCountsAreJudgedLikeOthers) {
  constexpr std::int64_t kMany = 1'000'000'000'000'000;
  EXPECT_EQ(outcome(counts(kMany, 0, kMany, kMany / 2)), AbsorptionOutcome::absorbed);
  EXPECT_EQ(outcome(counts(kMany, kMany, kMany, kMany)), AbsorptionOutcome::leaking);
  EXPECT_EQ(outcome(counts(kMany, kMany / 100, kMany, 0)), AbsorptionOutcome::healthy);
}

TEST(AbsorptionRule, SaysThatTheGatewayInflictsItOnItself) {
  Rule rule;
  rule.minutes_of(20, counts(10, 0, 10, 0));
  rule.minutes_of(10, counts(8, 8, 1, 0, 8));
  const Verdict verdict = rule.verdict();
  EXPECT_EQ(verdict.judgement, Judgement::breached);
  EXPECT_EQ(verdict.sentence,
            "judge: consumers fail (80 of 280 requests, 29 %) while the provider answers (0 of 210 "
            "attempts failed) in the last 1h: the gateway inflicts it on itself, 80 refused by the "
            "gateway's router; since 12:20 UTC.");
  EXPECT_EQ(verdict.onset, kStart + minutes(20));
  EXPECT_THAT(rule.fact("provider_counts"), HasSubstr("lower bound"));
  EXPECT_THAT(rule.fact("classic_rule"), HasSubstr(": breached"));
}

TEST(AbsorptionRule, AnOutageIsTheProvidersThoughMostAttemptsOfTheHourWereGood) {
  // While the provider is down the router cools down and hardly tries: 10 of 510 attempts failed.
  Rule rule;
  rule.minutes_of(50, counts(10, 0, 10, 0));
  for (int i = 0; i < 5; ++i) {
    rule.minute(counts(10, 10, 2, 2, 8, 0, 2));
    rule.minute(counts(10, 10, 0, 0, 10));  // Everything is cooling down.
  }
  EXPECT_EQ(rule.fact("verdict"), "leaking") << rule.verdict().sentence;
  EXPECT_EQ(rule.fact("explained"), "100 by the provider's failures, 0 by its rejections");
}

TEST(AbsorptionRule, ARouterThatRefusesForMinutesWithoutTryingDoesSoByItself) {
  Rule rule;
  rule.minute(counts(10, 10, 2, 2, 8, 0, 2));
  rule.minutes_of(30, counts(10, 10, 0, 0, 10));
  EXPECT_EQ(rule.fact("verdict"), "self_inflicted") << rule.verdict().sentence;
  EXPECT_EQ(rule.fact("explained"), "60 by the provider's failures, 0 by its rejections");
}

TEST(AbsorptionRule, SaysThatFailuresAreAbsorbedAndDoesNotFire) {
  Rule rule;
  rule.minutes_of(30, counts(10, 0, 14, 4));
  EXPECT_EQ(rule.judgement(), Judgement::healthy);
  EXPECT_EQ(
      rule.verdict().sentence,
      "judge: the gateway absorbs the provider's failures: 120 of 420 attempts (29 %) failed, "
      "but only 0 of 300 requests (0 %) in the last 1h.");
  EXPECT_EQ(rule.fact("reaches_consumers"), "0 % of the provider's failing share");
  EXPECT_EQ(rule.fact("last_24h"),
            "provider failing in 1 hours: absorbed in 1, no request failed in 1");
}

TEST(AbsorptionRule, SaysHowMuchOfTheProvidersFailuresLeaks) {
  Rule rule;
  rule.minutes_of(30, counts(10, 2, 10, 5, 0, 0, 2));
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  EXPECT_THAT(rule.verdict().sentence,
              HasSubstr("provider failures reach consumers: 150 of 300 attempts (50 %) failed, 60 "
                        "of 300 requests (20 %) failed in the last 1h"));
  EXPECT_EQ(rule.fact("reaches_consumers"), "40 % of the provider's failing share");
}

TEST(AbsorptionRule, IsBreachedOnlyByTheVerdictsItNames) {
  AbsorptionParams params;
  params.breached_by = {"absorbed"};
  Rule rule(params);
  rule.minutes_of(30, counts(10, 0, 14, 4));
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  Rule other(params);
  other.minutes_of(30, counts(10, 9, 10, 0, 9));
  EXPECT_EQ(other.judgement(), Judgement::healthy) << "self-inflicted is not named";
}

TEST(AbsorptionRule, WithoutRequestsOrWithoutMembersHasTooFew) {
  Rule rule;
  EXPECT_EQ(rule.judgement(), Judgement::no_data);
  rule.minute({});
  EXPECT_EQ(rule.judgement(), Judgement::too_few);
  EXPECT_TRUE(rule.fold_->idle());
  Rule empty({}, {});
  empty.minute(counts(10, 10, 10, 10));
  EXPECT_EQ(empty.judgement(), Judgement::too_few);
}

TEST(AbsorptionRule, WithoutTheProvidersSideSaysThatNoAttemptWasCounted) {
  Rule rule({}, {"consumer", "refused"});
  rule.minutes_of(10, counts(8, 8, 8, 8, 8));
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  EXPECT_THAT(rule.verdict().sentence, HasSubstr("no attempt at the provider was counted"));
}

TEST(AbsorptionRule, WithoutTheConsumersSideJudgesNothing) {
  Rule rule({}, {"provider"});
  rule.minutes_of(10, counts(0, 0, 20, 20));
  EXPECT_EQ(rule.judgement(), Judgement::too_few);
  EXPECT_THAT(rule.verdict().sentence, HasSubstr("200 of 200 attempts (100 %) failed"));
}

TEST(AbsorptionRule, ANewSideThatAppearsLaterIsCountedFromThenOn) {
  Rule rule({}, {"consumer", "provider"});
  rule.minutes_of(30, counts(10, 0, 10, 0));
  rule.fold_->add_member({{"side", "refused"}});
  rule.sides_.emplace_back("refused");
  rule.minutes_of(10, counts(8, 8, 0, 0, 8));
  EXPECT_EQ(rule.fact("refused_by_router"), "80");
}

TEST(AbsorptionRule, AStepThatNobodySawHoldsTheJudgementAndIsSaid) {
  Rule rule;
  rule.minutes_of(30, counts(10, 0, 10, 0));
  rule.minute(counts(1000, 1000, 0, 0), Coverage::missing);
  EXPECT_EQ(rule.judgement(), Judgement::no_data);
  EXPECT_FALSE(rule.fold_->breached());
  rule.minute(counts(10, 0, 10, 0));
  EXPECT_EQ(rule.judgement(), Judgement::healthy) << "nothing of the missing step is counted";
  EXPECT_THAT(rule.fact("unknown"), HasSubstr("1m of the window"));
  rule.minute({}, Coverage::partial);
  EXPECT_EQ(rule.judgement(), Judgement::partial);
  rule.minute({}, Coverage::failed);
  EXPECT_EQ(rule.judgement(), Judgement::failed);
}

TEST(AbsorptionRule, ForgetsWhatSlidesOutOfItsWindow) {
  AbsorptionParams params;
  params.window = minutes(10);
  Rule rule(params);
  rule.minutes_of(5, counts(10, 10, 10, 10, 0, 0, 10));
  EXPECT_EQ(rule.judgement(), Judgement::breached);
  rule.minutes_of(10, counts(10, 0, 10, 0));
  EXPECT_EQ(rule.judgement(), Judgement::healthy);
  EXPECT_EQ(rule.verdict().n, 100);
}

TEST(AbsorptionRule, LingersWhileConsumersAreAboveTheLimitWithoutProof) {
  AbsorptionParams params;
  params.window = minutes(1);
  Rule rule(params);
  rule.minute(counts(400, 6, 400, 0, 6));
  EXPECT_EQ(rule.judgement(), Judgement::lingering);
}

// Some hours: quiet, bad in several ways, steps that nobody saw.
struct Past {
  std::vector<SideCounts> steps;
  std::vector<Coverage> coverage;

  explicit Past(std::uint32_t seed, int count = 400) {
    std::mt19937 random(seed);
    std::uint32_t mood = 0;
    const auto up_to = [&](std::int64_t most) {
      return most <= 0 ? 0 : std::int64_t(random() % std::uint32_t(most + 1));
    };
    for (int i = 0; i < count; ++i) {
      if (random() % 40 == 0) mood = random() % 4;
      SideCounts c;
      c.requests = up_to(20);
      c.attempts = mood == 2 ? up_to(2) : c.requests;
      c.provider_failures = mood == 1 || mood == 3 ? up_to(c.attempts) : 0;
      c.consumer_failures = mood >= 2 ? up_to(c.requests) : 0;
      c.refused = mood == 2 ? c.consumer_failures : 0;
      c.passed_on = mood == 3 ? c.consumer_failures : 0;
      steps.push_back(c);
      coverage.push_back(random() % 30 == 0 ? static_cast<Coverage>(random() % 4)
                                            : Coverage::complete);
    }
  }
};

// The past as one run with a row for each member.
struct Rows {
  std::vector<std::vector<std::int64_t>> n;
  std::vector<std::vector<std::int64_t>> k;
  std::vector<std::int64_t> zeros;
  explicit Rows(const Past& past) : zeros(past.steps.size()) {
    for (const std::string& side : kSides) {
      const auto place = SideCounts::place_of(side);
      n.emplace_back();
      k.emplace_back();
      for (const SideCounts& c : past.steps) {
        k.back().push_back(c.*place.k);
        n.back().push_back(place.n == nullptr ? c.*place.k : c.*place.n);
      }
    }
  }
};

TEST(AbsorptionRule, AWholeRunEndsWhereStepByStepDoes) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Past past(seed);
    const Rows rows(past);
    std::vector<MemberRun> members;
    for (std::size_t i = 0; i < kSides.size(); ++i) members.push_back({rows.n[i], rows.k[i]});
    const BucketRun run{kStart, minutes(1), rows.zeros, rows.zeros, past.coverage, members};
    Rule at_once;
    Rule stepped;
    std::size_t done = 0;
    while (done < run.size()) {
      const std::size_t from = done;
      done += at_once.fold_->advance_to_breach(run, done);
      for (std::size_t i = from; i < done; ++i) {
        stepped.minute(past.steps[i], past.coverage[i]);
        ASSERT_EQ(stepped.fold_->breached(), at_once.fold_->breached() && i + 1 == done);
      }
      ASSERT_EQ(at_once.memory(), stepped.memory()) << "seed " << seed;
    }
  }
}

TEST(AbsorptionRule, AMemoryThatWasStoredGoesOnToTheSameBytesAndWords) {
  for (std::uint32_t seed = 100; seed < 108; ++seed) {
    const Past past(seed);
    Rule rule;
    for (std::size_t i = 0; i < past.steps.size(); ++i) {
      rule.minute(past.steps[i], past.coverage[i]);
      if (i % 37 != 0) continue;
      Rule restored({}, {});
      restored.sides_ = kSides;
      restored.at_ = rule.at_;
      const std::string bytes = rule.memory();
      Reader reader(bytes);
      ASSERT_TRUE(restored.fold_->load(reader));
      ASSERT_TRUE(reader.at_end());
      ASSERT_EQ(restored.memory(), bytes);
      ASSERT_EQ(restored.judgement(), rule.judgement());
      ASSERT_EQ(restored.verdict().sentence, rule.verdict().sentence);
      for (std::size_t j = i + 1; j < std::min(i + 80, past.steps.size()); ++j) {
        restored.minute(past.steps[j], past.coverage[j]);
      }
      Rule straight;
      for (std::size_t j = 0; j < std::min(i + 80, past.steps.size()); ++j) {
        straight.minute(past.steps[j], past.coverage[j]);
      }
      ASSERT_EQ(restored.memory(), straight.memory()) << "seed " << seed << " step " << i;
    }
  }
}

TEST(AbsorptionRule, AMemoryThatIsCutOrOfALongerWindowIsRefused) {
  Rule rule;
  rule.minutes_of(60, counts(10, 1, 10, 1));
  const std::string bytes = rule.memory();
  for (std::size_t size = 0; size < bytes.size(); size += 7) {
    Rule restored({}, {});
    Reader reader(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(restored.fold_->load(reader));
  }
  AbsorptionParams shorter;
  shorter.window = minutes(10);
  Rule restored(shorter, {});
  Reader reader(bytes);
  EXPECT_FALSE(restored.fold_->load(reader));
}

}  // namespace
}  // namespace outcomed
