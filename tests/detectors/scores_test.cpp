#include "detectors/scores/scores.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "detectors/scores/fold.h"
#include "tests/alerts/settings_visitor.h"
#include "tests/detectors/day_feed.h"

namespace outcomed {
namespace {

using std::chrono::hours;
using testing::kDayLength;
using testing::kFirstDay;
using testing::midnight;

using Counts = std::map<std::string, std::int64_t>;

SignalWords items() { return {"items", "passed", hours(24), nullptr}; }

class Feed {
 public:
  explicit Feed(ScoresParams params = {}, SignalWords words = items())
      : detector_(std::move(params), std::move(words)), fold_(detector_.start({{"feed", "de"}})) {}

  Judgement day(const Counts& counts, Coverage coverage = Coverage::complete) {
    for (const auto& [score, count] : counts) {
      if (!places_.try_emplace(score, places_.size()).second) continue;
      fold_->add_member({{"score", score}});
    }
    std::vector<std::int64_t> of(places_.size());
    std::int64_t n = 0;
    for (const auto& [score, count] : counts) {
      of[places_[score]] = count;
      n += count;
    }
    std::vector<MemberRun> members;
    for (const std::int64_t& count : of) members.push_back({{&count, 1}, {&count, 1}});
    fold_->advance({midnight(day_++), kDayLength, {&n, 1}, {&n, 1}, {&coverage, 1}, members}, 0);
    return fold_->judgement(0);
  }
  [[nodiscard]] std::string says() const { return fold_->verdict(0).sentence; }
  [[nodiscard]] std::string fact(const std::string& name) const {
    for (const auto& [key, value] : fold_->verdict(0).facts) {
      if (key == name) return value;
    }
    return "";
  }

  ScoresDetector detector_;
  std::unique_ptr<Fold> fold_;
  std::map<std::string, std::size_t> places_;
  std::int64_t day_ = kFirstDay;
};

// n draws from weights.
Counts drawn(std::mt19937& random, int n, const std::map<std::string, double>& weights) {
  std::vector<double> mass;
  std::vector<std::string> names;
  for (const auto& [name, weight] : weights) {
    names.push_back(name);
    mass.push_back(weight);
  }
  std::discrete_distribution<std::size_t> pick(mass.begin(), mass.end());
  Counts counts;
  for (int i = 0; i < n; ++i) ++counts[names[pick(random)]];
  return counts;
}

const std::map<std::string, double> kStars = {{"1", 5}, {"2", 10}, {"3", 25}, {"4", 40}, {"5", 20}};

TEST(Scores, AnotherJudgeIsFoundOnTheFirstDay) {
  std::mt19937 random(1);
  Feed feed;
  for (int i = 0; i < 28; ++i) feed.day(drawn(random, 100, kStars));
  EXPECT_EQ(feed.fold_->judgement(0), Judgement::healthy) << feed.says();
  EXPECT_EQ(feed.day({{"3", 5}, {"4", 25}, {"5", 70}}), Judgement::breached);
  EXPECT_EQ(feed.says(),
            "feed=de: scores moved up by 1.0 points on 2026-11-26 (mean of 100 items 4.65, usual "
            "3.62 over 28 days); 70 of 100 (70 %) are at least 5, usual is 21 % - chance alone "
            "does this less than once in 1,000 years; since 2026-11-26.");
  EXPECT_EQ(feed.fold_->onset(), midnight(feed.day_ - 1));
  for (const char* name : {"mean_shift", "wasserstein_1", "kolmogorov_smirnov", "energy", "psi"}) {
    EXPECT_NE(feed.fact(name), "") << name;
  }
  EXPECT_NE(feed.fact("psi").find("without any drift at these numbers"), std::string::npos);
}

TEST(Scores, NothingAlarmsOnPsi) {
  std::mt19937 random(2);
  Feed feed;
  int large = 0;
  for (int i = 0; i < 200; ++i) {
    EXPECT_NE(feed.day(drawn(random, 30, kStars)), Judgement::breached) << feed.says();
    if (i >= 28 && std::stod(feed.fact("psi")) >= 0.1) ++large;
  }
  EXPECT_GT(large, 40) << "days on which the usual line of 0.1 would have alarmed";
}

TEST(Scores, AShapeThatChangesAroundItsMeanIsFound) {
  Feed feed;
  for (int i = 0; i < 28; ++i) {
    feed.day({{"1", 10 + i % 3}, {"2", 20}, {"3", 40}, {"4", 20}, {"5", 10 + i % 3}});
  }
  EXPECT_EQ(feed.day({{"1", 50}, {"5", 50}}), Judgement::breached);
  EXPECT_NE(feed.says().find("the spread of scores changed by"), std::string::npos) << feed.says();
}

TEST(Scores, AScaleThatGrowsIsFoundAtBothEnds) {
  for (const char* foreign : {"9", "-4"}) {
    Feed feed;
    for (int i = 0; i < 28; ++i) feed.day({{"1", 20}, {"2", 30 + i % 3}, {"3", 10}});
    EXPECT_EQ(feed.day({{"1", 15}, {"2", 25}, {"3", 5}, {foreign, 15}}), Judgement::breached)
        << feed.says();
  }
}

TEST(Scores, LabelsThatAreNoNumbersAreCountedAndSaid) {
  Feed feed;
  for (int i = 0; i < 28; ++i) {
    feed.day({{"1", 20}, {"2", 30 + i % 3}, {"nan", 2}, {"", 1}, {"n/a", 1}, {"1e999", 1}});
  }
  EXPECT_EQ(feed.fold_->judgement(0), Judgement::healthy);
  EXPECT_EQ(feed.fact("without_score"), "5 whose score is no number");
  EXPECT_EQ(feed.fact("n"), "50");
  EXPECT_EQ(feed.day({{"nan", 40}}), Judgement::too_few);
  EXPECT_EQ(feed.says(), "feed=de: none of 40 items on 2026-11-26 has a number as its score.");
}

TEST(Scores, ManyDistinctScoresAreWatchedAtTenCuts) {
  std::mt19937 random(3);
  Feed feed;
  std::normal_distribution<double> usual(60, 12);
  const auto made = [&](double shift) {
    Counts counts;
    for (int i = 0; i < 100; ++i) {
      ++counts[std::to_string(std::lround(std::clamp(usual(random) + shift, 0.0, 100.0)))];
    }
    return counts;
  };
  for (int i = 0; i < 120; ++i) {
    EXPECT_NE(feed.day(made(0)), Judgement::breached) << feed.says();
  }
  EXPECT_EQ(feed.fact("cuts"), "10");
  int days = 1;
  while (feed.day(made(-9)) != Judgement::breached && days < 20) ++days;
  EXPECT_LE(days, 3) << feed.says();
  EXPECT_NE(feed.says().find("scores moved down by"), std::string::npos) << feed.says();
}

TEST(Scores, GivenCutsAreUsed) {
  ScoresParams params;
  params.cuts = {"2", "4"};
  Feed feed(params);
  for (int i = 0; i < 28; ++i) feed.day({{"1", 10}, {"2", 20}, {"3", 20 + i % 3}, {"4", 10}});
  EXPECT_EQ(feed.fact("cuts"), "2");
  EXPECT_EQ(feed.day({{"1", 10}, {"2", 40}, {"4", 10}}), Judgement::healthy)
      << "2 and 3 lie between the same cuts";
}

TEST(Scores, DaysWithoutScoresOrUnseenNeitherVoteNorCount) {
  Feed feed;
  for (int i = 0; i < 7; ++i) EXPECT_EQ(feed.day({{"1", 20}, {"2", 30}}), Judgement::too_few);
  EXPECT_NE(feed.says().find("no normal yet: 6 of the 7 days that it takes"), std::string::npos)
      << feed.says();
  EXPECT_EQ(feed.day({{"1", 20}, {"2", 30}}), Judgement::healthy);
  EXPECT_EQ(feed.day({}), Judgement::too_few);
  EXPECT_EQ(feed.day({{"2", 50}}, Coverage::missing), Judgement::no_data);
  EXPECT_EQ(feed.day({{"2", 50}}, Coverage::partial), Judgement::partial);
  EXPECT_EQ(feed.day({{"2", -1}}), Judgement::failed);
  EXPECT_EQ(feed.day({{"1", 20}, {"2", 30}}), Judgement::healthy);
}

TEST(Scores, AnEpisodeEndsWithNormalScoresOrWhenTheyBecomeNormal) {
  const Counts good = {{"1", 20}, {"2", 30}, {"3", 10}};
  const Counts bad = {{"1", 50}, {"2", 8}, {"3", 2}};
  Feed feed;
  for (int i = 0; i < 28; ++i) feed.day(good);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(feed.day(bad), Judgement::breached) << feed.says();
  EXPECT_EQ(feed.day(good), Judgement::healthy) << feed.says();
  EXPECT_NE(feed.says().find("- normal again."), std::string::npos) << feed.says();
  feed.day(good);
  EXPECT_NE(feed.fact("normal").find("in 28 days"), std::string::npos) << feed.fact("normal");
  EXPECT_NE(feed.fact("normal").find("mean 1.83,"), std::string::npos) << feed.fact("normal");
  int days = 0;
  while (feed.day(bad) == Judgement::breached && days < 60) ++days;
  EXPECT_EQ(days, 28);
  EXPECT_NE(feed.says().find("count as normal from now on"), std::string::npos) << feed.says();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(feed.day(bad), Judgement::healthy);
}

TEST(Scores, HowBucketsAreCutIntoRunsOrStoredDoesNotMatter) {
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const std::size_t scores = seed % 2 == 0 ? 5 : 40;
    const testing::MadeRun made(seed, 4 * 110, scores);
    ScoresParams params;
    params.days.baseline_days = seed % 4 == 0 ? 5 : 14;
    const ScoresDetector detector(params, {"items", "passed", made.length, nullptr});
    EXPECT_EQ(testing::differing_step(
                  made,
                  [&] {
                    return detector.start({{"feed", "de"}});
                  },
                  [](std::size_t m) {
                    return Labels{{"score", m == 3 ? "none" : std::to_string(m * 2)}};
                  }),
              "")
        << "seed " << seed;
  }
}

TEST(Scores, AnyNumberOfDistinctScoresHasABoundedMemory) {
  Feed feed;
  std::mt19937 random(4);
  for (int i = 0; i < 60; ++i) {
    Counts counts;
    for (int j = 0; j < 50; ++j) ++counts[std::to_string(double(random() % 1'000'000) / 1e6)];
    feed.day(counts);
  }
  EXPECT_NE(feed.fold_->judgement(0), Judgement::too_few);
  // The engine keeps a row for each label too: 3,000 names are saved, and 128 scores.
  std::size_t names = 0;
  for (const auto& [name, place] : feed.places_) names += name.size() + 1;
  EXPECT_LT(testing::memory_of(*feed.fold_).size() - names, 40'000U);
}

TEST(Scores, BytesThatAreNotAMemoryAreRefused) {
  Feed feed;
  for (int i = 0; i < 40; ++i) feed.day({{"1", 20}, {"2", 30}, {"x", 1}});
  const std::string bytes = testing::memory_of(*feed.fold_);
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    Feed other;
    Reader reader(std::string_view(bytes).substr(0, length));
    EXPECT_FALSE(other.fold_->load(reader)) << length;
  }
}

TEST(Scores, SettingsThatMeanNothingAreProblems) {
  const auto problems = [](auto change) {
    ScoresParams params;
    change(params);
    testing::SettingsVisitor visitor;
    params.visit(visitor, items());
    EXPECT_TRUE(visitor.all_explained);
    return visitor.problems;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(problems([](auto&) {}), Names{});
  EXPECT_EQ(problems([](auto& p) { p.score_label = ""; }), Names{"score_label"});
  EXPECT_EQ(problems([](auto& p) { p.cuts = {"1", "one"}; }), Names{"cuts"});
  EXPECT_EQ(problems([](auto& p) { p.cuts = {"2", "1"}; }), Names{"cuts"});
  EXPECT_EQ(problems([](auto& p) { p.cuts = {"-1", "0.5", "+3"}; }), Names{});
  EXPECT_EQ(problems([](auto& p) { p.days.time_zone = "Nowhere"; }), Names{"time_zone"});
}

// Real scores of the same translations by two judges. Days draw from the old judge's scores, with a
// part of the items scored by the new one.
class JudgeSwap {
 public:
  bool read() {
    std::ifstream file(std::string(OUTCOMED_DATA) + "/gemba_contingency.csv");
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
      std::istringstream cells(line);
      std::string pair, feed, before, after, count;
      for (std::string* cell : {&pair, &feed, &before, &after, &count}) {
        std::getline(cells, *cell, ',');
      }
      if (pair != "turbo>gpt4" || feed != "en-de") continue;
      pairs_.emplace_back(before, after);
      weights_.push_back(std::stod(count));
    }
    return !pairs_.empty();
  }
  Counts day(std::mt19937& random, int n, double mix) {
    std::discrete_distribution<std::size_t> pick(weights_.begin(), weights_.end());
    Counts counts;
    for (int i = 0; i < n; ++i) {
      const auto& [before, after] = pairs_[pick(random)];
      ++counts[std::bernoulli_distribution(mix)(random) ? after : before];
    }
    return counts;
  }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
  std::vector<double> weights_;
};

TEST(Scores, ASwapOfRealJudgesIsFoundAndNothingElse) {
  JudgeSwap judges;
  if (!judges.read()) GTEST_SKIP() << "needs gemba_contingency.csv in " << OUTCOMED_DATA;
  for (const int n : {30, 50, 100, 200, 668}) {
    int alarms = 0;
    for (std::uint32_t seed = 0; seed < 2; ++seed) {
      std::mt19937 random(seed);
      Feed feed;
      for (int i = 0; i < 365; ++i) {
        alarms += feed.day(judges.day(random, n, 0)) == Judgement::breached ? 1 : 0;
      }
    }
    EXPECT_EQ(alarms, 0) << n << " items a day, no change";
    std::map<double, std::vector<int>> found;
    for (const double mix : {1.0, 0.5, 0.3}) {
      for (std::uint32_t seed = 0; seed < 5; ++seed) {
        std::mt19937 random(1000 + seed);
        Feed feed;
        for (int i = 0; i < 28; ++i) feed.day(judges.day(random, n, 0));
        int days = 1;
        while (feed.day(judges.day(random, n, mix)) != Judgement::breached && days < 30) ++days;
        found[mix].push_back(days);
      }
      std::ranges::sort(found[mix]);
    }
    EXPECT_EQ(found[1.0].back(), 1) << n << " items a day, all by the new judge";
    EXPECT_LE(found[0.5][2], n < 50 ? 4 : 3) << n << " items a day, half by the new judge";
    EXPECT_LE(found[0.3][2], n < 50 ? 9 : 6) << n << " items a day, 30 % by the new judge";
  }
}

}  // namespace
}  // namespace outcomed
