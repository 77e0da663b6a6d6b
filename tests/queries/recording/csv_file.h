// A CSV recording of one test.
#pragma once

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "queries/recording/csv_recording.h"
#include "tests/queries/recording/recording_files.h"

namespace outcomed::testing {

inline constexpr Coverage kSeen = Coverage::complete;
inline constexpr Coverage kMissing = Coverage::missing;

inline SignalPlan plan_named(std::string name, std::vector<std::string> labels = {"model"},
                             std::vector<std::string> failure_labels = {"error_class"},
                             Duration step = 1min) {
  SignalPlan plan;
  plan.name = std::move(name);
  plan.step = step;
  plan.labels = std::move(labels);
  plan.failure_labels = std::move(failure_labels);
  return plan;
}

class CsvFile {
 public:
  explicit CsvFile(std::string_view text, std::vector<SignalPlan> plans = {plan_named("requests")})
      : recording_(save(text), std::move(plans)) {}

  Fetch fetch(TimeRange range) {
    auto fetched = recording_.fetch(range);
    EXPECT_TRUE(fetched) << fetched.error().message;
    return fetched ? *std::move(fetched) : Fetch{};
  }
  std::string error() {
    const auto fetched = recording_.fetch({from_unix_ms(0), from_unix_ms(60'000)});
    if (fetched) return "no error";
    EXPECT_EQ(fetched.error().kind, ErrorKind::invalid);
    // Without the folder's name.
    std::string text = fetched.error().message;
    const std::string path = folder_.path() + "/";
    for (auto at = text.find(path); at != std::string::npos; at = text.find(path)) {
      text.erase(at, path.size());
    }
    return text;
  }
  CsvRecording& recording() { return recording_; }

 private:
  std::string save(std::string_view text) {
    write_file(folder_ / "r.csv", text);
    return folder_ / "r.csv";
  }

  RecordingFolder folder_;
  CsvRecording recording_;
};

inline TimeRange minutes(std::int64_t from, std::int64_t to) {
  return {from_unix_ms(from * 60'000), from_unix_ms(to * 60'000)};
}

}  // namespace outcomed::testing
