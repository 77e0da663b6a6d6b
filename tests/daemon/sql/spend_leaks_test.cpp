// Waste and ways out of a private group, read from the gateway's table in a real server.
#include "tests/daemon/sql/sql_fixture.h"

namespace outcomed {
namespace {

using testing::RecordedGateway;
using testing::SqlTest;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);  // 2026-11-30T12:00:00Z
const litellm::PrivateGroups kPrivate = {{"private/*"}, {}};

class RowSignals : public SqlTest {
 protected:
  void make(const std::string& name, std::vector<std::string> labels,
            std::vector<std::string> failure_labels, litellm::LedgerSettings settings) {
    make_source({preset(name, std::move(labels), std::move(failure_labels), std::move(settings))});
  }
  // k by the value of a label, over a range that must be readable.
  std::map<std::string, std::int64_t> failures(TimeRange range, const std::string& label) {
    std::map<std::string, std::int64_t> found;
    auto fetch = source_->fetch(range);
    EXPECT_TRUE(fetch) << (fetch ? "" : fetch.error().message);
    if (!fetch) return found;
    const SignalBatch& batch = fetch->batches.front();
    for (std::size_t i = 0; i < batch.k.size(); ++i) {
      if (batch.k[i] == 0) continue;
      found[std::string(source_->cells(0)[i / batch.steps()].get(label))] += batch.k[i];
    }
    evidence_ = std::move(fetch->evidence);
    last_problems_ = std::move(fetch->problems);
    return found;
  }
  static std::int64_t all(const std::map<std::string, std::int64_t>& counts) {
    std::int64_t sum = 0;
    for (const auto& [name, count] : counts) sum += count;
    return sum;
  }
  TimeRange all_rows() {
    const double begin =
        std::stod(ask("select extract(epoch from min(\"endTime\")) from \"LiteLLM_SpendLogs\""));
    const Timestamp from =
        floor_to(from_unix_ms(static_cast<std::int64_t>(begin) * 1000), 1min) - 1min;
    return {from, from + 20min};
  }
  std::vector<Evidence> evidence_;
};

TEST_F(RowSignals, ReadsOneWordOfAnswersAndOnlyOnDemand) {
  sql(testing::kMinimalSpendLogs);
  sql("alter table \"LiteLLM_SpendLogs\" add response jsonb default '{}'");
  grant();
  for (int i = 0; i < 4; ++i) insert("r" + std::to_string(i), kNoon + i * 1s);
  sql(R"(update "LiteLLM_SpendLogs" set spend = 0.25, response = case request_id
      when 'r0' then '{"choices": [{"finish_reason": "length", "message": {"content": "private"}}]}'
      when 'r1' then '{"choices": [{"finish_reason": "stop"}, {"finish_reason": "length"}]}'
      when 'r2' then '"no object"' else '{}' end::jsonb)");
  make("wasted_spend", {"model"}, {"cause"}, {.finish_reasons = true});
  EXPECT_EQ(failures({kNoon, kNoon + 1min}, "cause"),
            (std::map<std::string, std::int64_t>{{"truncated", 250'000'000}}));
  make("wasted_spend", {"model"}, {"cause"}, {});
  EXPECT_TRUE(failures({kNoon, kNoon + 1min}, "cause").empty());
  // Not even the right to read it is needed then.
  sql("revoke select on \"LiteLLM_SpendLogs\" from reader; grant select (request_id, status, "
      "model, "
      "model_id, model_group, custom_llm_provider, api_key, metadata, team_id, cache_hit, spend, "
      "prompt_tokens, completion_tokens, \"startTime\", \"endTime\") on \"LiteLLM_SpendLogs\" to "
      "reader");
  make("wasted_spend", {"model"}, {"cause"}, {});
  EXPECT_TRUE(source_->fetch({kNoon, kNoon + 1min}));
  make("wasted_spend", {"model"}, {"cause"}, {.finish_reasons = true});
  const auto denied = source_->fetch({kNoon, kNoon + 1min});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().kind, ErrorKind::unauthorized);
}

TEST_F(RowSignals, WithoutTheColumnOfAnswersSaysSo) {
  make_table();
  insert("a", kNoon + 1s);
  make("wasted_spend", {"model"}, {"cause"}, {.finish_reasons = true});
  EXPECT_TRUE(failures({kNoon, kNoon + 1min}, "cause").empty());
  EXPECT_TRUE(has_problem("missing_column"));
}

TEST_F(RowSignals, TellAnAddressThatIsNotThereFromAColumnThatIsNot) {
  make_table();
  for (const char* id : {"null", "empty", "none", "house", "cloud"}) {
    insert(id, kNoon + 1s, 1s, "private/qwen");
  }
  sql(R"(update "LiteLLM_SpendLogs" set api_base = case request_id when 'null' then null
      when 'empty' then '' when 'none' then 'None' when 'house' then 'http://10.1.2.3/v1'
      else 'https://api.cloud.example/v1' end)");
  make("leaks", {"model"}, {"way"}, {.keep_private = kPrivate});
  EXPECT_EQ(failures({kNoon, kNoon + 1min}, "way"),
            (std::map<std::string, std::int64_t>{{"deployment", 4}}));
  sql("alter table \"LiteLLM_SpendLogs\" drop column api_base");
  make("leaks", {"model"}, {"way"}, {.keep_private = kPrivate});
  EXPECT_TRUE(failures({kNoon, kNoon + 1min}, "way").empty());
  EXPECT_TRUE(has_problem("missing_column"));
}

class GenuineLeaks : public RowSignals, public ::testing::WithParamInterface<RecordedGateway> {
 protected:
  void SetUp() override {
    RowSignals::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    if (!GetParam().is_here()) GTEST_SKIP() << "data absent: " << GetParam().folder();
    ASSERT_NO_FATAL_FAILURE(load_gateway(GetParam()));
  }
};

TEST_P(GenuineLeaks, AreCountedOnceHoweverOftenTheyAreRead) {
  make("leaks", {"model"}, {"served_by", "way"}, {.keep_private = kPrivate});
  EXPECT_TRUE(failures(all_rows(), "way").empty()) << "all of it stayed in the house";
  sql("update \"LiteLLM_SpendLogs\" set api_base = 'https://api.cloud.example/v1' where api_base "
      "<> "
      "''");
  make("leaks", {"model"}, {"served_by", "way"}, {.keep_private = kPrivate});
  const std::map<std::string, std::int64_t> expected =
      GetParam().says_asked_model
          ? std::map<std::string, std::int64_t>{{"deployment", 168}, {"failed deployment", 12}}
          : std::map<std::string, std::int64_t>{{"deployment", 168}};
  EXPECT_EQ(failures(all_rows(), "way"), expected);
  ASSERT_FALSE(evidence_.empty());
  EXPECT_NE(evidence_.front().text.find("sent to api.cloud.example"), std::string::npos);
  // Minute by minute, with sweeps over what was read before.
  make("leaks", {"model"}, {"served_by", "way"}, {.keep_private = kPrivate});
  const TimeRange range = all_rows();
  std::int64_t sum = 0;
  for (Timestamp at = range.begin; at < range.end; at += 1min) {
    sum += all(failures({at, at + 1min}, "way"));
  }
  EXPECT_EQ(sum, all(expected));
}

TEST_P(GenuineLeaks, AreNamedByTheModelThatWasAskedForWhereTheRowsSayIt) {
  make("leaks", {"model"}, {"served_by", "way"}, {.keep_private = {{"flaky"}, {}}});
  const auto found = failures(all_rows(), "served_by");
  if (GetParam().says_asked_model) {
    EXPECT_EQ(found, (std::map<std::string, std::int64_t>{{"gpt-4o", 41}}));
    EXPECT_EQ(evidence_.size(), litellm::LedgerCounter::kMostEvidence);
  } else {
    EXPECT_TRUE(found.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Gateways, GenuineLeaks, testing::recorded_gateways(),
                         testing::gateway_name);

}  // namespace
}  // namespace outcomed
