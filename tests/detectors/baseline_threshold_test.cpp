// A baseline rule whose threshold changes.
#include <gtest/gtest.h>

#include <optional>

#include "detectors/baseline/baseline.h"
#include "tests/detectors/day_feed.h"

namespace outcomed {
namespace {

using testing::items;
using testing::kDayLength;
using testing::kFirstDay;
using testing::midnight;

class SplitFeed {
 public:
  SplitFeed() {
    BaselineParams params;
    params.restart_on = {"threshold"};
    detector_.emplace(std::move(params), items());
    fold_ = detector_->start({{"feed", "de"}});
  }
  Judgement day(std::vector<std::pair<std::int64_t, std::int64_t>> n_k) {
    while (known_ < n_k.size()) {
      fold_->add_member({{"threshold", std::to_string(7 + known_)}});
      ++known_;
    }
    std::int64_t n = 0;
    std::int64_t k = 0;
    std::vector<MemberRun> members;
    for (const auto& [member_n, member_k] : n_k) {
      members.push_back({{&member_n, 1}, {&member_k, 1}});
      n += member_n;
      k += member_k;
    }
    const Coverage coverage = Coverage::complete;
    fold_->advance({midnight(day_++), kDayLength, {&n, 1}, {&k, 1}, {&coverage, 1}, members}, 0);
    return fold_->judgement(0);
  }
  std::optional<BaselineDetector> detector_;
  std::unique_ptr<Fold> fold_;
  std::size_t known_ = 0;
  std::int64_t day_ = kFirstDay;
};

TEST(Baseline, ANewThresholdStartsANewBaselineAndKeepsTheOld) {
  SplitFeed feed;
  for (int i = 0; i < 28; ++i) feed.day({{60, 30 + i % 3}});
  EXPECT_EQ(feed.day({{25, 13}, {35, 4}}), Judgement::too_few) << "changed during the day";
  EXPECT_NE(feed.fold_->verdict(0).sentence.find("0 of the 7 days that it takes with "
                                                 "{threshold=\"8\"}"),
            std::string::npos)
      << feed.fold_->verdict(0).sentence;
  for (int i = 0; i < 6; ++i) EXPECT_EQ(feed.day({{0, 0}, {60, 8}}), Judgement::too_few);
  EXPECT_EQ(feed.day({{0, 0}, {60, 8}}), Judgement::healthy);
  EXPECT_EQ(feed.day({{60, 31}, {0, 0}}), Judgement::too_few) << "six days of the old are left";
}

TEST(Baseline, AThresholdThatReturnsSoonFindsItsBaseline) {
  SplitFeed feed;
  for (int i = 0; i < 28; ++i) feed.day({{60, 30 + i % 3}});
  for (int i = 0; i < 3; ++i) feed.day({{0, 0}, {60, 8}});
  EXPECT_EQ(feed.day({{60, 31}, {0, 0}}), Judgement::healthy);
  EXPECT_EQ(feed.day({{60, 6}, {0, 0}}), Judgement::breached);
}

TEST(Baseline, ANewThresholdEndsTheAlert) {
  SplitFeed feed;
  for (int i = 0; i < 28; ++i) feed.day({{60, 30 + i % 3}});
  ASSERT_EQ(feed.day({{60, 6}}), Judgement::breached);
  EXPECT_EQ(feed.day({{0, 0}, {60, 31}}), Judgement::healthy);
  EXPECT_NE(feed.fold_->verdict(0).sentence.find("so the alert ends"), std::string::npos);
}

}  // namespace
}  // namespace outcomed
