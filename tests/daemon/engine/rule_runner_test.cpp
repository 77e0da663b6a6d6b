#include "daemon/engine/rule_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "detectors/share/share.h"

namespace outcomed {
namespace {

using std::chrono::minutes;

constexpr Timestamp kNoon = from_unix_ms(1'796'040'000'000);

SignalPlan plan_with_neutral() {
  SignalPlan plan;
  plan.name = "requests";
  plan.labels = {"model", "team"};
  plan.failure_labels = {"error_class"};
  plan.neutral = {*Matcher::make("error_class", Matcher::Op::match, "invalid_request")};
  return plan;
}

RuleSpec rule(std::vector<std::string> by, std::vector<std::string> matchers = {}) {
  ShareParams params;
  params.above = 0.1;
  params.window = minutes(5);
  RuleSpec spec;
  spec.name = "r";
  spec.signal = "requests";
  spec.by = std::move(by);
  for (const std::string& text : matchers) spec.matchers.push_back(*Matcher::parse(text));
  spec.detector =
      std::make_shared<ShareDetector>(params, SignalWords{"requests", "failed", minutes(1)});
  return spec;
}

struct Row {
  Labels labels;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

// One minute of these rows through a fresh rule.
std::map<Labels, std::pair<std::int64_t, std::int64_t>> judged(const RuleSpec& spec,
                                                               const std::vector<Row>& rows) {
  static const SignalPlan plan = plan_with_neutral();
  RuleRunner runner(spec, plan);
  std::vector<Labels> cells;
  SignalBatch batch{{kNoon, kNoon + minutes(1)}, minutes(1), {Coverage::complete}, {}, {}};
  for (const Row& row : rows) {
    cells.push_back(row.labels);
    batch.n.push_back(row.n);
    batch.k.push_back(row.k);
  }
  std::vector<RuleEvent> events;
  runner.advance(batch, cells, Timestamp{}, events);
  std::map<Labels, std::pair<std::int64_t, std::int64_t>> counts;
  for (const auto& view : runner.groups()) {
    const Verdict verdict = view.fold->verdict(0);
    counts[view.labels] = {verdict.k, verdict.n};
  }
  return counts;
}

// Events and memories as texts, events in order of time.
std::vector<std::string> outcome(const RuleRunner& runner, std::vector<RuleEvent> events) {
  std::ranges::stable_sort(events, {}, [](const RuleEvent& e) { return e.transition.at; });
  std::vector<std::string> texts;
  for (const RuleEvent& event : events) {
    texts.push_back(format_rfc3339(event.transition.at) + ' ' + event.state.key.group.to_string() +
                    ' ' + std::to_string(static_cast<int>(event.transition.change)) + ' ' +
                    event.verdict->sentence);
  }
  for (const auto& view : runner.groups()) {
    Writer memory;
    view.fold->save(memory);
    texts.push_back(view.labels.to_string() + ' ' + memory.bytes());
  }
  return texts;
}

TEST(RuleRunner, AWholeBatchAndItsStepsOneByOneGiveTheSame) {
  static const SignalPlan plan = plan_with_neutral();
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    const RuleSpec spec = rule(round % 2 == 0 ? std::vector<std::string>{"model", "error_class"}
                                              : std::vector<std::string>{"model"});
    std::vector<Labels> cells;
    for (const std::string model : {"a", "b", "c"}) {
      cells.push_back({{"model", model}, {"team", "x"}});
      cells.push_back({{"model", model}, {"team", "x"}, {"error_class", "deadline_exceeded"}});
      cells.push_back({{"model", model}, {"team", "y"}, {"error_class", "rate_limited"}});
    }
    constexpr std::size_t kSteps = 60;
    SignalBatch batch{{kNoon, kNoon + minutes(kSteps)}, minutes(1), {}, {}, {}};
    for (std::size_t step = 0; step < kSteps; ++step) {
      batch.coverage.push_back(random() % 20 == 0 ? Coverage::missing : Coverage::complete);
    }
    for (std::size_t cell = 0; cell < cells.size(); ++cell) {
      for (std::size_t step = 0; step < kSteps; ++step) {
        const bool bad = random() % 10 == 0 || (step / 10) % 3 == 1;
        batch.n.push_back(cell % 3 == 0 ? 40 : 0);
        batch.k.push_back(cell % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % (bad ? 9 : 2)));
      }
    }
    const Timestamp judge_from = kNoon + minutes(5);
    RuleRunner whole(spec, plan);
    std::vector<RuleEvent> whole_events;
    whole.advance(batch, cells, judge_from, whole_events);

    RuleRunner stepped(spec, plan);
    std::vector<RuleEvent> stepped_events;
    for (std::size_t step = 0; step < kSteps; ++step) {
      const Timestamp start = kNoon + minutes(step);
      SignalBatch one{{start, start + minutes(1)}, minutes(1), {batch.coverage[step]}, {}, {}};
      for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        one.n.push_back(batch.n[cell * kSteps + step]);
        one.k.push_back(batch.k[cell * kSteps + step]);
      }
      stepped.advance(one, cells, judge_from, stepped_events);
    }
    ASSERT_FALSE(whole_events.empty());
    ASSERT_EQ(outcome(whole, whole_events), outcome(stepped, stepped_events)) << "round " << round;
    ASSERT_EQ(whole.active().size(), stepped.active().size());
    for (const auto& view : whole.active()) EXPECT_NE(view.state->phase, Phase::inactive);
  }
}

const std::vector<Row> kRows = {
    {{{"model", "a"}, {"team", "x"}}, 100, 0},
    {{{"model", "a"}, {"team", "y"}}, 50, 0},
    {{{"model", "b"}, {"team", "x"}}, 10, 0},
    {{{"model", "a"}, {"team", "x"}, {"error_class", "rate_limited"}}, 0, 7},
    {{{"model", "a"}, {"team", "y"}, {"error_class", "rate_limited"}}, 0, 2},
    {{{"model", "a"}, {"team", "x"}, {"error_class", "invalid_request"}}, 0, 40},
    {{{"model", "b"}, {"team", "x"}, {"error_class", "router_refusal"}}, 0, 9},
};

using Counts = std::map<Labels, std::pair<std::int64_t, std::int64_t>>;

TEST(RuleRunner, WithoutASplitJudgesTheWholeAndLeavesCallersErrorsOut) {
  EXPECT_EQ(judged(rule({}), kRows), (Counts{{{}, {18, 160}}}));
}

TEST(RuleRunner, SplitsRequestsAndFailuresByModel) {
  EXPECT_EQ(judged(rule({"model"}), kRows),
            (Counts{{{{"model", "a"}}, {9, 150}}, {{{"model", "b"}}, {9, 10}}}));
}

TEST(RuleRunner, AFailureLabelSplitsFailuresAndKeepsAllRequestsOfTheModel) {
  EXPECT_EQ(judged(rule({"model", "error_class"}), kRows),
            (Counts{{{{"model", "a"}, {"error_class", "rate_limited"}}, {9, 150}},
                    {{{"model", "b"}, {"error_class", "router_refusal"}}, {9, 10}}}));
}

TEST(RuleRunner, AFailureLabelAloneIsHeldAgainstAllRequests) {
  EXPECT_EQ(judged(rule({"error_class"}), kRows),
            (Counts{{{{"error_class", "rate_limited"}}, {9, 160}},
                    {{{"error_class", "router_refusal"}}, {9, 160}}}));
}

TEST(RuleRunner, MatchersOnRequestsFilterBoth) {
  EXPECT_EQ(judged(rule({"model"}, {"team!=\"y\""}), kRows),
            (Counts{{{{"model", "a"}}, {7, 100}}, {{{"model", "b"}}, {9, 10}}}));
}

TEST(RuleRunner, MatchersOnFailuresFilterOnlyFailuresAndMayNameCallersErrors) {
  EXPECT_EQ(judged(rule({"model"}, {"error_class=\"invalid_request\""}), kRows),
            (Counts{{{{"model", "a"}}, {40, 150}}, {{{"model", "b"}}, {0, 10}}}));
  EXPECT_EQ(judged(rule({"model"}, {"error_class=~\".*\""}), kRows),
            (Counts{{{{"model", "a"}}, {49, 150}}, {{{"model", "b"}}, {9, 10}}}));
}

TEST(RuleRunner, TheWholeGatewayIsAGroupBeforeAnyRequestWasSeen) {
  EXPECT_EQ(judged(rule({}), {}), (Counts{{{}, {0, 0}}}));
  EXPECT_TRUE(judged(rule({"model"}), {}).empty());
}

TEST(RuleRunner, AFloodOfLabelValuesIsCutOffAndWhatIsThereGoesOn) {  // D8, T24
  static const SignalPlan plan = plan_with_neutral();
  const RuleSpec spec = rule({"model"});
  RuleRunner runner(spec, plan);
  std::vector<Labels> cells;
  for (int i = 0; i < 20'100; ++i) cells.push_back({{"model", std::to_string(i)}});
  SignalBatch batch{{kNoon, kNoon + minutes(1)},
                    minutes(1),
                    {Coverage::complete},
                    std::vector<std::int64_t>(cells.size(), 10),
                    std::vector<std::int64_t>(cells.size(), 9)};
  std::vector<RuleEvent> events;
  runner.advance(batch, cells, Timestamp{}, events);
  EXPECT_EQ(events.size(), 20'000U);
  EXPECT_EQ(runner.refused_groups(), 100U);
}

}  // namespace
}  // namespace outcomed
