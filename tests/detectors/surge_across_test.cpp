// `surge` over the members of a group.
#include <gtest/gtest.h>

#include <random>

#include "tests/detectors/surge_group.h"

namespace outcomed {
namespace {

using std::chrono::minutes;
using testing::fact;
using testing::kDay;
using testing::kMidnight;

class Provider {
 public:
  explicit Provider(std::size_t members) : detector_(across(), {"requests", "failed", minutes(1)}) {
    fold_ = detector_.start({{"provider", "openai"}});
    for (std::size_t i = 0; i < members; ++i)
      fold_->add_member({{"model", "m" + std::to_string(i)}});
    n_.resize(members);
    k_.resize(members);
  }
  // The share of each member's requests that fails.
  void minute(std::mt19937_64& random, const std::vector<double>& shares, double rate) {
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::vector<MemberRun> rows;
    for (std::size_t i = 0; i < shares.size(); ++i) {
      n_[i] = std::poisson_distribution<std::int64_t>(rate)(random);
      k_[i] = n_[i] > 0 ? std::binomial_distribution<std::int64_t>(n_[i], shares[i])(random) : 0;
      n += n_[i];
      k += k_[i];
      rows.push_back({{&n_[i], 1}, {&k_[i], 1}});
    }
    const Coverage complete = Coverage::complete;
    fold_->advance({now_, minutes(1), {&n, 1}, {&k, 1}, {&complete, 1}, rows}, 0);
    now_ += minutes(1);
  }
  void learn(std::mt19937_64& random, double rate) {
    const std::vector<double> shares(n_.size(), 0.01);
    for (int i = 0; i < 14 * kDay; ++i) minute(random, shares, rate);
    ASSERT_FALSE(fold_->breached());
  }
  static SurgeParams across() {
    SurgeParams params;
    params.across = {"model"};
    return params;
  }
  SurgeDetector detector_;
  std::unique_ptr<Fold> fold_;
  Timestamp now_ = kMidnight;
  std::vector<std::int64_t> n_;
  std::vector<std::int64_t> k_;
};

TEST(SurgeAcross, FindsAFewOfManyThatFailTogether) {
  Provider provider(12);
  EXPECT_EQ(provider.detector_.member_labels(), std::vector<std::string>{"model"});
  std::mt19937_64 random(13);
  provider.learn(random, 10);
  std::vector<double> shares(12, 0.01);
  shares[3] = shares[7] = 0.5;
  int taken = 0;
  while (!provider.fold_->breached() && taken < 60) {
    provider.minute(random, shares, 10);
    ++taken;
  }
  EXPECT_LE(taken, 10);
  for (int i = 0; i < 5; ++i) provider.minute(random, shares, 10);
  const Verdict verdict = provider.fold_->verdict(0);
  EXPECT_NE(verdict.sentence.find("provider=openai: 2 of 12 fail together: "), std::string::npos)
      << verdict.sentence;
  EXPECT_NE(fact(verdict, "fails").find("m3"), std::string::npos) << fact(verdict, "fails");
}

TEST(SurgeAcross, OneThatFailsAloneIsNoMatterOfTheProvider) {
  Provider provider(30);
  std::mt19937_64 random(14);
  provider.learn(random, 2);
  std::vector<double> shares(30, 0.01);
  shares[3] = 0.2;  // 0.7 % more of the provider's requests: within min_share.
  for (int i = 0; i < 120; ++i) {
    provider.minute(random, shares, 2);
    ASSERT_FALSE(provider.fold_->breached()) << i;
  }
}

TEST(SurgeAcross, ComesBackWithItsMembers) {
  Provider one(3);
  std::mt19937_64 random(15);
  const std::vector<double> shares{0.01, 0.02, 0.3};
  for (int i = 0; i < 3 * kDay; ++i) one.minute(random, shares, 8);
  Writer writer;
  one.fold_->save(writer);
  Provider other(0);
  Reader reader(writer.bytes());
  ASSERT_TRUE(other.fold_->load(reader));
  EXPECT_TRUE(reader.at_end());
  other.n_.resize(3);
  other.k_.resize(3);
  other.now_ = one.now_;
  std::mt19937_64 twin = random;
  for (int i = 0; i < 2000; ++i) {
    one.minute(random, shares, 8);
    other.minute(twin, shares, 8);
  }
  Writer first;
  Writer second;
  one.fold_->save(first);
  other.fold_->save(second);
  EXPECT_EQ(first.bytes(), second.bytes());
}

TEST(SurgeAcross, AMemberThatComesLaterIsLearnedByItself) {
  Provider provider(2);
  std::mt19937_64 random(16);
  provider.learn(random, 10);
  provider.fold_->add_member({{"model", "new"}});
  provider.n_.resize(3);
  provider.k_.resize(3);
  for (int i = 0; i < 30; ++i) {
    provider.minute(random, {0.01, 0.01, 0.3}, 1);
    ASSERT_FALSE(provider.fold_->breached()) << i;
  }
}

}  // namespace
}  // namespace outcomed
