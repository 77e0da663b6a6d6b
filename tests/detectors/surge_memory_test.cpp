// What `surge` keeps, and how it goes on from that.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/detectors/surge_group.h"

namespace outcomed {
namespace {

using std::chrono::minutes;
using testing::kDay;
using testing::kMidnight;
using testing::Minutes;
using testing::usual;
using testing::Watched;

Minutes eventful(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  Minutes all;
  while (static_cast<int>(all.n.size()) < count) {
    const double rate = random() % 4 == 0 ? 0.0 : 5.0 + double(random() % 40);
    const double share = random() % 6 == 0 ? 0.3 : 0.01;
    all.add(random, 30 + static_cast<int>(random() % 200), std::max(rate, 1e-9), share);
  }
  all.n.resize(static_cast<std::size_t>(count));
  all.k.resize(static_cast<std::size_t>(count));
  return all;
}

TEST(Surge, TheCutOfRunsDoesNotMatter) {
  const Minutes all = eventful(17, 5 * kDay);
  std::mt19937_64 random(4);
  std::vector<Coverage> coverage(all.n.size(), Coverage::complete);
  for (Coverage& each : coverage) {
    if (random() % 90 == 0) each = Coverage::missing;
  }
  const SurgeDetector detector(usual(), {"requests", "failed", minutes(1)});
  std::string expected;
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, all.n.size()}) {
    const std::unique_ptr<Fold> fold = detector.start({});
    for (std::size_t i = 0; i < all.n.size();) {
      const std::size_t size = std::min(piece, all.n.size() - i);
      const BucketRun run{kMidnight + minutes(i),
                          minutes(1),
                          std::span(all.n).subspan(i, size),
                          std::span(all.k).subspan(i, size),
                          std::span(coverage).subspan(i, size),
                          {}};
      for (std::size_t done = 0; done < size;) done += fold->advance_to_breach(run, done);
      i += size;
    }
    Writer writer;
    fold->save(writer);
    if (expected.empty()) expected = writer.bytes();
    EXPECT_EQ(writer.bytes(), expected) << piece;
  }
}

TEST(Surge, ComesBackBitForBitAtAnyMoment) {
  const Minutes all = eventful(99, 9 * kDay);
  std::mt19937_64 random(12);
  Watched straight;
  Watched broken;
  Timestamp at = kMidnight;
  for (std::size_t i = 0; i < all.n.size(); ++i, at += minutes(1)) {
    const Bucket bucket{at, minutes(1), all.n[i], all.k[i], Coverage::complete};
    advance(*straight.fold_, bucket);
    advance(*broken.fold_, bucket);
    ASSERT_EQ(straight.breached(), broken.breached()) << i;
    if (random() % 300 != 0) continue;
    const std::string bytes = broken.bytes();
    ASSERT_EQ(bytes, straight.bytes()) << i;
    broken.fold_ = broken.detector_.start({{"model", "gpt-4o"}});
    Reader reader(bytes);
    ASSERT_TRUE(broken.fold_->load(reader)) << i;
    EXPECT_TRUE(reader.at_end());
    ASSERT_EQ(broken.bytes(), bytes) << i;
    EXPECT_EQ(broken.verdict().sentence, straight.verdict().sentence);
  }
}

TEST(Surge, RemembersAFewKilobytes) {
  Watched group;
  group.learn();
  EXPECT_LT(group.bytes().size(), 4096U);
  EXPECT_LT(sizeof(SurgeFold), 10'000U);
}

TEST(Surge, RefusesAMemoryThatIsNotItsOwn) {
  Watched group;
  group.minutes_of(100, 20, 1);
  const std::string bytes = group.bytes();
  for (std::size_t size = 0; size < bytes.size(); size += 13) {
    Reader reader(std::string_view(bytes).substr(0, size));
    EXPECT_FALSE(group.detector_.start({})->load(reader)) << size;
  }
  SurgeParams longer;
  longer.learn_days = 28;
  Reader reader(bytes);
  EXPECT_FALSE(Watched(longer).fold_->load(reader));
}

TEST(Surge, IsIdleOnlyWhenNothingIsRemembered) {
  Watched group;
  EXPECT_TRUE(group.fold_->idle());
  group.minutes_of(200, 0, 0);
  EXPECT_TRUE(group.fold_->idle());
  group.minute(1, 0);
  EXPECT_FALSE(group.fold_->idle());
  group.minutes_of(15 * kDay, 0, 0);
  EXPECT_TRUE(group.fold_->idle());
}

}  // namespace
}  // namespace outcomed
