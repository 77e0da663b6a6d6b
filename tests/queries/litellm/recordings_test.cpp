// The signal `requests` against what the clients of real gateways got, request by request.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "queries/litellm/preset.h"
#include "queries/recording/recording_source.h"
#include "tests/support/client_truth.h"

namespace outcomed {
namespace {

using testing::Truth;

constexpr Duration kStep = std::chrono::seconds(1);

struct Recording {
  std::string version;
  // Provider 401s never reach a counter before 1.106 (they are in neither side's comparison then).
  bool counts_401 = false;
  std::string unknown_model = "nosuch";  // "other" since unknown names are no labels any more.
  // Two workers without a shared folder: a page shows the counts of one of them, so what the other
  // one counted may come pages later. Only the whole can be compared.
  bool page_shows_all = true;
};

void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.version; }

SignalPlan requests_plan() {
  litellm::PresetSettings settings;
  settings.step = kStep;
  SignalPlan plan = litellm::signals(settings).front();
  plan.labels = {"model"};
  plan.failure_labels = {"error_class"};
  return plan;
}

// Times of the pages, Unix seconds.
std::vector<double> page_times(const std::string& folder) {
  std::vector<double> times;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    times.push_back(std::stod(name.substr(name.find('-') + 1)));
  }
  std::ranges::sort(times);
  return times;
}

class Recordings : public ::testing::TestWithParam<Recording> {
 protected:
  void SetUp() override {
    folder_ = std::string(OUTCOMED_DATA) + "/litellm/" + GetParam().version;
    if (!std::filesystem::exists(folder_)) {
      GTEST_SKIP() << "the recordings of real gateways are not here: " << folder_;
    }
    requests_ = testing::read_client_requests(folder_ + "/requests.jsonl.gz");
    ASSERT_FALSE(requests_.empty());
    for (auto& request : requests_) {
      if (request.model == "nosuch") request.model = GetParam().unknown_model;
    }
    if (!GetParam().counts_401) {
      std::erase_if(requests_, [](const auto& r) { return r.error_class == "authentication"; });
    }
    plan_ = requests_plan();
    source_ = std::make_unique<RecordingSource>(RecordingSettings{folder_ + "/pages"},
                                                std::vector{plan_});
    const auto span = source_->span();
    ASSERT_TRUE(span) << span.error().message;
    range_ = **span;
    range_.begin = floor_to(range_.begin, kStep) - kStep;
    range_.end = floor_to(range_.end, kStep) + kStep;
    auto fetched = source_->fetch(range_);
    ASSERT_TRUE(fetched) << fetched.error().message;
    batch_ = std::move(fetched->batches.front());
    problems_ = std::move(fetched->problems);
  }

  // Our counts of the steps that end in (from, to].
  Truth counted(double from, double to) const {
    Truth sums;
    const auto& cells = source_->cells(0);
    for (std::size_t step = 0; step < batch_.steps(); ++step) {
      const double end = double(unix_ms(batch_.range.begin)) / 1000 + double(step + 1);
      if (end <= from || end > to) continue;
      for (std::size_t cell = 0; cell < cells.size(); ++cell) {
        const std::size_t at = cell * batch_.steps() + step;
        const std::string model(cells[cell].get("model"));
        const std::string error_class(cells[cell].get("error_class"));
        if (batch_.n[at] != 0) sums.n[model] += batch_.n[at];
        if (batch_.k[at] != 0) sums.k[{model, error_class}] += batch_.k[at];
      }
    }
    return sums;
  }

  std::string folder_;
  std::vector<testing::ClientRequest> requests_;
  SignalPlan plan_;
  std::unique_ptr<RecordingSource> source_;
  TimeRange range_;
  SignalBatch batch_;
  std::vector<Problem> problems_;
};

TEST_P(Recordings, EqualTheClientsCountsOverTheWhole) {
  const Truth truth = testing::truth_between(requests_, 0, 1e12);
  const Truth ours = counted(0, 1e12);
  EXPECT_EQ(ours.n, truth.n);
  EXPECT_EQ(ours.k, truth.k);
  EXPECT_TRUE(problems_.empty()) << problems_.front().message;
}

// A page is quiet when nothing was under way for a second and a half around it: then everything
// that ended before it is on it, and nothing that ended after.
TEST_P(Recordings, EqualTheClientsCountsBetweenAnyTwoQuietScrapes) {
  if (!GetParam().page_shows_all) return;
  std::vector<double> quiet;
  for (const double at : page_times(folder_ + "/pages")) {
    const bool busy = std::ranges::any_of(requests_, [&](const auto& request) {
      return request.end > at - 1.5 && request.end < at + 0.5;
    });
    if (!busy) quiet.push_back(at);
  }
  ASSERT_GE(quiet.size(), 3U);
  for (std::size_t i = 1; i < quiet.size(); ++i) {
    const Truth truth = testing::truth_between(requests_, quiet[i - 1], quiet[i]);
    // Steps are booked by their end: the one that holds a page ends at the next whole second.
    const Truth ours = counted(std::ceil(quiet[i - 1]), std::ceil(quiet[i]));
    EXPECT_EQ(ours.n, truth.n) << "between " << quiet[i - 1] << " and " << quiet[i];
    EXPECT_EQ(ours.k, truth.k) << "between " << quiet[i - 1] << " and " << quiet[i];
  }
}

INSTANTIATE_TEST_SUITE_P(OfRealGateways, Recordings,
                         ::testing::Values(Recording{"1.81.9"}, Recording{"1.86.7"},
                                           Recording{"1.99.4"},
                                           Recording{"1.106.12", true, "other"},
                                           Recording{"1.81.9-two-workers", false, "nosuch", false},
                                           Recording{"1.99.4-two-workers"}),
                         [](const auto& recording) {
                           std::string name = "v" + recording.param.version;
                           std::ranges::replace_if(
                               name, [](char c) { return !std::isalnum(c); }, '_');
                           return name;
                         });

}  // namespace
}  // namespace outcomed
