// Replies of real servers, beside another parser of them.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "queries/prometheus/query_reply.h"
#include "tests/queries/prometheus/collecting_sink.h"
#include "tests/support/gzip_lines.h"

namespace outcomed {
namespace {

class RecordedReplies : public ::testing::TestWithParam<const char*> {};

// nlohmann's parser and strtod are the independent witnesses.
TEST_P(RecordedReplies, AreReadAsAnotherParserReadsThem) {
  const std::filesystem::path path = std::filesystem::path(OUTCOMED_DATA) /
                                     "litellm/1.106.12-servers" /
                                     (std::string(GetParam()) + ".jsonl.gz");
  if (!std::filesystem::exists(path)) {
    GTEST_SKIP() << path << " is not here: set OUTCOMED_DATA to the folder of recordings";
  }
  const auto lines = testing::read_gzip_lines(path.string());
  ASSERT_GE(lines.size(), 10U);
  std::size_t stale = 0;
  QueryReplyDecoder decoder;
  for (const std::string& line : lines) {
    const auto at = line.find("\"reply\":");
    ASSERT_NE(at, std::string::npos);
    std::string body = line.substr(at + 8, line.size() - at - 9);
    const auto reply = nlohmann::json::parse(body);
    std::map<std::string, std::vector<std::string>> expected;
    for (const auto& series : reply["data"]["result"]) {
      Labels labels;
      for (const auto& [name, value] : series["metric"].items()) labels.set(name, value);
      auto& texts = expected[labels.to_string()];
      for (const auto& pair : series["values"]) {
        const double value = std::strtod(pair[1].get<std::string>().c_str(), nullptr);
        stale += std::isnan(value);
        texts.push_back(CollectingSink::text({std::llround(pair[0].get<double>() * 1000), value}));
      }
    }
    CollectingSink sink;
    const auto info = decoder.decode(body, sink);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(sink.by_labels(), expected);
    EXPECT_EQ(info->series, expected.size());
  }
  EXPECT_EQ(stale, std::string_view(GetParam()).starts_with("victoria") ? 127U : 0U);
}

INSTANTIATE_TEST_SUITE_P(OfEachServer, RecordedReplies,
                         ::testing::Values("prometheus-2.42", "prometheus-3.16",
                                           "prometheus-3.16-zero-ingestion",
                                           "victoriametrics-1.79"));

}  // namespace
}  // namespace outcomed
