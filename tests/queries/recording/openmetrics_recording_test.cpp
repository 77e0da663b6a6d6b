#include "queries/recording/openmetrics_recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/queries/recording/recording_files.h"

namespace outcomed {
namespace {

using testing::cell_value;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::total;
using testing::write_file;

TimeRange minutes(std::int64_t from, std::int64_t to) {
  return {from_unix_ms(from * 60'000), from_unix_ms(to * 60'000)};
}

class OmFile {
 public:
  explicit OmFile(std::string_view text, bool gzip = false)
      : recording_(save(text, gzip), {testing::counter_plan()}) {}
  OpenMetricsRecording& recording() { return recording_; }
  std::string error() {
    const auto span = recording_.span();
    return span ? "no error" : span.error().message;
  }
  Fetch fetch(TimeRange range) {
    auto fetched = recording_.fetch(range);
    EXPECT_TRUE(fetched) << fetched.error().message;
    return fetched ? *std::move(fetched) : Fetch{};
  }

 private:
  std::string save(std::string_view text, bool gzip) {
    const std::string path = folder_ / (gzip ? "r.om.gz" : "r.om");
    gzip ? testing::write_gzip(path, text) : write_file(path, text);
    return path;
  }

  testing::RecordingFolder folder_;
  OpenMetricsRecording recording_;
};

constexpr std::string_view kText =
    "# TYPE asks counter\n"
    "asks_total{instance=\"i\",job=\"j\",model=\"a\"} 100 60\n"
    "asks_total{instance=\"i\",job=\"j\",model=\"a\"} 130 90.5\n"
    "asks_total{instance=\"i\",job=\"j\",model=\"a\"} 140 120\n"
    "asks_total{instance=\"i\",job=\"j\",model=\"a\"} 5 150\n"
    "# TYPE fails counter\n"
    "fails_total{instance=\"i\",job=\"j\",model=\"a\",why=\"x\"} 1 90.5 # {trace=\"t\"} 1\n"
    "fails_total{instance=\"i\",job=\"j\",model=\"a\",why=\"x\"} 2 120\n"
    "# TYPE process_start_time_seconds gauge\n"
    "process_start_time_seconds{instance=\"i\",job=\"j\"} 1 60\n"
    "process_start_time_seconds{instance=\"i\",job=\"j\"} 1 90.5\n"
    "process_start_time_seconds{instance=\"i\",job=\"j\"} 1 120\n"
    "process_start_time_seconds{instance=\"i\",job=\"j\"} 140 150\n"
    "unrelated 1 9999\n"
    "# EOF\n";

TEST(OpenMetricsRecording, CountsBirthsRisesAndResets) {
  OmFile file(kText);
  EXPECT_EQ(*file.recording().span(), minutes(1, 3));
  const Fetch fetched = file.fetch(minutes(1, 3));
  const SignalBatch& batch = fetched.batches[0];
  EXPECT_EQ(cell_value(file.recording(), batch, 0, {{"model", "a"}}, 0, batch.n), 40);
  EXPECT_EQ(cell_value(file.recording(), batch, 0, {{"model", "a"}}, 1, batch.n), 5);
  EXPECT_EQ(total(batch.k), 2);
  EXPECT_THAT(fetched.problems, IsEmpty());
}

TEST(OpenMetricsRecording, CountsTheSameStepByStepAndAgainFromTheFront) {
  OmFile file(kText, true);
  for (int round = 0; round < 2; ++round) {
    OmFile fresh(kText, true);
    const std::int64_t n = total(fresh.fetch(minutes(1, 2)).batches[0].n) +
                           total(fresh.fetch(minutes(2, 3)).batches[0].n);
    EXPECT_EQ(n, 45);
  }
}

TEST(OpenMetricsRecording, SortsSamplesThatStandOutOfOrder) {
  OmFile file(
      "asks_total{model=\"a\"} 30 180\nasks_total{model=\"a\"} 10 60\nasks_total{model=\"a\"} 20 "
      "120\n"
      "# EOF\n");
  const Fetch fetched = file.fetch(minutes(1, 3));
  EXPECT_EQ(total(fetched.batches[0].n), 20);
  ASSERT_EQ(fetched.problems.size(), 1u);
  EXPECT_EQ(fetched.problems[0].what, "unsorted_samples");
}

TEST(OpenMetricsRecording, ReadsFamiliesThatAlternate) {
  std::string text;
  for (int i = 1; i <= 5; ++i) {
    const std::string at = std::to_string(60 * i);
    text += "asks_total{model=\"a\"} " + std::to_string(10 * i) + " " + at + "\n";
    text += "asks_total{model=\"b\"} " + std::to_string(7 * i) + " " + at + "\n";
  }
  OmFile file(text + "# EOF\n");
  EXPECT_EQ(total(file.fetch(minutes(1, 5)).batches[0].n), 40 + 28);
}

TEST(OpenMetricsRecording, RefusesWhatIsNoRecording) {
  EXPECT_THAT(OmFile("asks_total 1\n# EOF\n").error(), HasSubstr("r.om: line 1: has no timestamp"));
  EXPECT_THAT(OmFile("asks_total 1 60\n").error(), HasSubstr("\"# EOF\""));
  EXPECT_THAT(OmFile("").error(), HasSubstr("\"# EOF\""));
  EXPECT_THAT(OmFile("other 1 60\n# EOF\n").error(), HasSubstr("none of its 2 lines belongs"));
  EXPECT_THAT(OmFile("asks_total{ 1 60\n# EOF\n").error(), HasSubstr("r.om: line 1: "));
  OpenMetricsRecording missing("/nonexistent/r.om", {testing::counter_plan()});
  const auto fetched = missing.fetch(minutes(0, 1));
  ASSERT_FALSE(fetched);
  EXPECT_THAT(fetched.error().message, HasSubstr("/nonexistent/r.om: can't open"));
}

TEST(OpenMetricsRecording, GoesOnAfterARestartOfTheProgram) {
  OmFile file(kText);
  std::int64_t n = total(file.fetch(minutes(1, 2)).batches[0].n);
  Writer writer;
  file.recording().save(writer);
  OmFile again(kText);
  Reader reader(writer.bytes());
  ASSERT_TRUE(again.recording().load(reader));
  n += total(again.fetch(minutes(2, 3)).batches[0].n);
  EXPECT_EQ(n, 45);
}

}  // namespace
}  // namespace outcomed
