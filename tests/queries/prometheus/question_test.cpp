#include "queries/prometheus/question.h"

#include <gtest/gtest.h>

namespace outcomed {
namespace {

std::vector<std::string> asked(const std::vector<std::string>& selectors,
                               const Matchers& extra = {}) {
  std::vector<Selector> parsed;
  for (const std::string& text : selectors) parsed.push_back(*Selector::parse(text));
  std::vector<std::string> texts;
  for (const Question& question : make_questions(parsed, extra))
    texts.push_back(question.selector());
  return texts;
}
using Texts = std::vector<std::string>;

TEST(Question, MetricsWithEqualMatchersAreAskedTogether) {
  EXPECT_EQ(asked({"b_total", "a_total", "b_total"}), (Texts{R"({__name__=~"a_total|b_total"})"}));
  EXPECT_EQ(asked({"a_total"}), (Texts{"a_total"}));
  EXPECT_EQ(asked({R"(b{x="1"})", R"(a{x="1"})"}), (Texts{R"({__name__=~"a|b",x="1"})"}));
}

TEST(Question, DifferentMatchersStaySeparate) {
  EXPECT_EQ(asked({R"(a{x="1"})", R"(a{x="2"})", "b"}), (Texts{R"(a{x="1"})", R"(a{x="2"})", "b"}));
}

TEST(Question, ASelectorInsideAWiderOneIsNotAskedAgain) {
  EXPECT_EQ(asked({R"(http_total{code=~"5.."})", "http_total"}), (Texts{"http_total"}));
}

TEST(Question, ExtraMatchersGoIntoEveryQuestionOnce) {
  const Matchers extra{*Matcher::parse(R"(job="gw")")};
  EXPECT_EQ(asked({"a", R"(b{job="gw"})", R"(c{x="1"})"}, extra),
            (Texts{R"({__name__=~"a|b",job="gw"})", R"(c{x="1",job="gw"})"}));
}

TEST(Question, NoSelectorsNoQuestions) { EXPECT_TRUE(asked({}).empty()); }

TEST(Question, TargetsAreNarrowedToKnownJobsWithTheirNamesEscaped) {
  EXPECT_EQ(target_question({}, {}).selector(), R"({__name__=~"process_start_time_seconds|up"})");
  // PromQL reads the string first, then the regular expression.
  EXPECT_EQ(target_question({"a.b", "c|d\"e"}, {}).selector(),
            R"({__name__=~"process_start_time_seconds|up",job=~"a\\.b|c\\|d\"e"})");
  const std::vector<std::string> many(500, "a_long_job_name");
  EXPECT_EQ(target_question(many, {}).selector(), R"({__name__=~"process_start_time_seconds|up"})");
}

TEST(Question, ManyMetricsMakeSeveralQuestionsThatHoldThemAll) {
  std::vector<Selector> selectors;
  for (int i = 0; i < 200; ++i) selectors.push_back({"some_metric_total_" + std::to_string(i), {}});
  std::size_t metrics = 0;
  const auto questions = make_questions(selectors, {});
  EXPECT_GT(questions.size(), 1U);
  for (const Question& question : questions) {
    metrics += question.metrics.size();
    EXPECT_FALSE(question.selector().empty());
  }
  EXPECT_EQ(metrics, 200U);
}

TEST(Question, TheRangeIsWrittenInPrometheusUnits) {
  const Question question{{"a"}, {}};
  EXPECT_EQ(question.range_selector(6min), "a[6m]");
  EXPECT_EQ(question.range_selector(90'500ms), "a[1m30s500ms]");
}

}  // namespace
}  // namespace outcomed
