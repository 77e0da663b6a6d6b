// Files made to hurt: refused or loaded, without a crash, before the runner ends the test.
#include <gtest/gtest.h>

#include <random>

#include "tests/daemon/config/test_catalogs.h"

namespace outcomed {
namespace {

using testing::load_text;

std::string repeated(std::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += part;
  return text;
}

TEST(HostileConfig, AliasBomb) {
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    const std::string ref = std::string("*") + char(c - 1);
    bomb += std::string(1, c) + ": &" + c + " [" + ref + repeated("," + ref, 8) + "]\n";
  }
  EXPECT_LT(bomb.size(), 400U);
  const LoadedConfig loaded = load_text(bomb);
  EXPECT_EQ(to_text(loaded.problems).substr(0, 52),
            "outcomed.yaml:1:4: anchors (&name) are not supported");
}

TEST(HostileConfig, AnAliasOfItself) {
  EXPECT_EQ(to_text(load_text("&a [*a]").problems),
            "outcomed.yaml:1:1: anchors (&name) are not supported; write the value out where it is "
            "needed\n"
            "outcomed.yaml:1:5: aliases (*name) are not supported; write the value out\n");
}

TEST(HostileConfig, DeepNesting) {
  for (const std::string& text :
       {std::string(100'000, '['), std::string(100'000, '{'), repeated("? ", 20'000),
        repeated("- ", 20'000), repeated("a: {", 20'000), repeated("[a: ", 20'000),
        repeated("? ", 500'000)}) {
    const LoadedConfig loaded = load_text(text);
    ASSERT_EQ(loaded.problems.size(), 1U) << text.substr(0, 10);
    EXPECT_EQ(loaded.problems[0].message, "more than 64 levels of nesting") << text.substr(0, 10);
  }
}

// yaml-cpp would need some 240 bytes for each of these bytes.
TEST(HostileConfig, BracketsByTheMillionAreNotEvenParsed) {
  for (const std::string& text : {std::string(1 << 20, '{'), repeated("[a,", 300'000),
                                  "{" + repeated("a,", 500'000), repeated("[],", 300'000)}) {
    EXPECT_EQ(to_text(load_text(text).problems),
              "outcomed.yaml: the file has more than 100000 values; split it\n");
  }
}

TEST(HostileConfig, LongLinesAndManyLines) {
  for (const std::string& text :
       {"a: \"" + std::string(1'000'000, 'x') + "\"", "a: " + repeated("x\n ", 300'000),
        std::string(1'000'000, '\n'), std::string(1'000'000, '#'),
        std::string(1'000'000, ' ') + "a", "[" + repeated("ä,", 49'000) + "]",
        "rules: [" + repeated("{},", 30'000) + "]", repeated("%x\n", 300'000),
        repeated("--- \n", 200'000), repeated("&a", 300'000), repeated("!a ", 300'000),
        repeated(": ", 300'000), "[" + repeated(": ,", 300'000),
        "a: |\n" + repeated(" x\n", 300'000), repeated("'", 1'000'000), repeated("\"", 1'000'000),
        repeated("\\", 1'000'000), repeated("\t", 1'000'000), repeated("a: b: ", 100'000)}) {
    load_text(text);
  }
}

std::string numbered(std::string_view start, int times, std::string_view before,
                     std::string_view after, std::string_view end) {
  std::string text(start);
  for (int i = 0; i < times; ++i) {
    text += std::string(before) + std::to_string(i) + std::string(after);
  }
  return text + std::string(end);
}

// As many entries as the limit of values allows, all wrong or all referring to each other.
TEST(HostileConfig, ManyEntries) {
  for (const std::string& text :
       {numbered("", 49'000, "k", ": 1\n", ""), numbered("store: {", 49'000, "k", ": 1, ", "}"),
        numbered("sources: {", 19'000, "s", ": {kind: x}, ", "}"),
        numbered("signals: {", 19'000, "s", ": {source: nowhere}, ", "}"),
        numbered("receivers: [", 30'000, "{name: r", "},", "]"),
        numbered("receivers: [{name: a}]\nroute: {receiver: a, routes: [", 30'000, "{receiver: r",
                 "},", "]}"),
        numbered("rules: [", 12'000, "{name: r", ", kind: share, signal: s},", "]"),
        numbered("rules: [{name: a, kind: share, tiers: [", 30'000, "{above: 1", "%},", "]}]"),
        numbered("rules: [{name: a, kind: share, by: [", 90'000, "l", ",", "]}]"),
        numbered("rules: [{name: a, kind: share, labels: {", 45'000, "l", ": x,", "}}]"),
        repeated("a: 1\n", 49'000)}) {
    load_text(text);
  }
}

// A valid configuration, cut anywhere or with bytes changed: a message or a configuration, never
// a crash.
TEST(HostileConfig, EveryDamageIsSurvived) {
  const std::string good =
      "sources: {prom: {kind: prometheus, url: \"http://p:9090\", headers: {X-A: 'b'}}}\n"
      "presets: [{litellm: {metrics: prom, private: [\"a/*\"]}}]\n"
      "rules:\n"
      "- name: a\n  kind: share\n  signal: requests\n  by: [model]\n"
      "  matchers: ['team=~\"x|y\"']\n  tiers: [{above: 5%, for: 5m, severity: page}]\n"
      "receivers: [{name: r, webhook: {url: \"https://h/x\"}}]\n"
      "route: {receiver: r, routes: [{matchers: [a=b], continue: true}]}\n"
      "store: {retention: {buckets: 40d}}\n";
  ASSERT_EQ(to_text(load_text(good).problems), "");
  for (std::size_t size = 0; size <= good.size(); ++size) load_text(good.substr(0, size));
  std::mt19937_64 random(7);
  constexpr char kRaw[] = "\0\n\t :,-?[]{}#&*!|>'\"%@`\\<~a0\x80\xff";
  const std::string_view kBytes(kRaw, sizeof kRaw - 1);
  for (int i = 0; i < 4'000; ++i) {
    std::string text = good;
    for (std::uint64_t n = random() % 4; n < 4; ++n) {
      const std::size_t at = random() % text.size();
      const char byte = kBytes[random() % kBytes.size()];
      switch (random() % 3) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        default:
          text.erase(at, 1 + random() % 8);
      }
      if (text.empty()) text = "a";
    }
    const LoadedConfig loaded = load_text(text);
    to_json(loaded.problems, loaded.notes, 0, 0);
    for (const ConfigProblem& problem : loaded.problems) {
      EXPECT_EQ(to_text(problem).find('\n'), std::string::npos);
    }
  }
}

TEST(HostileConfig, NoSecretIsEverRepeated) {
  constexpr std::string_view kCanary = "hunter2canary";
  const std::string text =
      "sources: {p: {kind: prometheus, url: \"http://hunter2canary@p\", bearer_token: "
      "hunter2canary, "
      "basic_auth: {username: a, password: [hunter2canary]}, headers: {X-Token: hunter2canary, "
      "Authorization: \"Bearer hunter2canary\"}}}\n"
      "signals: {}\n"
      "receivers: [{name: a, webhook: {url: \"hunter2canary\", hmac_secret: "
      "\"env:hunter2canary-x\"}}, "
      "{name: b, alertmanager: {urls: \"http://x/hunter2canary\"}}]\n"
      "route: {receiver: a}\n";
  const LoadedConfig loaded = load_text(text);
  EXPECT_GE(loaded.problems.size(), 7U);
  EXPECT_EQ(to_text(loaded.problems).find(kCanary), std::string::npos) << to_text(loaded.problems);
  EXPECT_EQ(to_json(loaded.problems, loaded.notes, 0, 0).find(kCanary), std::string::npos);
}

}  // namespace
}  // namespace outcomed
