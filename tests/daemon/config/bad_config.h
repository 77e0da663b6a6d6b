// Tests of what people get wrong: a text, and the exact line that it is told.
#pragma once

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <string_view>

#include "tests/daemon/config/test_catalogs.h"

namespace outcomed::testing {

struct BadConfig {
  std::string_view name;
  std::string_view text;
  std::string_view expected;
};

// gtest prints the name only.
inline void PrintTo(const BadConfig& bad, std::ostream* out) { *out << bad.name; }

inline std::string test_name(const ::testing::TestParamInfo<BadConfig>& info) {
  return std::string(info.param.name);
}

// Two good lines that others come after.
inline constexpr std::string_view kGoodStart =
    "sources: {prom: {kind: prometheus, url: \"http://p:9090\"}}\n"
    "presets: [{litellm: {metrics: prom}}]\n";

// What is told of a text that follows them.
inline std::string problems_after_good_start(std::string_view text) {
  return to_text(load_text(std::string(kGoodStart) + std::string(text)).problems);
}

}  // namespace outcomed::testing
