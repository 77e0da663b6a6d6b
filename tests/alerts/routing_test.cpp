#include "alerts/routing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>

#include "tests/alerts/peer_process.h"

namespace outcomed {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Matcher matcher(std::string_view text) { return *Matcher::parse(text); }

Route route(std::string receiver, std::vector<std::string_view> matchers = {},
            std::vector<Route> routes = {}) {
  Route made;
  made.receiver = std::move(receiver);
  for (const std::string_view text : matchers) made.matchers.push_back(matcher(text));
  made.routes = std::move(routes);
  return made;
}

Route going_on(Route made) {
  made.goes_on = true;
  return made;
}

Route grouped(Route made, std::vector<std::string> group_by) {
  made.group_by = std::move(group_by);
  return made;
}

std::vector<std::string> receivers_of(const Route& root, const Labels& labels) {
  std::vector<std::string> names;
  for (const RouteMatch& m : match(root, labels)) names.push_back(m.receiver);
  return names;
}

TEST(RoutingTree, TheRootTakesWhatNobodyElseDoes) {
  const Route root = route("oncall", {}, {route("hooks", {"severity=ticket"})});
  EXPECT_THAT(receivers_of(root, {{"severity", "page"}}), ElementsAre("oncall"));
  EXPECT_THAT(receivers_of(root, {{"severity", "ticket"}}), ElementsAre("hooks"));
  EXPECT_THAT(receivers_of(root, {}), ElementsAre("oncall"));
}

TEST(RoutingTree, TheFirstMatchingChildEndsTheSearch) {
  const Route root =
      route("root", {}, {route("a", {"x=~1|2"}), route("b", {"x=2"}), route("c", {"x=3"})});
  EXPECT_THAT(receivers_of(root, {{"x", "2"}}), ElementsAre("a"));
  EXPECT_THAT(receivers_of(root, {{"x", "3"}}), ElementsAre("c"));
}

TEST(RoutingTree, ContinueLetsTheNextSiblingsTryAsWell) {
  const Route root = route("root", {},
                           {going_on(route("all")), route("a", {"x=1"}),
                            going_on(route("b", {"x=1"})), route("c", {"x!=1"})});
  EXPECT_THAT(receivers_of(root, {{"x", "1"}}), ElementsAre("all", "a"));
  EXPECT_THAT(receivers_of(root, {{"x", "2"}}), ElementsAre("all", "c"));
}

TEST(RoutingTree, TheDeepestMatchTakesTheAlertAndItsParentDoesNot) {
  const Route root =
      route("root", {},
            {route("team", {"team=llm"},
                   {route("pager", {"severity=page"}, {route("night", {"at=night"})})})});
  EXPECT_THAT(receivers_of(root, {{"team", "llm"}}), ElementsAre("team"));
  EXPECT_THAT(receivers_of(root, {{"team", "llm"}, {"severity", "page"}}), ElementsAre("pager"));
  EXPECT_THAT(receivers_of(root, {{"team", "llm"}, {"severity", "page"}, {"at", "night"}}),
              ElementsAre("night"));
  // A grandchild's matchers count only below a matching child.
  EXPECT_THAT(receivers_of(root, {{"severity", "page"}, {"at", "night"}}), ElementsAre("root"));
}

TEST(RoutingTree, ReceiverAndGroupingAreInheritedFromTheNearestThatHasOne) {
  const Route root = grouped(
      route(
          "root", {},
          {grouped(route("", {"a=1"}, {route("deep", {"b=1"}), grouped(route("", {"b=2"}), {"b"})}),
                   {"a"})}),
      {"rule"});
  const Labels base = {{"rule", "r"}, {"a", "1"}};
  const auto only = [&](Labels labels) {
    const auto matches = match(root, labels);
    EXPECT_EQ(matches.size(), 1U);
    return matches.at(0);
  };
  EXPECT_EQ(only(base).receiver, "root");
  EXPECT_EQ(only(base).group_labels, (Labels{{"a", "1"}}));
  Labels deep = base;
  deep.set("b", "1");
  EXPECT_EQ(only(deep), (RouteMatch{"deep", {{"a", "1"}}, R"({}/{a="1"}/{b="1"}:{a="1"})"}));
  deep.set("b", "2");
  EXPECT_EQ(only(deep), (RouteMatch{"root", {{"b", "2"}}, R"({}/{a="1"}/{b="2"}:{b="2"})"}));
  EXPECT_EQ(only({{"rule", "r"}}), (RouteMatch{"root", {{"rule", "r"}}, R"({}:{rule="r"})"}));
}

TEST(RoutingTree, GroupByDotsMeansEveryLabelAndIsInheritedToo) {
  const Route root = grouped(
      route("root", {}, {route("child", {"a=1"}), grouped(route("own", {"a=2"}), {"b"})}), {"..."});
  EXPECT_EQ(match(root, {{"a", "1"}, {"b", "2"}}).at(0).group_labels,
            (Labels{{"a", "1"}, {"b", "2"}}));
  EXPECT_EQ(match(root, {{"a", "2"}, {"b", "2"}}).at(0).group_labels, (Labels{{"b", "2"}}));
}

TEST(RoutingTree, LabelsAnAlertDoesNotHaveAreNotPartOfItsGroup) {
  const Route root = grouped(route("root"), {"a", "b"});
  EXPECT_EQ(match(root, {{"b", "1"}}).at(0), (RouteMatch{"root", {{"b", "1"}}, R"({}:{b="1"})"}));
  EXPECT_EQ(match(root, {}).at(0).group_key, "{}:{}");
}

TEST(RoutingTree, TheKeyDoesNotDependOnTheOrderOfMatchersInTheFile) {
  const Labels labels = {{"a", "1"}, {"b", "2"}};
  const Route one = route("root", {}, {route("x", {"b=2", "a!=9", "a=1"})});
  const Route two = route("root", {}, {route("x", {"a=1", "b=2", "a!=9"})});
  EXPECT_EQ(match(one, labels), match(two, labels));
  EXPECT_EQ(match(one, labels).at(0).group_key, R"({}/{a="1",a!="9",b="2"}:{})");
}

TEST(RoutingTree, AMissingLabelIsAnEmptyOne) {
  const Route root =
      route("root", {}, {route("none", {"team=\"\""}), route("some", {"team!=\"\""})});
  EXPECT_THAT(receivers_of(root, {}), ElementsAre("none"));
  EXPECT_THAT(receivers_of(root, {{"team", "x"}}), ElementsAre("some"));
}

TEST(RoutingTree, ARootWithMatchersMayMatchNothing) {
  EXPECT_THAT(match(route("root", {"a=1"}), {}), IsEmpty());
}

TEST(RoutingTree, AVeryDeepTreeIsNoDanger) {
  Route root = route("leaf");
  for (int i = 0; i < 1000; ++i) {
    std::vector<Route> below;
    below.push_back(std::move(root));
    root = route("node" + std::to_string(i), {}, std::move(below));
  }
  EXPECT_THAT(receivers_of(root, {}), ElementsAre("leaf"));
}

TEST(RouteProblems, AWholeTreeHasNone) {
  const Route root = grouped(route("a", {}, {grouped(route("", {"x=1"}), {"..."})}), {"rule"});
  EXPECT_THAT(route_problems(root, {"a"}), IsEmpty());
}

TEST(RouteProblems, AllAreToldWithTheirPlaces) {
  Route root = going_on(grouped(route("", {"x=1"}), {"...", "rule"}));
  root.routes = {route("nobody", {}, {grouped(route("b"), {"a-b", "c", "c"})}), route("a")};
  std::vector<std::string> told;
  for (const RouteProblem& problem : route_problems(root, {"a", "b"})) {
    EXPECT_FALSE(problem.hint.empty());
    told.push_back(problem.path + ": " + problem.message);
  }
  EXPECT_THAT(told,
              ElementsAre("route.matchers: the first route must take every alert, so it can't have "
                          "matchers",
                          "route.continue: the first route has no siblings to go on to",
                          "route.receiver: the first route needs a receiver",
                          "route.group_by: \"...\" already means every label",
                          "route.routes[0].receiver: there is no receiver \"nobody\"",
                          "route.routes[0].routes[0].group_by: \"a-b\" is not a label name",
                          "route.routes[0].routes[0].group_by: \"c\" is listed twice"));
}

// Random trees, asked of us and of Alertmanager's own routing test.
class RandomTree {
 public:
  explicit RandomTree(unsigned seed) : random_(seed) {}

  Route make() {
    Route root = node(0);
    root.matchers.clear();
    root.goes_on = false;
    root.receiver = "r0";
    return root;
  }
  Labels labels() {
    Labels made;
    for (const char* name : {"a", "b", "c"}) made.set(name, values_[random_() % values_.size()]);
    return made;
  }

 private:
  Route node(int depth) {
    Route made;
    if (random_() % 4 != 0) made.receiver = fmt::format("r{}", random_() % 9);
    made.goes_on = random_() % 3 == 0;
    for (auto left = random_() % 3; left > 0; --left) {
      const std::string name(1, "abc"[random_() % 3]);
      const auto op = static_cast<Matcher::Op>(random_() % 4);
      const bool regex = op == Matcher::Op::match || op == Matcher::Op::not_match;
      const std::string value =
          regex ? patterns_[random_() % patterns_.size()] : values_[random_() % values_.size()];
      made.matchers.push_back(*Matcher::make(name, op, value));
    }
    for (auto left = depth < 3 ? random_() % 4 : 0; left > 0; --left) {
      made.routes.push_back(node(depth + 1));
    }
    return made;
  }

  std::mt19937 random_;
  const std::vector<std::string> values_ = {"", "1", "2", "x y", "a\"b"};
  const std::vector<std::string> patterns_ = {"1|2", ".*", ".+", "[^1]*", "a\".?", "x"};
};

nlohmann::json route_as_json(const Route& route) {
  nlohmann::json made = {{"continue", route.goes_on}};
  if (!route.receiver.empty()) made["receiver"] = route.receiver;
  for (const Matcher& m : route.matchers) made["matchers"].push_back(m.to_string());
  for (const Route& child : route.routes) made["routes"].push_back(route_as_json(child));
  return made;
}

TEST(RoutingTree, RandomTreesGoWhereAlertmanagerSends) {
  OUTCOMED_NEED_PEER(amtool, "amtool");
  const testing::ScratchFolder folder;
  nlohmann::json receivers;
  for (int i = 0; i < 9; ++i) receivers.push_back({{"name", fmt::format("r{}", i)}});
  int several = 0;
  int inner = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    RandomTree random(seed);
    const Route root = random.make();
    nlohmann::json tree = route_as_json(root);
    tree.erase("continue");
    const std::string file =
        folder.write("am.yml", nlohmann::json{{"route", tree}, {"receivers", receivers}}.dump());
    for (int i = 0; i < 4; ++i) {
      const Labels labels = random.labels();
      std::vector<std::string> command = {*amtool, "config", "routes", "test",
                                          "--config.file=" + file};
      for (const auto& [name, value] : labels.pairs()) {
        command.push_back(name + "=" + nlohmann::json(value).dump());
      }
      const auto told = testing::run_peer(command);
      const auto ours = receivers_of(root, labels);
      several += ours.size() > 1 ? 1 : 0;
      inner += ours.size() != 1 || ours[0] != "r0" ? 1 : 0;
      ASSERT_EQ(told.status, 0) << told.output;
      // A warning of amtool's may come first.
      ASSERT_TRUE(("\n" + told.output).ends_with(fmt::format("\n{}\n", fmt::join(ours, ","))))
          << told.output << fmt::format("{}", fmt::join(ours, ",")) << "\n"
          << "seed " << seed << " " << labels.to_string() << "\n"
          << tree.dump(1);
    }
  }
  EXPECT_GT(several, 10);  // The comparison is about something.
  EXPECT_GT(inner, 40);
}

}  // namespace
}  // namespace outcomed
