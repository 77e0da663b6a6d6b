#include "daemon/config/schema.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "daemon/config/default_rules.h"
#include "daemon/plugins.h"
#include "tests/daemon/config/test_catalogs.h"

namespace outcomed {
namespace {

// The pages in docs/ are made from the declarations; OUTCOMED_REGENERATE=1 writes them.
void expect_page(const std::string& name, const std::string& text) {
  const std::string path = std::string(OUTCOMED_SOURCE_DIR) + "/docs/" + name;
  if (std::getenv("OUTCOMED_REGENERATE") != nullptr) std::ofstream(path, std::ios::binary) << text;
  std::ifstream file(path, std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_EQ(page.str(), text) << path
                              << " is out of date: run this test with OUTCOMED_REGENERATE=1";
}

TEST(Reference, ThePageInDocsIsWhatTheCodeSays) {
  expect_page("configuration.md", reference_page(catalogs()));
}

TEST(Reference, NamesEverySettingWithItsDefault) {
  const std::string page = reference_page(testing::test_catalogs());
  for (const std::string_view row :
       {"| `delay` | duration | `30s` | ", "| `basic_auth.password` | secret | – | ",
        "| `tiers[].above` | share | – | ", "| `min_requests` | count, at least 1 | `1` | ",
        "| `retention.buckets` | duration | `35d` | ", "| `listen` | text | `127.0.0.1:9469` | ",
        "| `scrape_interval` | duration | `15s` | ", "| `batch` | count, 1 to 1024 | `64` | ",
        "### rule `share`", "### source `exposition`", "### receiver `webhook`"}) {
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

TEST(Schema, OffersOnlyWhatIsKnown) {
  const auto schema = nlohmann::json::parse(config_schema(testing::test_catalogs()));
  EXPECT_EQ(schema["additionalProperties"], false);
  const auto& rule = schema["properties"]["rules"]["items"]["oneOf"][0];
  EXPECT_EQ(rule["properties"]["kind"]["const"], "share");
  EXPECT_EQ(rule["additionalProperties"], false);
  EXPECT_EQ(rule["required"], (nlohmann::json{"name", "kind", "signal"}));
  EXPECT_EQ(rule["properties"]["min_requests"]["minimum"], 1);
  EXPECT_EQ(rule["properties"]["window"]["default"], "1h");
  EXPECT_TRUE(rule["properties"]["tiers"]["items"]["properties"].contains("severity"));
  const auto& sources = schema["properties"]["sources"]["additionalProperties"]["oneOf"];
  EXPECT_EQ(sources.size(), 4U);
  EXPECT_TRUE(sources[0]["properties"]["tls"]["properties"].contains("ca_file"));
  EXPECT_EQ(schema["definitions"]["route"]["properties"]["routes"]["items"]["$ref"],
            "#/definitions/route");
}

TEST(Catalogues, TheRealSourcesSayWhatIsMissing) {
  const LoadedConfig loaded = load_config_text(
      "sources: {a: {kind: prometheus}, b: {kind: exposition}, c: {kind: recording}}\n"
      "signals: {}\n"
      "receivers: [{name: d, webhook: {}, alertmanager: {}}]\n",
      "outcomed.yaml", catalogs());
  std::vector<std::string> paths;
  for (const ConfigProblem& problem : loaded.problems) paths.push_back(problem.path);
  EXPECT_EQ(paths, (std::vector<std::string>{"sources.a.url", "sources.b.url", "sources.c.path",
                                             "receivers[0].webhook.url",
                                             "receivers[0].alertmanager.urls"}));
}

TEST(Catalogues, TheRealOnesLoadTheBuiltInRules) {
  const LoadedConfig loaded = load_config_text(
      "sources: {prom: {kind: prometheus, url: \"http://127.0.0.1:9090\"}}\n"
      "presets: [{litellm: {metrics: prom}}]\n",
      "outcomed.yaml", catalogs());
  EXPECT_EQ(to_text(loaded.problems), "");
  EXPECT_EQ(loaded.config.rules.size(), 9U);
}

}  // namespace
}  // namespace outcomed
