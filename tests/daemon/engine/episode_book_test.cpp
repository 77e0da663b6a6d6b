#include "daemon/engine/episode_book.h"

#include <gmock/gmock.h>

namespace outcomed::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const AlertKey kJudge{"share", "page", {{"model", "judge"}}};
const AlertKey kWriter{"share", "page", {{"model", "writer"}}};

class EpisodeBookTest : public ::testing::Test {
 protected:
  void fire(const AlertKey& key, int minute) { move(key, Change::fired, minute); }
  void resolve(const AlertKey& key, int minute) { move(key, Change::resolved, minute); }

  // "fired judge 1": what people are told, with the minute in which the episode fired.
  [[nodiscard]] std::vector<std::string> news() const {
    std::vector<std::string> texts;
    for (const News& one : book_.news()) {
      const bool over = one.status == AlertStatus::resolved;
      EXPECT_EQ(over, one.episode.resolved_at.has_value());
      texts.push_back((over ? "resolved " : "fired ") +
                      std::string(one.episode.key.group.get("model")) + " " +
                      std::to_string(unix_ms(one.episode.fired_at) / 60'000));
    }
    return texts;
  }

  EpisodeBook book_;

 private:
  void move(const AlertKey& key, Change change, int minute) {
    RuleEvent event;
    event.state.key = key;
    event.transition.change = change;
    event.transition.at = from_unix_ms(minute * 60'000);
    book_.apply(event, {}, "hash");
  }
};

TEST_F(EpisodeBookTest, AnEpisodeIsNewsInTheTickInWhichItBeginsAndInWhichItEnds) {
  fire(kJudge, 1);
  EXPECT_THAT(news(), ElementsAre("fired judge 1"));
  book_.begin_tick();
  EXPECT_THAT(news(), IsEmpty());
  EXPECT_EQ(book_.open().size(), 1U);
  book_.begin_tick();
  resolve(kJudge, 3);
  EXPECT_THAT(news(), ElementsAre("resolved judge 1"));
  EXPECT_THAT(book_.open(), IsEmpty());
}

TEST_F(EpisodeBookTest, WhatBeginsAndEndsInOneTickIsHistoryAndNoNews) {
  fire(kJudge, 1);
  resolve(kJudge, 2);
  EXPECT_THAT(news(), IsEmpty());
  ASSERT_EQ(book_.changed().size(), 1U);
  EXPECT_EQ(book_.changed().front().resolved_at, from_unix_ms(120'000));
}

TEST_F(EpisodeBookTest, ResolvesAreToldBeforeFirings) {
  fire(kWriter, 1);
  book_.begin_tick();
  fire(kJudge, 2);
  resolve(kWriter, 2);
  fire(kWriter, 3);
  EXPECT_THAT(news(), ElementsAre("resolved writer 1", "fired judge 2", "fired writer 3"));
  EXPECT_EQ(book_.changed().size(), 3U);
}

TEST_F(EpisodeBookTest, OfManyEpisodesInOneTickOnlyTheStateAtItsEndIsTold) {
  fire(kJudge, 1);
  book_.begin_tick();
  resolve(kJudge, 2);
  for (int minute = 3; minute < 9; minute += 2) {
    fire(kJudge, minute);
    resolve(kJudge, minute + 1);
  }
  fire(kJudge, 9);
  EXPECT_THAT(news(), ElementsAre("resolved judge 1", "fired judge 9"));
  EXPECT_EQ(book_.changed().size(), 5U);
}

TEST_F(EpisodeBookTest, ResolvesOfWhatIsNotOpenChangeNothing) {
  resolve(kJudge, 1);
  book_.close(kJudge, from_unix_ms(0), "the rule was removed or changed");
  EXPECT_THAT(news(), IsEmpty());
  EXPECT_THAT(book_.changed(), IsEmpty());
}

TEST_F(EpisodeBookTest, AnEpisodeWhoseRuleIsGoneEndsWithTheReason) {
  fire(kJudge, 1);
  const std::vector<Episode> stored = book_.changed();
  EpisodeBook after_restart;
  after_restart.restore(stored);
  after_restart.begin_tick();
  after_restart.close(kJudge, from_unix_ms(180'000), "the rule was removed or changed");
  ASSERT_EQ(after_restart.news().size(), 1U);
  EXPECT_EQ(after_restart.news().front().status, AlertStatus::resolved);
  EXPECT_EQ(after_restart.news().front().episode.resolve_reason, "the rule was removed or changed");
}

}  // namespace
}  // namespace outcomed::testing
