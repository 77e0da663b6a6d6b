#include "detectors/stats/ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "detectors/stats/intervals.h"

namespace outcomed {
namespace {

using Pairs = std::vector<ScorePair>;

RankCorrelation correlation_of(const Pairs& pairs) {
  return rank_correlation(make_pair_table(pairs));
}

// By definition, item by item: Pearson's correlation of the mid-ranks.
double plain_spearman(const Pairs& pairs) {
  const auto rank = [&](double ScorePair::*score, const ScorePair& of) {
    double below = 0;
    double tied = 0;
    for (const ScorePair& other : pairs) {
      if (other.*score < of.*score) below += other.weight;
      if (other.*score == of.*score) tied += other.weight;
    }
    return below + tied / 2;
  };
  double mass = 0;
  double a_mean = 0;
  double b_mean = 0;
  std::vector<std::pair<double, double>> ranks;
  for (const ScorePair& pair : pairs) {
    ranks.emplace_back(rank(&ScorePair::old_score, pair), rank(&ScorePair::new_score, pair));
    mass += pair.weight;
    a_mean += pair.weight * ranks.back().first;
    b_mean += pair.weight * ranks.back().second;
  }
  a_mean /= mass;
  b_mean /= mass;
  double ab = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double a = ranks[i].first - a_mean;
    const double b = ranks[i].second - b_mean;
    ab += pairs[i].weight * a * b;
    aa += pairs[i].weight * a * a;
    bb += pairs[i].weight * b * b;
  }
  return ab / std::sqrt(aa * bb);
}

double plain_jackknife_error(const Pairs& pairs) {
  std::vector<double> left_out;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    Pairs others = pairs;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    left_out.push_back(plain_spearman(others));
  }
  const auto n = static_cast<double>(pairs.size());
  double mean = 0;
  for (const double r : left_out) mean += r / n;
  double sum = 0;
  for (const double r : left_out) sum += (r - mean) * (r - mean);
  return std::sqrt((n - 1) / n * sum);
}

double plain_tau_b(const Pairs& pairs) {
  double balance = 0;
  double old_untied = 0;
  double new_untied = 0;
  const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  for (const ScorePair& a : pairs) {
    for (const ScorePair& b : pairs) {
      const double w = a.weight * b.weight;
      const double x = sign(a.old_score - b.old_score);
      const double y = sign(a.new_score - b.new_score);
      balance += w * x * y;
      old_untied += w * x * x;
      new_untied += w * y * y;
    }
  }
  return balance / std::sqrt(old_untied * new_untied);
}

Pairs tied_pairs(std::uint32_t seed, bool weighted) {
  std::mt19937 random(seed);
  const auto below = [&](std::uint32_t end) { return static_cast<int>(random() % end); };
  Pairs pairs(10 + random() % 60);
  for (ScorePair& pair : pairs) {
    pair.old_score = below(6);
    pair.new_score = std::floor(pair.old_score / 2) + below(4);
    if (weighted) pair.weight = 0.25 * (1 + below(7));
  }
  // So that no score is ever constant with one item less.
  for (const double edge : {-1.0, -1.0, 9.0, 9.0}) pairs.push_back({edge, edge, 1});
  return pairs;
}

TEST(RankCorrelation, OfTenTiedPairsIsThatOfScipy) {
  const Pairs pairs = {{1, 2}, {2, 2}, {2, 3}, {3, 3}, {3, 4},
                       {3, 4}, {4, 4}, {5, 5}, {5, 4}, {1, 1}};
  const RankCorrelation got = correlation_of(pairs);
  EXPECT_NEAR(got.spearman.value(), 0.9068696208979107, 1e-12);
  EXPECT_NEAR(got.kendall_tau_b.value(), 0.8423970023882502, 1e-12);
}

TEST(RankCorrelation, IsWhatItsDefinitionGivesItemByItem) {
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Pairs pairs = tied_pairs(seed, seed % 2 == 1);
    const RankCorrelation got = correlation_of(pairs);
    ASSERT_NEAR(got.spearman.value(), plain_spearman(pairs), 1e-11) << seed;
    ASSERT_NEAR(got.kendall_tau_b.value(), plain_tau_b(pairs), 1e-11) << seed;
    ASSERT_NEAR(got.jackknife_error.value(), plain_jackknife_error(pairs), 1e-11) << seed;
  }
}

TEST(RankCorrelation, GivesItsIntervalOnFishersScale) {
  const Pairs pairs = tied_pairs(3, false);
  const RankCorrelation got = correlation_of(pairs);
  const double r = got.spearman.value();
  const double reach = kNormal975 * plain_jackknife_error(pairs) / (1 - r * r);
  EXPECT_NEAR(got.interval.value().low, std::tanh(std::atanh(r) - reach), 1e-11);
  EXPECT_NEAR(got.interval.value().high, std::tanh(std::atanh(r) + reach), 1e-11);
}

TEST(RankCorrelation, OfAWeightOfTwoIsThatOfTheItemTwice) {
  Pairs once = tied_pairs(8, false);
  Pairs twice = once;
  for (std::size_t i = 0; i < once.size(); i += 3) {
    twice.push_back(once[i]);
    once[i].weight = 2;
  }
  EXPECT_NEAR(*correlation_of(once).spearman, *correlation_of(twice).spearman, 1e-12);
  EXPECT_NEAR(*correlation_of(once).kendall_tau_b, *correlation_of(twice).kendall_tau_b, 1e-12);
}

TEST(RankCorrelation, DoesNotChangeWithTheOrderOfItemsNorWithTheScale) {
  Pairs pairs = tied_pairs(5, false);
  const RankCorrelation before = correlation_of(pairs);
  std::ranges::reverse(pairs);
  for (ScorePair& pair : pairs) pair = {std::exp(pair.old_score), 1e6 * pair.new_score - 7, 1};
  const RankCorrelation after = correlation_of(pairs);
  EXPECT_DOUBLE_EQ(*before.spearman, *after.spearman);
  EXPECT_DOUBLE_EQ(*before.jackknife_error, *after.jackknife_error);
}

TEST(RankCorrelation, OfAScoreThatNeverVariesDoesNotExist) {
  for (const Pairs& pairs :
       {Pairs{}, Pairs{{1, 2}}, Pairs{{1, 2}, {1, 3}}, Pairs{{1, 2}, {4, 2}}}) {
    const RankCorrelation got = correlation_of(pairs);
    EXPECT_FALSE(got.spearman);
    EXPECT_FALSE(got.kendall_tau_b);
    EXPECT_FALSE(got.jackknife_error);
    EXPECT_FALSE(got.interval);
  }
}

TEST(RankCorrelation, HasNoIntervalWhereOneItemCarriesAllVariation) {
  const RankCorrelation got = correlation_of({{1, 1}, {1, 2}, {1, 3}, {2, 3}});
  EXPECT_TRUE(got.spearman);
  EXPECT_FALSE(got.jackknife_error);
  EXPECT_FALSE(got.interval);
}

TEST(RankCorrelation, OfTheSameAndOfTheReversedOrderIsOneAndMinusOneWithoutAnInterval) {
  Pairs same;
  Pairs reversed;
  for (int i = 0; i < 100; ++i) {
    same.push_back({i * 1.0, i * i * 1.0});
    reversed.push_back({i * 1.0, -i * 1.0});
  }
  EXPECT_NEAR(*correlation_of(same).spearman, 1, 1e-15);
  EXPECT_NEAR(*correlation_of(reversed).spearman, -1, 1e-15);
  EXPECT_NEAR(*correlation_of(reversed).kendall_tau_b, -1, 1e-15);
  EXPECT_FALSE(correlation_of(same).interval);
  EXPECT_FALSE(correlation_of(reversed).interval);
}

// As many cells as items: only an algorithm of n log n steps ends here within a test.
TEST(RankCorrelation, OfAHundredThousandScoresWithoutTiesIsThatOfTheRankDifferences) {
  constexpr int n = 100'000;
  Pairs pairs(n);
  std::mt19937 random(11);
  std::vector<int> order(n);
  for (int i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  std::ranges::shuffle(order, random);
  double squares = 0;
  for (int i = 0; i < n; ++i) {
    const int other = order[static_cast<std::size_t>(i)] / 3 + i;
    pairs[static_cast<std::size_t>(i)] = {i * 1.0, other + i * 1e-6};
  }
  std::vector<std::pair<double, int>> sorted;
  for (int i = 0; i < n; ++i) sorted.emplace_back(pairs[static_cast<std::size_t>(i)].new_score, i);
  std::ranges::sort(sorted);
  for (int rank = 0; rank < n; ++rank) {
    const double difference = rank - sorted[static_cast<std::size_t>(rank)].second;
    squares += difference * difference;
  }
  const RankCorrelation got = correlation_of(pairs);
  EXPECT_NEAR(*got.spearman, 1 - 6 * squares / (1.0 * n * (1.0 * n * n - 1)), 1e-9);
  EXPECT_GT(*got.jackknife_error, 0);
  EXPECT_LT(*got.jackknife_error, 0.01);
}

// A made-up scale of five points with most items tied, sampled again and again.
TEST(RankCorrelation, HasIntervalsThatHoldTheTruthAsOftenAsPromised) {
  Pairs population;
  constexpr int kCounts[5][5] = {{9, 6, 3, 1, 1},
                                 {5, 30, 25, 10, 2},
                                 {1, 12, 160, 140, 20},
                                 {0, 4, 60, 330, 120},
                                 {0, 1, 6, 50, 90}};
  for (int i = 0; i < 5; ++i) {
    for (int j = 0; j < 5; ++j)
      population.insert(population.end(), static_cast<std::size_t>(kCounts[i][j]),
                        {i * 1.0, j * 1.0});
  }
  const double truth = *correlation_of(population).spearman;
  std::mt19937_64 random(7);
  for (const std::size_t n : {std::size_t{100}, std::size_t{223}, std::size_t{668}}) {
    constexpr int kSamples = 2000;
    int held = 0;
    Pairs sample(n);
    for (int i = 0; i < kSamples; ++i) {
      for (ScorePair& pair : sample) pair = population[random() % population.size()];
      const auto interval = correlation_of(sample).interval.value();
      held += interval.low <= truth && truth <= interval.high;
    }
    EXPECT_GE(held, .93 * kSamples) << n;
    EXPECT_LE(held, .97 * kSamples) << n;
  }
}

}  // namespace
}  // namespace outcomed
