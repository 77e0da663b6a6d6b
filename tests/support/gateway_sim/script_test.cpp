#include "tests/support/gateway_sim/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace outcomed::sim {
namespace {

using ::testing::HasSubstr;

TEST(Script, ReadsPhasesAndSettings) {
  const auto script = parse_script(
      "# a comment\ncycle 1h\nswing 50%\nnoise 0.001\n"
      "5m 6m refuse judge share=92%  # why\n10m - never stillborn\n1h30m 1m fallback a to=b\n");
  ASSERT_TRUE(script) << script.error().message;
  EXPECT_EQ(script->cycle_ms, 3'600'000);
  EXPECT_EQ(script->swing, 0.5);
  EXPECT_EQ(script->noise, 0.001);
  ASSERT_EQ(script->phases.size(), 3u);
  EXPECT_EQ(script->phases[0].effect, Effect::refuse);
  EXPECT_EQ(script->phases[0].begin_ms, 300'000);
  EXPECT_EQ(script->phases[0].end_ms, 660'000);
  EXPECT_EQ(script->phases[0].share, 0.92);
  EXPECT_EQ(script->phases[2].other, "b");
}

TEST(Script, RepeatsPhasesButNotBirths) {
  const auto script = parse_script("cycle 1h\n5m 6m refuse judge\n10m - born a\n");
  ASSERT_TRUE(script);
  const auto on = [&](std::size_t phase, std::int64_t minutes) {
    return script->on(script->phases[phase], minutes * 60'000);
  };
  EXPECT_FALSE(on(0, 4));
  EXPECT_TRUE(on(0, 5));
  EXPECT_FALSE(on(0, 11));
  EXPECT_TRUE(on(0, 65));
  EXPECT_FALSE(on(1, 9));
  EXPECT_TRUE(on(1, 65));
}

TEST(Script, NamesTheLineOfAFault) {
  for (const std::string bad : {"5 6m refuse", "5m", "5m 6m", "5m 6m explode",
                                "5m 6m refuse a share=110%", "5m 6m refuse a b", "5m 6m fallback a",
                                "5m 6m refuse a to=b", "cycle fast", "speed 2", "noise x"}) {
    const auto script = parse_script("noise 0\n" + bad + "\n");
    ASSERT_FALSE(script) << bad;
    EXPECT_THAT(script.error().message, HasSubstr("script line 2: ")) << bad;
  }
}

TEST(Script, HasScenariosThatAreRight) {
  for (const std::string_view name : {"demo", "soak", "all"}) {
    const auto text = builtin_script(name);
    ASSERT_TRUE(text);
    const auto script = parse_script(*text);
    EXPECT_TRUE(script) << name << ": " << script.error().message;
  }
  EXPECT_FALSE(builtin_script("none"));
}

}  // namespace
}  // namespace outcomed::sim
