// Recordings of real gateways, read as pages: what comes out must be what the clients got.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "queries/litellm/preset.h"
#include "queries/recording/file_pieces.h"
#include "queries/recording/recording_source.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;

struct Counts {
  std::int64_t n = 0;
  std::int64_t k = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};
void PrintTo(const Counts& counts, std::ostream* out) { *out << counts.k << " of " << counts.n; }
using ByModel = std::map<std::string, Counts>;

ByModel truth_of(const fs::path& folder, bool shows_401) {
  std::string text;
  const Status status = read_pieces((folder / "requests.jsonl.gz").string(), [&](auto piece) {
    text += piece;
    return ok();
  });
  EXPECT_TRUE(status);
  ByModel truth;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto request = nlohmann::json::parse(line);
    const int code = request["status"];
    if (code == 401 && !shows_401) continue;
    // Newer gateways give models that don't exist one common name.
    std::string model = request["model"];
    if (model == "nosuch" && shows_401) model = "other";
    Counts& counts = truth[model];
    ++counts.n;
    if (code != 200) ++counts.k;
  }
  return truth;
}

ByModel counted(Source& source, Duration at_once) {
  ByModel counts;
  const auto span = source.span();
  EXPECT_TRUE(span && *span);
  for (Timestamp at = (*span)->begin; at < (*span)->end; at += at_once) {
    const auto fetched = source.fetch({at, std::min(at + at_once, (*span)->end)});
    if (!fetched) {
      ADD_FAILURE() << fetched.error().message;
      return counts;
    }
    const SignalBatch& batch = fetched->batches[0];
    for (std::size_t i = 0; i < batch.n.size(); ++i) {
      Counts& cell = counts[std::string(source.cells(0)[i / batch.steps()].get("model"))];
      cell.n += batch.n[i];
      cell.k += batch.k[i];
    }
  }
  return counts;
}

class RealGateways : public ::testing::TestWithParam<const char*> {};

TEST_P(RealGateways, CountWhatTheirClientsGot) {
  const std::string version = GetParam();
  const fs::path folder = fs::path(OUTCOMED_DATA) / "litellm" / version;
  if (!fs::exists(folder)) {
    GTEST_SKIP() << "the recordings of real gateways are not here: " << folder
                 << " (set OUTCOMED_DATA to the folder that holds litellm/)";
  }
  std::vector<SignalPlan> plans = litellm::signals({"rec", version.substr(0, version.find('-'))});
  plans.resize(1);
  ASSERT_EQ(plans[0].name, "requests");
  const ByModel truth = truth_of(folder, version.starts_with("1.106"));
  // All at once, minute by minute.
  for (const Duration at_once : {Duration(24h), Duration(1min)}) {
    RecordingSource source({(folder / "pages").string()}, plans);
    EXPECT_EQ(counted(source, at_once), truth);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, RealGateways,
                         ::testing::Values("1.81.9", "1.86.7", "1.99.4", "1.106.12",
                                           "1.81.9-two-workers"),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '.' || c == '-'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace outcomed
