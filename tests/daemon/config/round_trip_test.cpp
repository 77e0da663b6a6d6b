// Nothing that is accepted is ignored: each setting of each plugin is written with a value that
// isn't its default, loaded, and read back.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "daemon/config/node_visitor.h"
#include "daemon/config/recording_visitor.h"
#include "daemon/config/settings.h"
#include "daemon/config/values.h"
#include "daemon/plugins.h"
#include "tests/daemon/config/test_catalogs.h"

namespace outcomed {
namespace {

// Changes every setting it is shown and writes down, as YAML, what it has become.
class Scribbler final : public ParamVisitor {
 public:
  [[nodiscard]] const std::string& yaml() const { return yaml_; }
  [[nodiscard]] int settings() const { return number_; }

  void flag(std::string_view name, bool& value, std::string_view) override {
    value = !value;
    line(name, value ? "true" : "false");
  }
  void count(std::string_view name, std::int64_t& value, Bounds bounds, std::string_view) override {
    value = static_cast<double>(value + 1) <= bounds.max ? value + 1 : value - 1;
    line(name, std::to_string(value));
  }
  void size(std::string_view name, std::int64_t& bytes, std::string_view) override {
    bytes += 3 * 1024;
    line(name, size_text(bytes));
  }
  void duration(std::string_view name, Duration& value, std::string_view) override {
    value += 1h + std::chrono::seconds(number_);
    line(name, format_duration(value));
  }
  void share(std::string_view name, std::optional<double>& value, std::string_view) override {
    const std::string text = fmt::format("{}.7%", 1 + number_ % 50);
    value = *parse_share(text);
    line(name, text);
  }
  void text(std::string_view name, std::string& value, std::string_view) override {
    value = fmt::format("no: {} #{}", value, number_);
    line(name, fmt::format("\"{}\"", value));
  }
  void text_list(std::string_view name, std::vector<std::string>& value,
                 std::string_view) override {
    value = {"yes", fmt::format("010-{}", number_)};
    line(name, fmt::format("[{}, {}]", value[0], value[1]));
  }
  void url(std::string_view name, std::string& value, std::string_view) override {
    value = fmt::format("http://[::1]:80/{}?a=b", number_);
    line(name, fmt::format("'{}'", value));
  }
  void url_list(std::string_view name, std::vector<std::string>& value, std::string_view) override {
    value = {fmt::format("https://a.example/{}", number_), "http://b.example:1"};
    line(name, fmt::format("['{}', '{}']", value[0], value[1]));
  }
  void path(std::string_view name, std::string& value, std::string_view) override {
    value = fmt::format("/some where/{}", number_);
    line(name, value);
  }
  void secret(std::string_view name, SecretRef& value, std::string_view) override {
    value = {SecretRef::Kind::env, fmt::format("SECRET_{}", number_)};
    line(name, value.to_string());
  }
  void matchers(std::string_view name, Matchers& value, std::string_view) override {
    value = {*Matcher::parse(fmt::format("m{}=~\"a|b\"", number_)), *Matcher::parse("n!=\"c,d\"")};
    line(name, fmt::format("['{}', '{}']", value[0].to_string(), value[1].to_string()));
  }
  void labels(std::string_view name, Labels& value, std::string_view) override {
    value = Labels{{"a", "on"}, {"b", fmt::format("{}", number_)}};
    line(name, fmt::format("{{a: on, b: {}}}", number_));
  }
  void headers(std::string_view name, std::vector<std::pair<std::string, SecretRef>>& value,
               std::string_view) override {
    value = {{"X-Plain", {SecretRef::Kind::literal, fmt::format("v{}", number_)}},
             {"X-Api-Key", {SecretRef::Kind::cred, "key"}}};
    line(name, fmt::format("{{X-Plain: v{}, X-Api-Key: cred:key}}", number_));
  }
  bool begin(std::string_view name, std::string_view) override {
    line(name, "");
    depth_ += 1;
    return true;
  }
  void end() override { depth_ -= 1; }
  std::size_t items(std::string_view name, std::size_t, std::string_view) override {
    line(name, "");
    depth_ += 1;
    return 2;
  }
  void begin_item(std::size_t index) override {
    if (index > 0) depth_ -= 1;
    line("-", "", "");
    depth_ += 1;
  }
  void end_items() override { depth_ -= 2; }
  void problem(std::string_view, std::string, std::string) override {}

 private:
  void line(std::string_view name, std::string_view value, std::string_view colon = ":") {
    ++number_;
    yaml_ += std::string(static_cast<std::size_t>(depth_) * 2, ' ') + std::string(name) +
             std::string(colon) + " " + std::string(value) + "\n";
  }

  std::string yaml_;
  int depth_ = 0;
  int number_ = 0;
};

using Visit = std::function<void(ParamVisitor&)>;

// What `visit` shows after `visitor` has changed it.
std::string shown_after(const Visit& visit, ParamVisitor& visitor) {
  SettingRecorder recorder(SettingRecorder::Mode::values);
  RecordingVisitor both(visitor, recorder);
  visit(both);
  return to_text(recorder.take());
}

// `make` gives a fresh object's visit each time.
void expect_round_trip(const std::string& what, const std::function<Visit()>& make) {
  SCOPED_TRACE(what);
  Scribbler scribbler;
  const std::string written = shown_after(make(), scribbler);
  ASSERT_GT(scribbler.settings(), 0);

  std::vector<ConfigProblem> problems;
  ProblemSink sink("round-trip.yaml", problems);
  Node root;
  ASSERT_TRUE(parse_yaml(scribbler.yaml(), root, sink)) << to_text(problems);
  NodeVisitor loader(root, "", sink, "/etc/outcomed");
  const std::string loaded = shown_after(make(), loader);
  loader.finish();
  EXPECT_EQ(loaded, written) << scribbler.yaml();
  // Rules over several settings may be broken by such values; unknown keys must not appear.
  EXPECT_FALSE(std::ranges::any_of(problems, [](const ConfigProblem& problem) {
    return problem.message == "unknown key";
  })) << to_text(problems);

  // Every line differs from what a fresh object shows.
  Node empty;
  empty.kind = Node::Kind::map;
  NodeVisitor nothing(empty, "", sink, "/etc/outcomed");
  const std::string fresh = "\n" + shown_after(make(), nothing);
  for (std::size_t at = 0; at < loaded.size();) {
    const std::size_t end = loaded.find('\n', at) + 1;
    EXPECT_EQ(fresh.find("\n" + loaded.substr(at, end - at)), std::string::npos)
        << loaded.substr(at, end - at);
    at = end;
  }
}

template <class Params>
std::function<Visit()> visit_of() {
  return [] {
    auto params = std::make_shared<Params>();
    return Visit([params](ParamVisitor& visitor) { params->visit(visitor); });
  };
}

TEST(RoundTrip, EverySettingOfTheConfigurationItself) {
  expect_round_trip("source", visit_of<SourceConfig>());
  expect_round_trip("litellm", visit_of<LitellmPreset>());
  expect_round_trip("signal", visit_of<SignalSettings>());
  expect_round_trip("rule", visit_of<RuleConfig>());
  expect_round_trip("store", visit_of<StoreConfig>());
  expect_round_trip("http", visit_of<HttpConfig>());
  expect_round_trip("route", [] {
    auto route = std::make_shared<Route>();
    return Visit([route](ParamVisitor& visitor) { visit_route(*route, visitor); });
  });
}

TEST(RoundTrip, EverySettingOfEverySourceAndReceiver) {
  for (const SourceEntry& entry : catalogs().sources) {
    expect_round_trip(std::string(entry.kind), [&] {
      std::shared_ptr<PluginSettings> settings = entry.make();
      return Visit([settings](ParamVisitor& visitor) { settings->visit(visitor); });
    });
  }
  for (const ReceiverEntry& entry : catalogs().receivers) {
    expect_round_trip(std::string(entry.kind), [&] {
      std::shared_ptr<PluginSettings> settings = entry.make();
      return Visit([settings](ParamVisitor& visitor) { settings->visit(visitor); });
    });
  }
}

TEST(RoundTrip, EverySettingOfEveryDetector) {
  for (const DetectorEntry& entry : catalogs().detectors) {
    expect_round_trip(std::string(entry.kind), [&] {
      return Visit([&](ParamVisitor& visitor) { entry.make(visitor, SignalWords{}); });
    });
  }
}

// Kinds of values no plugin uses yet, and nesting.
struct Everything {
  bool on = false;
  std::int64_t many = 5;
  std::int64_t bytes = 1024;
  std::optional<double> part;
  std::vector<std::string> words;
  std::vector<std::string> urls;
  Labels labels;
  struct Inner {
    std::string name;
    std::vector<std::string> deep;
  };
  std::vector<Inner> inners;

  void visit(ParamVisitor& visitor) {
    visitor.flag("on", on, "A flag.");
    visitor.count("many", many, {1, 9}, "A count.");
    visitor.size("bytes", bytes, "A size.");
    visitor.share("part", part, "A share.");
    if (visitor.begin("group", "A group.")) {
      visitor.text_list("words", words, "Words.");
      visitor.url_list("urls", urls, "URLs.");
      visitor.labels("labels", labels, "Labels.");
      inners.resize(visitor.items("inners", inners.size(), "Items."));
      for (std::size_t i = 0; i < inners.size(); ++i) {
        visitor.begin_item(i);
        visitor.text("name", inners[i].name, "A name.");
        if (visitor.begin("deeper", "A group in an item.")) {
          visitor.text_list("deep", inners[i].deep, "Words.");
          visitor.end();
        }
      }
      visitor.end_items();
      visitor.end();
    }
  }
};

TEST(RoundTrip, EveryKindOfValueAtEveryDepth) {
  expect_round_trip("everything", visit_of<Everything>());
}

TEST(RoundTrip, ASignalBecomesAPlanWithAllItSays) {
  const LoadedConfig loaded = testing::load_text(R"yaml(
sources: {rec: {kind: recording, path: x.om}}
signals:
  mine: {source: rec, failures: 'f{a="b"}', requests: r, labels: [model, team], failure_labels: [code],
         step: 5m, unit: calls, outcome: timed out}
rules: []
)yaml");
  ASSERT_EQ(to_text(loaded.problems), "");
  const SignalPlan* plan = loaded.config.signal("mine");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->source, "rec");
  EXPECT_EQ(plan->labels, (std::vector<std::string>{"model", "team"}));
  EXPECT_EQ(plan->failure_labels, std::vector<std::string>{"code"});
  EXPECT_EQ(plan->step, 5min);
  EXPECT_EQ(plan->unit, "calls");
  EXPECT_EQ(plan->outcome, "timed out");
  EXPECT_EQ(plan->terms.size(), 2U);
}

}  // namespace
}  // namespace outcomed
