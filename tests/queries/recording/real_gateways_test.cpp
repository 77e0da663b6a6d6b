// Recordings of real gateways: however the time is cut, the same comes out. (That it is what the
// clients got is shown with the preset.)
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "queries/litellm/preset.h"
#include "queries/recording/recording_source.h"

namespace outcomed {
namespace {

namespace fs = std::filesystem;

// n and k by cell and time.
using Counts = std::map<std::pair<Labels, Timestamp>, std::pair<std::int64_t, std::int64_t>>;

Counts counted(const std::string& path, const SignalPlan& plan, Duration at_once, bool restarts) {
  Counts counts;
  auto source = std::make_unique<RecordingSource>(RecordingSettings{path}, std::vector{plan});
  const auto span = source->span();
  EXPECT_TRUE(span && *span);
  for (Timestamp at = (*span)->begin; at < (*span)->end; at += at_once) {
    const auto fetched = source->fetch({at, std::min(at + at_once, (*span)->end)});
    if (!fetched) {
      ADD_FAILURE() << fetched.error().message;
      return counts;
    }
    const SignalBatch& batch = fetched->batches[0];
    for (std::size_t i = 0; i < batch.n.size(); ++i) {
      if (batch.n[i] == 0 && batch.k[i] == 0) continue;
      const auto step = static_cast<std::int64_t>(i % batch.steps());
      counts[{source->cells(0)[i / batch.steps()], at + step * batch.step}] = {batch.n[i],
                                                                               batch.k[i]};
    }
    if (!restarts) continue;
    Writer writer;
    source->save(writer);
    source = std::make_unique<RecordingSource>(RecordingSettings{path}, std::vector{plan});
    Reader reader(writer.bytes());
    EXPECT_TRUE(source->load(reader));
  }
  return counts;
}

class RealGateways : public ::testing::TestWithParam<const char*> {};

TEST_P(RealGateways, ReadTheSameHoweverTheTimeIsCut) {
  const std::string version = GetParam();
  const fs::path folder = fs::path(OUTCOMED_DATA) / "litellm" / version;
  if (!fs::exists(folder)) {
    GTEST_SKIP() << "the recordings of real gateways are not here: " << folder
                 << " (set OUTCOMED_DATA to the folder that holds litellm/)";
  }
  litellm::PresetSettings settings;
  settings.version = version.substr(0, version.find('-'));
  settings.step = 5s;
  const SignalPlan plan = litellm::signals(settings).at(0);
  const std::string pages = (folder / "pages").string();
  const Counts whole = counted(pages, plan, 24h, false);
  EXPECT_GT(whole.size(), 100u);
  EXPECT_EQ(counted(pages, plan, 5s, false), whole);
  EXPECT_EQ(counted(pages, plan, 35s, true), whole);
}

INSTANTIATE_TEST_SUITE_P(Versions, RealGateways,
                         ::testing::Values("1.81.9", "1.86.7", "1.99.4", "1.106.12",
                                           "1.81.9-two-workers", "1.99.4-two-workers"),
                         [](const auto& version) {
                           std::string name = version.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == '.' || c == '-'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace outcomed
