#include "daemon/config/problem.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace outcomed {
namespace {

TEST(ConfigProblem, ReadsAsACompilerMessage) {
  EXPECT_EQ(to_text(ConfigProblem{"outcomed.yaml", 41, 12, "rules[2].above", "10 is not a share",
                                  "did you mean 10%?"}),
            "outcomed.yaml:41:12: rules[2].above: 10 is not a share; did you mean 10%?");
  EXPECT_EQ(to_text(ConfigProblem{"x.yaml", 0, 0, "", "can't be read", ""}),
            "x.yaml: can't be read");
}

TEST(ConfigProblem, StaysOnOneLineWhateverIsInIt) {
  EXPECT_EQ(to_text(ConfigProblem{"a\nb.yaml", 1, 2, "x", "y\tz\x1b[0m", "\r\x7f"}),
            "a\\nb.yaml:1:2: x: y\\tz\\x1b[0m; \\x0d\\x7f");
}

TEST(ConfigProblem, AreSortedByPlaceAndSaidOnce) {
  std::vector<ConfigProblem> problems = {{"b", 1, 1, "", "m", ""},  {"a", 10, 1, "", "m", ""},
                                         {"a", 9, 20, "", "m", ""}, {"a", 9, 3, "", "m", ""},
                                         {"a", 0, 0, "", "m", ""},  {"a", 9, 3, "", "m", ""}};
  sort_problems(problems);
  EXPECT_EQ(to_text(problems), "a: m\na:9:3: m\na:9:20: m\na:10:1: m\nb:1:1: m\n");
}

TEST(ConfigProblem, AreJsonWithEveryField) {
  const std::vector<ConfigProblem> problems = {{"f.yaml", 2, 3, "a.b", "\"q\"\n\xFF", "h"}};
  const auto json = nlohmann::json::parse(to_json(problems, {}, 5, 9));
  EXPECT_EQ(json["rules"], 5);
  EXPECT_EQ(json["signals"], 9);
  ASSERT_EQ(json["problems"].size(), 1U);
  EXPECT_EQ(json["problems"][0], (nlohmann::json{{"file", "f.yaml"},
                                                 {"line", 2},
                                                 {"column", 3},
                                                 {"path", "a.b"},
                                                 {"message", "\"q\"\n\xEF\xBF\xBD"},
                                                 {"hint", "h"}}));
  EXPECT_EQ(nlohmann::json::parse(to_json({}, {}, 0, 0))["problems"], nlohmann::json::array());
}

TEST(ProblemSink, TakesTheRemedyOutOfAMessage) {
  std::vector<ConfigProblem> problems;
  ProblemSink sink("f", problems);
  sink.add({1, 2}, "p", Error{ErrorKind::invalid, "\"a; b\" is wrong; write c"});
  EXPECT_EQ(problems.at(0).message, "\"a; b\" is wrong");
  EXPECT_EQ(problems.at(0).hint, "write c");
}

TEST(ProblemSink, KnowsWhatIsBrokenAtAndBelowAPath) {
  std::vector<ConfigProblem> problems;
  ProblemSink sink("f", problems);
  sink.add({}, "rules[1].tiers[0].above", "m");
  EXPECT_TRUE(sink.has_problem_at("rules[1]", 0));
  EXPECT_TRUE(sink.has_problem_at("rules[1].tiers", 0));
  EXPECT_TRUE(sink.has_problem_at("rules[1].tiers[0].above", 0));
  EXPECT_FALSE(sink.has_problem_at("rules[1].tier", 0));
  EXPECT_FALSE(sink.has_problem_at("rules[10]", 0));
  EXPECT_FALSE(sink.has_problem_at("rules[1]", 1));
}

TEST(Path, QuotesKeysThatAreNoWords) {
  EXPECT_EQ(join_path("", "rules"), "rules");
  EXPECT_EQ(join_path("a", "b-c"), "a.b-c");
  EXPECT_EQ(join_path("a", "b.c"), "a[\"b.c\"]");
  EXPECT_EQ(join_path("a", ""), "a[\"\"]");
  EXPECT_EQ(item_path(join_path("a", "b"), 3), "a.b[3]");
}

}  // namespace
}  // namespace outcomed
