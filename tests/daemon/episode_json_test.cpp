#include "daemon/episode_json.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

TEST(EpisodeJson, DeliveriesComeBackAsTheyWereWritten) {
  std::vector<OutboxRow> rows;
  for (const OutboxState state :
       {OutboxState::queued, OutboxState::delivered, OutboxState::superseded, OutboxState::dead}) {
    OutboxRow& row = rows.emplace_back();
    row.receiver = "hooks";
    row.status = state == OutboxState::dead ? AlertStatus::resolved : AlertStatus::firing;
    row.state = state;
    row.attempts = static_cast<int>(rows.size());
    row.created_at = from_unix_ms(1'796'000'000'000);
    if (state != OutboxState::queued) row.settled_at = from_unix_ms(1'796'000'060'000);
    row.last_answer = "HTTP 404: \"no\xFF such hook\"";
  }
  const auto read = deliveries_from_json(episode_json({}, rows));
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ((*read)[i].receiver, rows[i].receiver);
    EXPECT_EQ((*read)[i].status, rows[i].status);
    EXPECT_EQ((*read)[i].state, rows[i].state);
    EXPECT_EQ((*read)[i].attempts, rows[i].attempts);
    EXPECT_EQ((*read)[i].created_at, rows[i].created_at);
    EXPECT_EQ((*read)[i].settled_at, rows[i].settled_at);
    EXPECT_EQ((*read)[i].last_answer, "HTTP 404: \"no\xEF\xBF\xBD such hook\"");
  }
}

TEST(EpisodeJson, AnAnswerOfAnotherProgramIsNoListOfDeliveries) {
  for (const std::string text : {"", "[]", "{}", R"({"deliveries": [{"receiver": 5}]})"}) {
    EXPECT_FALSE(deliveries_from_json(text)) << text;
  }
}

}  // namespace
}  // namespace outcomed
